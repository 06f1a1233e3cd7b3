"""A text as units that can each support or contradict a claim: a sentence with what it leans on.

A sentence inside a list item leans on the name that leads the item, an item on the sentence that introduces the list, a
table row on its header, a code line on its comments and the keys it is nested in, everything on its heading.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from rag_audit.judging.lexical.phrases import KEPT_WORDS, NEGATION, canonical, with_phrases
from rag_audit.judging.lexical.quantities import NUMBER_WORDS
from rag_audit.text.identifiers import find_identifiers
from rag_audit.text.sentences import Sentence, split_sentences
from rag_audit.text.words import STOP_WORDS, words

_LEAD = re.compile(r"[-*+•>\d.)\s]*(?:\*\*)?`([^`\n]+)`(?:\*\*)?\s*(?:[-–—:]|\()|[-*+•>\s]*\*\*([^*\n]+)\*\*\s*[-–—:]")
_KEY = re.compile(r"\s*(?:- )?[\"']?([\w.$-]+)[\"']?\s*(?::(?=\s|$)|=)")
_COMMENT = re.compile(r"\s*(?:#|//|--|;)\s")
_FAR_FROM_HEADING = 4_000
"""Characters below a heading up to which a sentence still leans on it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One or two sentences that say one thing; characters [start, end) of the text."""

    text: str
    start: int
    end: int
    leaning: str = ""
    """What the sentence leans on: lead, introduction, header, comments, parent keys, heading."""
    lead: str = ""
    """The name that a list item, a code line or a table row is about; empty for prose."""
    heading: str = ""
    kind: str = "prose"
    header: tuple[str, ...] = ()
    """For a table row, the header's cells."""
    block: int = 0
    """Sentences of one paragraph or item have the same number."""

    @property
    def whole(self) -> str:
        """The unit with everything it leans on."""
        return f"{self.leaning}\n{self.text}" if self.leaning else self.text


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """The canonical content words of a text: phrases replaced, stemmed, synonyms merged; no numbers, no negations."""
    return frozenset(
        canonical(word)
        for word in words(with_phrases(text))
        if len(word) > 1
        and not word[0].isdigit()
        and (word not in STOP_WORDS or word in KEPT_WORDS)
        and (word not in NUMBER_WORDS or word in KEPT_WORDS)
        and not NEGATION.fullmatch(word)
    )


def names_in(text: str) -> tuple[str, ...]:
    """The identifiers of a text that are names, not numbers, versions or bare acronyms; each once, in their order."""
    return tuple(
        dict.fromkeys(found.text for found in find_identifiers(text) if found.kind not in ("number", "version", "code"))
    )


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a table row."""
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))


@lru_cache(maxsize=512)
def units_of(text: str) -> tuple[Unit, ...]:
    """Every sentence with what it leans on, then every two neighbours that belong together."""
    reading = _Reading(text)
    single = [unit for sentence in split_sentences(text) if (unit := reading.read(sentence))]
    return (*single, *_pairs(text, single))


@dataclass(slots=True)
class _Reading:
    """Goes through the sentences of a text and keeps what the next one may lean on."""

    text: str
    heading: str = ""
    heading_end: int = 0
    intro: str = ""
    lead: str = ""
    lead_text: str = ""
    header: str = ""
    comments: list[str] = field(default_factory=list)
    keys: list[tuple[int, str]] = field(default_factory=list)
    """Indentation and name of each key the next code line may be nested in."""
    block: int = 0
    previous_end: int = 0

    def read(self, sentence: Sentence) -> Unit | None:
        """The sentence as a unit; None for headings, table headers and comments, which others lean on."""
        new_line = self.previous_end == 0 or "\n" in self.text[self.previous_end : sentence.start]
        self.previous_end = sentence.end
        self.block += new_line or sentence.kind in ("row", "code")
        if sentence.kind == "header":
            self.header = sentence.text
            return None
        if sentence.kind == "heading":
            self.heading, self.heading_end = sentence.text.lstrip("#> \t"), sentence.end
            self.intro = self.lead = self.lead_text = self.header = ""
            return None
        if sentence.kind != "row":
            self.header = ""
        if sentence.kind != "code":
            self.comments, self.keys = [], []
        if sentence.kind == "row":
            return self._row(sentence)
        if sentence.kind == "code":
            return self._code_line(sentence)
        return self._prose(sentence, new_line)

    def _row(self, sentence: Sentence) -> Unit:
        lead = cells_of(sentence.text)[0].strip("`")
        return self._unit(sentence, [self.header, self.intro], lead, cells_of(self.header) if self.header else ())

    def _code_line(self, sentence: Sentence) -> Unit | None:
        if _COMMENT.match(sentence.text):
            self.comments.append(sentence.text)
            return None
        indent = sentence.start - self.text.rfind("\n", 0, sentence.start)
        self.keys = [(depth, name) for depth, name in self.keys if depth < indent]
        leaning = [*(name for _, name in self.keys), *self.comments, self.intro]
        self.comments = []
        key = _KEY.match(sentence.text)
        if key:
            self.keys.append((indent, key[1]))
        return self._unit(sentence, leaning, key[1] if key else "")

    def _prose(self, sentence: Sentence, new_line: bool) -> Unit:
        own = _LEAD.match(sentence.text) if new_line else None
        if new_line:
            self.lead, self.lead_text = ((own[1] or own[2]), own[0].strip()) if own else ("", "")
        leaning = ["" if own else self.lead_text, self.intro if sentence.kind == "item" else ""]
        unit = self._unit(sentence, leaning, self.lead)
        if sentence.text.rstrip("*_ ").endswith(":"):
            self.intro = sentence.text
        elif sentence.kind == "prose":
            self.intro = ""
        return unit

    def _unit(self, sentence: Sentence, leaning: Sequence[str], lead: str, header: tuple[str, ...] = ()) -> Unit:
        near = self.heading if sentence.start - self.heading_end < _FAR_FROM_HEADING else ""
        return Unit(
            text=sentence.text,
            start=sentence.start,
            end=sentence.end,
            leaning="\n".join(part for part in (*leaning, near) if part),
            lead=lead,
            heading=self.heading,
            kind=sentence.kind,
            header=header,
            block=self.block,
        )


def _pairs(text: str, single: Sequence[Unit]) -> Iterable[Unit]:
    """Two neighbours as one unit: prose under one heading, lines of code, an introduction with its first line."""
    for first, second in pairwise(single):
        prose = first.kind == second.kind == "prose" and first.heading == second.heading
        code = first.kind == second.kind == "code" and not text[first.end : second.start].strip()
        example = second.kind == "code" and first.text.rstrip("*_ ").endswith(":")
        if first.block == second.block or prose or code or example:
            yield Unit(
                text=text[first.start : second.end],
                start=first.start,
                end=second.end,
                leaning=first.leaning,
                lead=first.lead,
                heading=first.heading,
                kind=first.kind,
                block=first.block,
            )
