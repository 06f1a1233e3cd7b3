"""Words that mean the same and words that exclude each other, from tables that can be read beside this module.

The tables are general English and German of technical documents; nothing in them is fitted to a data set.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from rag_audit.text.words import stem

KEPT_WORDS = frozenset(
    {"before", "after", "between", "during", "within", "outside", "only", "always", "never", "all", "none", "alone"}
    | {"must", "vor", "nach", "stop", "end", "single", "several", "many"}
)
"""Stop words of search that carry meaning in a claim."""

NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|nothing|lack of|absence of"
    r"|nicht|nie|niemals|keine?[nmrs]?|ohne|weder)\b|n['’]t\b",
    re.IGNORECASE,
)


def with_phrases(text: str) -> str:
    """The text with every phrase of the table replaced by its canonical words."""
    for pattern, words in _phrases():
        text = pattern.sub(words, text)
    return text


def canonical(word: str) -> str:
    """The stem that stands for a word and its synonyms; its own stem where it has none."""
    return canonical_stem(stem(word))


def canonical_stem(word_stem: str) -> str:
    """As `canonical`, for a word that is stemmed already."""
    return _synonyms().get(word_stem, word_stem)


@lru_cache
def opposites() -> Mapping[str, frozenset[str]]:
    """Canonical stem to those that exclude it."""
    table: dict[str, set[str]] = {}
    for line in _lines("opposites.txt"):
        one, other = (canonical(word) for word in line.split())
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(against) for word, against in table.items()}


def _lines(name: str) -> list[str]:
    text = files("rag_audit.judging.lexical").joinpath(name).read_text("utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


@lru_cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Each canonical wording with all its patterns as one, in the order of the table."""
    patterns: dict[str, list[str]] = {}
    for line in _lines("phrases.txt"):
        words, pattern = line.split(": ", maxsplit=1)
        patterns.setdefault(words, []).append(pattern)
    return tuple(
        (re.compile(rf"\b(?:{'|'.join(found)})", re.IGNORECASE), f" {words} ") for words, found in patterns.items()
    )


@lru_cache
def _synonyms() -> Mapping[str, str]:
    groups = [line.split() for line in _lines("synonyms.txt")]
    return {stem(word): stem(group[0]) for group in reversed(groups) for word in group}


TIME_WORDS = frozenset(
    canonical(word)
    for word in ("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "year")
)

DECISIVE = frozenset(
    canonical(word)
    for word in ("exclude", "disable", "optional", "invalid", "never", "manual", "automatic", "outside", "differ")
)
"""Words that turn a statement round: a text without them does not support a claim that has them."""
