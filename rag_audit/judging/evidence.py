"""Where a judge's quote really stands: code looks it up, the judge's word is not taken for it."""

import re
from collections.abc import Iterable

from rag_audit.model import Excerpt, Span, Support

_SAME = str.maketrans(
    {"‹": "<",
     "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-",
     "‑": "-", "−": "-", "\u00a0": " ", "\u202f": " "}
)  # fmt: skip
_TORN = re.compile(r"[0-9A-Za-z\u00c0-\u024f]{2}")
"""Two characters of one word or number, in a script that writes spaces between words."""
_MARKS = re.compile(r"[\s`*_\"'>|]+")


def locate_quote(quote: str, excerpt: Excerpt) -> tuple[Span, ...]:
    """Where the quote stands in each part of the excerpt; empty when nowhere.

    Exactly first; then with white space, quote marks, dashes and Markdown marks taken as equal. A quote with `...` in
    it is found piece by piece, all pieces in their order in one part.
    """
    spans: list[Span] = []
    for part in ("reference", "context"):
        text = excerpt.text(part)
        found = locate(quote, text)
        spans.extend(Span(part, low, high) for low, high in found)
    return tuple(spans)


def locate(quote: str, text: str) -> list[tuple[int, int]]:
    """The places of one quote (of each of its pieces around an ellipsis) in one text; empty unless all are there."""
    trimmed = quote.strip()
    if not trimmed:
        return []
    at = _find_whole(trimmed, text)
    if at >= 0:
        return [(at, at + len(trimmed))]
    plain, offsets = _plain(text)
    spans: list[tuple[int, int]] = []
    position = 0
    pieces = [piece for piece in re.split(r"\s*(?:\[?\.\.\.\]?|\[?…\]?)\s*", trimmed) if _plain(piece)[0].strip()]
    for piece in pieces:
        wanted = _plain(piece)[0].strip()
        at = _find_whole(wanted, plain, position)
        if at < 0:
            return []
        position = at + len(wanted)
        spans.append((offsets[at], offsets[position - 1] + 1))
    return spans


def _find_whole(wanted: str, text: str, position: int = 0) -> int:
    """Where the text first has this without tearing a word or number (`4 ms` is not in `14 ms`); -1 if nowhere."""
    at = text.find(wanted, position)
    while at >= 0:
        end = at + len(wanted)
        if not (_TORN.match(text[max(at - 1, 0) : at + 1]) or _TORN.match(text[end - 1 : end + 1])):
            return at
        at = text.find(wanted, at + 1)
    return -1


def _plain(text: str) -> tuple[str, list[int]]:
    """The text folded for comparison (case kept), with the offset of each of its characters in the original."""
    characters: list[str] = []
    offsets: list[int] = []
    position = 0
    same = text.translate(_SAME)
    for match in _MARKS.finditer(same):
        characters.append(same[position : match.start()])
        offsets.extend(range(position, match.start()))
        if characters and characters[-1] != " " and offsets:
            characters.append(" ")
            offsets.append(match.start())
        position = match.end()
    characters.append(same[position:])
    offsets.extend(range(position, len(same)))
    return "".join(characters), offsets


def support_of(spans: Iterable[Span]) -> Support:
    """Which parts of the excerpt hold the evidence."""
    parts = {span.part for span in spans}
    if parts == {"reference", "context"}:
        return Support.BOTH
    return Support(parts.pop()) if parts else Support.NONE
