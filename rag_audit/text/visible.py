"""The only door through which untrusted text reaches a terminal, a page or a message.

Control characters, bidirectional controls and invisible characters become visible forms, so that a document can
neither steer the terminal nor hide or reorder what a reviewer reads.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_INVISIBLE = (0x200B, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0xFEFF, 0x180E, 0x00AD, 0x034F, 0x115F, 0x1160, 0x3164)
_SEPARATORS = (0x2028, 0x2029, 0x85)
_TAG_CHARACTERS = range(0xE0000, 0xE0080)
_SURROGATES = range(0xD800, 0xE000)
_TAB = "    "


def _code_point(code: int) -> str:
    return f"‹U+{code:04X}›"


_VISIBLE: Mapping[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n"},
    ord("\t"): _TAB,
    0x7F: "␡",
    **{code: _code_point(code) for code in range(0x80, 0xA0)},
    **{code: _code_point(code) for code in (*_BIDI, *_INVISIBLE, *_SEPARATORS, *_TAG_CHARACTERS)},
    **{code: _code_point(code) for code in _SURROGATES},
}
_ZERO_WIDTH_JOINERS = frozenset("\u200c\u200d")


def visible(text: str) -> str:
    """Return the text with every control, bidirectional and invisible character shown as a visible form.

    Line ends become `\\n`, tabs four spaces; joiners stay only between characters that they join (scripts, emoji).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = text.translate(_VISIBLE)
    if "\u200c" in shown or "\u200d" in shown:
        shown = "".join(_join_or_show(shown, at) for at in range(len(shown)))
    return shown


def visible_line(text: str) -> str:
    """Return the text as one line: as `visible`, with line ends shown as `⏎`."""
    return visible(text).replace("\n", "⏎")


def _join_or_show(text: str, at: int) -> str:
    """A joiner between two non-ASCII characters shapes them; anywhere else it only hides."""
    character = text[at]
    if character not in _ZERO_WIDTH_JOINERS:
        return character
    joins = 0 < at < len(text) - 1 and text[at - 1] > "\u00ff" and text[at + 1] > "\u00ff"
    return character if joins else _code_point(ord(character))


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A text as shown, with the way from offsets in the raw text to offsets in what is shown."""

    raw: str
    shown: str
    _raw_at: tuple[int, ...]
    """Raw offsets where a changed character sits, ascending."""
    _shift: tuple[int, ...]
    """How much longer the shown text is than the raw one after each of them."""

    def offset(self, raw_offset: int) -> int:
        """The place in the shown text of a character of the raw text."""
        before = bisect_left(self._raw_at, raw_offset)
        return raw_offset + (self._shift[before - 1] if before else 0)


def visible_text(text: str) -> VisibleText:
    """Make a text visible and keep the offsets, so that a span of the raw text can be highlighted exactly."""
    raw_at: list[int] = []
    shifts: list[int] = []
    pieces: list[str] = []
    shift = 0
    for at, character in enumerate(text):
        if character == "\r":
            piece = "" if text[at + 1 : at + 2] == "\n" else "\n"
        elif character in _ZERO_WIDTH_JOINERS:
            piece = _join_or_show(text, at)
        else:
            piece = _VISIBLE.get(ord(character), character)
        pieces.append(piece)
        if len(piece) != 1:
            shift += len(piece) - 1
            raw_at.append(at)
            shifts.append(shift)
    return VisibleText(text, "".join(pieces), tuple(raw_at), tuple(shifts))
