"""Cutting a document into chunks: verbatim slices that begin and end where the text itself does, as far as it can.

Every place where a text may be cut has a strength: a heading is stronger than a paragraph, a paragraph than a line or
table row, that than a sentence, a sentence than a word. A chunk ends at the strongest place beyond its first third.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_audit.model import Chunk, Document
from rag_audit.model.settings import Settings
from rag_audit.text.headings import Heading, front_matter_end, lines_of, outline

_HEADING, _PARAGRAPH, _LINE, _CODE_LINE, _SENTENCE, _WORD = 10, 4, 3, 2, 1, 0
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=\S)|[。！？]")
_WORD_END = re.compile(r"\s+(?=\S)")
_TOKEN = re.compile(r"[^\W_]{1,6}|_+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Chunking:
    """How to cut: longest chunk and overlap, counted in characters or tokens."""

    size: int
    overlap: int
    unit: str = "chars"
    """chars, or tokens: a token is a run of up to 6 letters or digits, or one other visible character."""

    @classmethod
    def of(cls, settings: Settings, folder: str) -> "Chunking":
        """The chunking that the settings give for a folder below documents/."""
        return cls(
            settings.integer("chunking.size", folder),
            settings.integer("chunking.overlap", folder),
            settings.text("chunking.unit", folder),
        )


def chunk_document(document: Document, text: str, chunking: Chunking) -> Iterator[Chunk]:
    """Cut a document's text; a chunk never crosses from one file into another.

    `chunk.text == text[chunk.start : chunk.start + len(chunk.text)]` holds for every chunk.
    """
    for file in document.files:
        part = text[file.start : file.start + file.length]
        headings = outline(part, file.path)
        for start, end in cut_text(part, headings, chunking):
            yield Chunk(
                doc_id=document.doc_id,
                corpus=document.corpus,
                text=part[start:end],
                start=file.start + start,
                heading=_headings_above(headings, start),
            )


def cut_text(text: str, headings: Sequence[Heading], chunking: Chunking) -> Iterator[tuple[int, int]]:
    """The (start, end) of each chunk of one file, in order; white space between chunks is in none of them."""
    places, strengths = _cutting_places(text, headings)
    ruler = _Ruler(text, chunking.unit)
    start = _skip_blank_lines(text, 0)
    while start < len(text):
        limit = ruler.reach(start, chunking.size)
        if limit >= len(text):
            yield start, _without_trailing_space(text, start, len(text))
            return
        cut, strength = _best_cut(places, strengths, ruler.reach(start, chunking.size // 3), limit)
        if cut is None:
            cut, strength = _safe_cut(text, start, limit), _WORD
        yield start, _without_trailing_space(text, start, cut)
        following = _skip_blank_lines(text, cut)
        if strength < _HEADING and chunking.overlap:
            following = _overlapping_start(places, strengths, ruler.back(cut, chunking.overlap), start, following)
        start = following


def _best_cut(places: Sequence[int], strengths: Sequence[int], low: int, high: int) -> tuple[int | None, int]:
    """The strongest place in (low, high], the last of equals; None if there is none."""
    first, last = bisect_right(places, low), bisect_right(places, high)
    if first >= last:
        return None, _WORD
    at = max(range(first, last), key=lambda place: (strengths[place], place))
    return places[at], strengths[at]


def _overlapping_start(places: Sequence[int], strengths: Sequence[int], low: int, previous_start: int, cut: int) -> int:
    """The first sentence (else word) that starts within the overlap before a cut; the cut itself if none does."""
    first, last = bisect_left(places, max(low, previous_start + 1)), bisect_left(places, cut)
    sentences = [places[at] for at in range(first, last) if strengths[at] >= _SENTENCE]
    words = [places[at] for at in range(first, min(last, first + 1))]
    return next(iter((*sentences[:1], *words, cut)))


def _cutting_places(text: str, headings: Sequence[Heading]) -> tuple[list[int], list[int]]:
    """Every offset where the text may be cut, ascending, with its strength."""
    strength: dict[int, int] = {}
    for pattern, value in ((_WORD_END, _WORD), (_SENTENCE_END, _SENTENCE)):
        for found in pattern.finditer(text):
            strength[found.end()] = value
    fence: str | None = None
    after_blank = False
    for start, line in lines_of(text):
        opening = _FENCE.match(line)
        if line.strip():
            inside = fence is not None
            strength[start] = _CODE_LINE if inside else _PARAGRAPH if after_blank or opening else _LINE
        if opening and fence is None:
            fence = opening[1]
        elif opening and fence is not None and opening[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = None
        after_blank = not line.strip()
    body = front_matter_end(text)
    if body:
        strength[_skip_blank_lines(text, body)] = _HEADING
    for heading in headings:
        strength[heading.start] = _HEADING + 10 - heading.level
    for heading in headings:
        for place in range(heading.start + 1, _skip_blank_lines(text, heading.end) + 1):
            if strength.get(place, _HEADING) < _HEADING:
                del strength[place]
    places = sorted(place for place in strength if 0 < place < len(text) and not _joins(text, place))
    return places, [strength[place] for place in places]


class _Ruler:
    """Measures a text in characters or tokens."""

    def __init__(self, text: str, unit: str) -> None:
        self._length = len(text)
        self._token_starts = [found.start() for found in _TOKEN.finditer(text)] if unit == "tokens" else None

    def reach(self, start: int, size: int) -> int:
        """The last offset so that text[start:offset] measures at most `size`."""
        if self._token_starts is None:
            return min(start + size, self._length)
        at = bisect_left(self._token_starts, start) + size
        return self._token_starts[at] if at < len(self._token_starts) else self._length

    def back(self, end: int, size: int) -> int:
        """The first offset so that text[offset:end] measures at most `size`."""
        if self._token_starts is None:
            return max(end - size, 0)
        at = bisect_left(self._token_starts, end) - size
        return self._token_starts[at] if at >= 0 else 0


def _headings_above(headings: Sequence[Heading], start: int) -> tuple[str, ...]:
    """The headings that a place stands under, outermost first."""
    path: list[Heading] = []
    for heading in headings:
        if heading.start >= start:
            break
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
    own = next((heading for heading in headings if heading.start == start), None)
    return tuple(heading.title for heading in path if own is None or heading.level < own.level)


def _skip_blank_lines(text: str, start: int) -> int:
    """The start of the first line at or after `start` that is not blank (its indentation included)."""
    at = start
    while at < len(text) and text[at] in " \t\r\n\f\v\ufeff":
        at += 1
        if text[at - 1] in "\n\ufeff":
            start = at
    return start if at < len(text) else len(text)


def _without_trailing_space(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _safe_cut(text: str, start: int, limit: int) -> int:
    """The last offset up to `limit` (else the first after it) that tears no character apart."""
    for cut in range(limit, start, -1):
        if not _joins(text, cut):
            return cut
    return next((cut for cut in range(limit + 1, len(text)) if not _joins(text, cut)), len(text))


def _joins(text: str, place: int) -> bool:
    """Whether the characters on both sides of a place are one for a reader: accents, emoji, flags, line ends."""
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if before == "\u200d" or after in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        flags = re.search("[\U0001f1e6-\U0001f1ff]*\\Z", text[max(0, place - 64) : place])
        return flags is not None and len(flags[0]) % 2 == 1
    return unicodedata.category(after).startswith("M") or "\u1160" <= after <= "\u11ff"
