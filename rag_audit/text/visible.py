"""The only door through which untrusted text reaches a terminal, a page or a message.

Control characters, bidirectional controls and invisible characters become visible forms, so that a document can
neither steer the terminal nor hide or reorder what a reviewer reads.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

_TAB = "    "
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f"
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters, invisible fillers, line separators, bidirectional controls, tags: Unicode's default ignorables."""
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_MARKS_ON_ONE = 8
"""Combining marks that one character may carry; more of them paint over the neighbouring lines."""

_SPECIAL = re.compile(
    rf"\r\n?|[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff{_HIDDEN}{_JOINERS}{_SELECTORS}]"
    rf"|(?<=[{_MARKS}]{{{_MARKS_ON_ONE}}})[{_MARKS}]"
)
_PLAIN = re.compile(r"[\n\x20-\x7e]*\Z")
_EMOJI_BASE = frozenset("0123456789#*©®")


def _code_point(code: int) -> str:
    return f"‹U+{code:04X}›"


def _form(match: re.Match[str]) -> str:
    """The visible form of one special character (or of a line end)."""
    character = match.group()
    if character[0] == "\r":
        return "\n"
    if character == "\t":
        return _TAB
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character in _JOINERS and _joins(match.string, match.start()):
        return character
    if 0xFE00 <= code <= 0xFE0F and _selects(match.string, match.start()):
        return character
    return _code_point(code)


def _joins(text: str, at: int) -> bool:
    """A joiner between two characters that can be joined shapes them; anywhere else it only hides."""
    return 0 < at < len(text) - 1 and _shapes(text[at - 1]) and _shapes(text[at + 1])


def _shapes(character: str) -> bool:
    if "\ufe00" <= character <= "\ufe0f":
        return True
    return character > "\u00ff" and _SPECIAL.match(character) is None


def _selects(text: str, at: int) -> bool:
    """A variation selector after a character that has variants picks one; anywhere else it only hides."""
    before = text[at - 1] if at else ""
    return bool(before) and (before in _EMOJI_BASE or (before > "\u00ff" and _SPECIAL.match(before) is None))


def visible(text: str) -> str:
    """Return the text with every control, bidirectional and invisible character shown as a visible form.

    Line ends become `\\n`, tabs four spaces; joiners and variation selectors stay only where they shape a character.
    """
    return text if _PLAIN.match(text) else _SPECIAL.sub(_form, text)


def visible_line(text: str) -> str:
    """Return the text as one line: as `visible`, with line ends shown as `⏎`."""
    return visible(text).replace("\n", "⏎")


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A text as shown, with the way from offsets in the raw text to offsets in what is shown."""

    raw: str
    shown: str
    _raw_at: tuple[int, ...]
    """Raw offsets where a change of length starts, ascending."""
    _shift: tuple[int, ...]
    """How much longer the shown text is than the raw one after each of them."""

    def offset(self, raw_offset: int) -> int:
        """The place in the shown text of a character of the raw text."""
        before = bisect_left(self._raw_at, raw_offset)
        return raw_offset + (self._shift[before - 1] if before else 0)


def visible_text(text: str) -> VisibleText:
    """Make a text visible and keep the offsets, so that a span of the raw text can be highlighted exactly."""
    if _PLAIN.match(text):
        return VisibleText(text, text, (), ())
    raw_at: list[int] = []
    shifts: list[int] = []
    pieces: list[str] = []
    shift = end = 0
    for match in _SPECIAL.finditer(text):
        piece = _form(match)
        pieces += (text[end : match.start()], piece)
        end = match.end()
        grown = len(piece) - (end - match.start())
        if grown:
            shift += grown
            raw_at.append(match.start())
            shifts.append(shift)
    pieces.append(text[end:])
    return VisibleText(text, "".join(pieces), tuple(raw_at), tuple(shifts))
