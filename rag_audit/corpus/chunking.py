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
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？]")
_WORD_START = re.compile(r"(?<=\s)\S")
_BLANKS = " \t\r\n\f\v\ufeff"
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
    end = len(text.rstrip(_BLANKS))
    cut_from = _skip_blanks(text, 0)
    start = _with_indentation(text, 0, cut_from)
    while cut_from < end:
        limit = ruler.reach(start, chunking.size)
        if limit >= end:
            yield start, end
            return
        cut, strength = _best_cut(places, strengths, max(ruler.reach(start, chunking.size // 3), cut_from), limit)
        if cut is None:
            cut, strength = _safe_cut(text, cut_from, limit), _WORD
        yield from _trimmed(text, start, cut)
        before = start
        cut_from = _skip_blanks(text, cut)
        start = _with_indentation(text, cut, cut_from)
        if strength < _HEADING and chunking.overlap:
            low = max(ruler.back(cut, chunking.overlap), before + 1)
            repeated = _overlapping_start(places, strengths, low, cut)
            if ruler.reach(repeated, chunking.size) > cut_from:
                start = repeated


def _best_cut(places: Sequence[int], strengths: Sequence[int], low: int, high: int) -> tuple[int | None, int]:
    """The strongest place in (low, high], the last of equals; None if there is none."""
    first, last = bisect_right(places, low), bisect_right(places, high)
    if first >= last:
        return None, _WORD
    at = max(range(first, last), key=lambda place: (strengths[place], place))
    return places[at], strengths[at]


def _overlapping_start(places: Sequence[int], strengths: Sequence[int], low: int, cut: int) -> int:
    """The first sentence (else word) that starts within the overlap before a cut; the cut itself if none does."""
    within = range(bisect_left(places, low), bisect_left(places, cut))
    return next((places[at] for at in within if strengths[at] >= _SENTENCE), places[within[0]] if within else cut)


def _cutting_places(text: str, headings: Sequence[Heading]) -> tuple[list[int], list[int]]:
    """Every offset where the text may be cut, ascending, with its strength."""
    strength = {found.start(): _WORD for found in _WORD_START.finditer(text)}
    strength |= {_skip_blanks(text, found.end()): _SENTENCE for found in _SENTENCE_END.finditer(text)}
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
        strength[_with_indentation(text, body, _skip_blanks(text, body))] = _HEADING
    for heading in headings:
        strength[heading.start] = _HEADING + 10 - heading.level
    for heading in headings:
        for place in range(heading.start + 1, _skip_blanks(text, heading.end) + 1):
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


def _skip_blanks(text: str, start: int) -> int:
    """The first character at or after a place that is not white space."""
    while start < len(text) and text[start] in _BLANKS:
        start += 1
    return start


def _with_indentation(text: str, low: int, start: int) -> int:
    """The start of the line before a place, if only white space lies between and the line starts after `low`."""
    return text.rfind("\n", low, start) + 1 or start


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The chunk without the white space at its end; nothing where that is all there is."""
    length = len(text[start:end].rstrip(_BLANKS))
    if length:
        yield start, start + length


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
        first = place
        while first > 0 and "\U0001f1e6" <= text[first - 1] <= "\U0001f1ff":
            first -= 1
        return (place - first) % 2 == 1
    return unicodedata.category(after).startswith("M") or "\u1160" <= after <= "\u11ff"
