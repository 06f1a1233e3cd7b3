"""An extractive generator: the sentences of the retrieved chunks that answer best, each with its citation.

It can say nothing that is not in a chunk, and says so when no sentence fits the question.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.judging.answers import NO_ANSWER
from rag_audit.judging.prompts import hash_of_files
from rag_audit.model import Generation, Question, RetrievedChunk
from rag_audit.text.sentences import split_sentences
from rag_audit.text.words import content_stems

_MOST_SENTENCES = 3
_LEAST_COVERAGE = 0.28
"""The best sentence must cover this share of what the question asks for, rare words counting more."""
_NEXT_COVERAGE = 0.6
"""A further sentence must score this share of the best one."""
_HEADING_WEIGHT = 0.5
_RANK_DISCOUNT = 0.04
_MARKERS = "-*+•>#| \t"
_TABLE_RULE = re.compile(r"[ \t]*\n[ \t>]*\|?[ \t]*:?-{2,}")
"""The line under the head of a table; a chunk that begins inside a table has none, and its first row is no head."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    rank: int
    position: int
    stems: frozenset[str]
    heading_stems: frozenset[str]


class OfflineGenerator:
    """Answers by quotation; deterministic, needs no key and costs nothing."""

    model = "offline"

    def __init__(self) -> None:
        self.prompt_hash = hash_of_files(
            "providers/offline/generator.py", "text/sentences.py", "text/words.py", "judging/answers.py"
        )

    async def generate(self, question: Question, retrieved: Sequence[RetrievedChunk]) -> Generation:
        """Quote the sentences that cover the question best, or say that none does."""
        return Generation(
            answer=extract_answer(question.question, retrieved),
            prompt=_prompt(question, retrieved),
            model=self.model,
            reported_model=self.model,
            stop_reason="end_turn",
            cost_usd=0.0,
        )

    def notes(self) -> tuple[str, ...]:
        """Nothing to report."""
        return ()

    async def aclose(self) -> None:
        """Nothing to release."""


def extract_answer(question: str, retrieved: Sequence[RetrievedChunk]) -> str:
    """The best sentences for a question in the order of their chunks, with citations [rank]; NO_ANSWER if none fits."""
    candidates = [candidate for item in retrieved for candidate in _candidates(item)]
    asked = content_stems(question)
    weight = _weights(asked, candidates)
    total = sum(weight.values())
    if not candidates or not total:
        return NO_ANSWER
    scores = [_score(candidate, weight) / total for candidate in candidates]
    order = sorted(range(len(candidates)), key=lambda at: (-scores[at], candidates[at].rank, candidates[at].position))
    best = scores[order[0]]
    if best < _LEAST_COVERAGE:
        return NO_ANSWER
    chosen: list[_Candidate] = []
    for at in order:
        if len(chosen) == _MOST_SENTENCES or scores[at] < max(best * _NEXT_COVERAGE, _LEAST_COVERAGE):
            break
        if all(candidates[at].stems != other.stems for other in chosen):
            chosen.append(candidates[at])
    chosen.sort(key=lambda candidate: (candidate.rank, candidate.position))
    return " ".join(f"{_ended(candidate.text)} [{candidate.rank}]" for candidate in chosen)


def _candidates(item: RetrievedChunk) -> list[_Candidate]:
    """Every sentence and table row as it stands in the chunk; headings and the head of a table help to find them."""
    heading_stems = content_stems(" ".join(item.chunk.heading))
    found: list[_Candidate] = []
    column_stems: frozenset[str] = frozenset()
    for position, sentence in enumerate(split_sentences(item.chunk.text)):
        if sentence.kind == "header":
            column_stems = content_stems(sentence.text)
            continue
        if sentence.kind != "row":
            column_stems = frozenset()
        text = " ".join(sentence.text.strip(_MARKERS).split())
        stems = content_stems(text)
        if stems and sentence.kind != "heading":
            found.append(_Candidate(text, item.rank, position, stems | column_stems, heading_stems))
    return found


def _weights(asked: frozenset[str], candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Weight of each word of the question: the rarer among the sentences, the more; a word nobody has counts most."""
    spread = Counter(stem for candidate in candidates for stem in (candidate.stems | candidate.heading_stems) & asked)
    return {stem: math.log(1 + (len(candidates) + 1) / (spread[stem] + 1)) for stem in sorted(asked)}


def _score(candidate: _Candidate, weight: dict[str, float]) -> float:
    own = sum(value for stem, value in weight.items() if stem in candidate.stems)
    above = sum(
        value for stem, value in weight.items() if stem in candidate.heading_stems and stem not in candidate.stems
    )
    return (own + _HEADING_WEIGHT * above) * (1 - _RANK_DISCOUNT * min(candidate.rank - 1, 10))


def _ended(text: str) -> str:
    return text if text[-1:] in ".!?…:;" else f"{text}."


def _prompt(question: Question, retrieved: Sequence[RetrievedChunk]) -> str:
    chunks = "\n\n".join(f"[{item.rank}] {item.chunk.text}" for item in retrieved)
    context = f"\n\n{question.context}" if question.context else ""
    return f"{question.question}{context}\n\n{chunks}"
