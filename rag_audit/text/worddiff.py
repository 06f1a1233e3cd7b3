"""What changed between two texts, word by word: spans of both sides, for any screen or page to paint."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

LONGEST_BY_WORD = 5_000
"""Tokens of the longer side up to which words are compared; longer texts are compared sentence by sentence."""

_MARKS = r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u200d]"
_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Scripts written without spaces: each character is a word."""
_TOKEN = re.compile(
    rf"\s+|{_UNSPACED}{_MARKS}*|(?:(?!{_UNSPACED})\w{_MARKS}*)+(?:[.,'’:/_-](?=\w)(?:(?!{_UNSPACED})\w{_MARKS}*)+)*|.{_MARKS}*",
    re.DOTALL,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？]+[\"'”’)\]]*\s*|\n+|$)")


class Change(NamedTuple):
    """A stretch of both texts: equal (both spans hold the same words), removed, added, or replaced."""

    kind: str
    """same | removed | added | replaced."""
    before: tuple[int, int]
    """Characters of the earlier text, possibly none."""
    after: tuple[int, int]
    """Characters of the later text, possibly none."""


def word_changes(before: str, after: str) -> list[Change]:
    """Compare two texts; the spans of all changes cover both texts in order.

    Words, numbers and names are units, so are the characters of scripts without spaces. White space alone is no
    difference. Swapping the texts mirrors removed and added.
    """
    left, right = _tokens(before), _tokens(after)
    if max(len(left), len(right)) > LONGEST_BY_WORD:
        left, right = _sentences(before), _sentences(after)
    keys = [[before[low:high] for low, high in left], [after[low:high] for low, high in right]]
    folded = [[" " if word.isspace() else word for word in side] for side in keys]
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    changes = [
        Change(_KINDS[tag], _span(left, a, b, len(before)), _span(right, c, d, len(after)))
        for tag, a, b, c, d in matcher.get_opcodes()
    ]
    return list(_without_islands(changes, before))


_KINDS = {"equal": "same", "delete": "removed", "insert": "added", "replace": "replaced"}


def _tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _TOKEN.finditer(text)]


def _sentences(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _SENTENCE.finditer(text) if match.end() > match.start()]


def _span(tokens: Sequence[tuple[int, int]], first: int, last: int, length: int) -> tuple[int, int]:
    """Characters that the tokens first..last cover; the place between two tokens where they cover none."""
    start = tokens[first][0] if first < len(tokens) else length
    return start, tokens[last - 1][1] if last > first else start


def _without_islands(changes: Sequence[Change], before: str) -> Iterator[Change]:
    """Join changes that only white space or punctuation keeps apart: one replaced phrase reads better than three."""
    pending: list[Change] = []
    for at, change in enumerate(changes):
        between = 0 < at < len(changes) - 1
        island = between and change.kind == "same" and not re.search(r"\w", before[slice(*change.before)])
        if change.kind == "same" and not island:
            yield from _joined(pending)
            pending = []
            yield change
        else:
            pending.append(change)
    yield from _joined(pending)


def _joined(pending: Sequence[Change]) -> Iterator[Change]:
    if not pending:
        return
    before = (pending[0].before[0], pending[-1].before[1])
    after = (pending[0].after[0], pending[-1].after[1])
    kind = "removed" if after[0] == after[1] else "added" if before[0] == before[1] else "replaced"
    yield Change(kind, before, after)
