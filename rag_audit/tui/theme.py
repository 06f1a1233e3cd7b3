"""Colours, tones and signs: every status is a glyph and a word first, a colour last."""

from collections.abc import Mapping
from typing import NamedTuple

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter, NoColor
from textual.theme import Theme

TONES: Mapping[str, str] = {
    "plain": "",
    "strong": "bold",
    "quiet": "$quiet",
    "title": "bold $info",
    "info": "$info",
    "good": "$good",
    "bad": "$bad",
    "warn": "$warn",
    "evidence": "bold reverse $evidence",
    "identifier": "underline $identifier",
    "only": "italic $warn",
    "removed": "strike $bad",
    "added": "underline $good",
    "found": "reverse $info",
    "current": "bold underline reverse",
    "tab": "bold reverse",
}
"""Tone to style: what the screens say in text is said again by these, with text styles that survive NO_COLOR."""


class Sign(NamedTuple):
    """A status as it is painted: glyph and word (`text`), and the tone."""

    glyph: str
    word: str
    tone: str

    @property
    def text(self) -> str:
        """Glyph and word."""
        return f"{self.glyph} {self.word}"


VERDICTS: Mapping[str, Sign] = {
    "verified": Sign("✓", "verified", "good"),
    "contradicted": Sign("✗", "contradicted", "bad"),
    "absent": Sign("○", "absent", "warn"),
    "unparsed": Sign("?", "unparsed", "quiet"),
    "skip": Sign("~", "cannot judge", "quiet"),
    "disputed": Sign("≠", "disputed", "warn"),
}
STATUSES: Mapping[str, Sign] = {
    "complete": Sign("●", "complete", "good"),
    "incomplete": Sign("◐", "incomplete", "warn"),
    "interrupted": Sign("◌", "interrupted", "warn"),
    "running": Sign("►", "running", "info"),
}
CHANGES: Mapping[str, Sign] = {
    "improved": Sign("▲", "improved", "good"),
    "regressed": Sign("▼", "regressed", "bad"),
    "unchanged": Sign("=", "unchanged", "quiet"),
    "inconclusive": Sign("≈", "inconclusive", "quiet"),
    "not_comparable": Sign("⊘", "not comparable", "warn"),
    "changed": Sign("↕", "changed", "info"),
    "mixed": Sign("↕", "mixed", "warn"),
    "edited": Sign("*", "edited", "warn"),
    "unscored": Sign("?", "unscored", "warn"),
    "added": Sign("+", "added", "info"),
    "removed": Sign("-", "removed", "info"),
}

_DARK = {
    "quiet": "#9aa5b1",
    "info": "#7cc4ff",
    "good": "#7fd491",
    "bad": "#ff8f8f",
    "warn": "#f2c46d",
    "evidence": "#f2c46d",
    "identifier": "#8fd6e8",
    "cursor": "#2c4a6b",
    "on-cursor": "#ffffff",
    "rule": "#4a5663",
}
_LIGHT = {
    "quiet": "#5b6570",
    "info": "#0b5394",
    "good": "#1b6b2f",
    "bad": "#a31621",
    "warn": "#7a4f00",
    "evidence": "#7a4f00",
    "identifier": "#005f73",
    "cursor": "#cfe3f8",
    "on-cursor": "#101418",
    "rule": "#a8b2bc",
}
_CONTRAST = {
    "quiet": "#d0d0d0",
    "info": "#7fdfff",
    "good": "#5fff87",
    "bad": "#ff8787",
    "warn": "#ffd75f",
    "evidence": "#ffff00",
    "identifier": "#87ffff",
    "cursor": "#ffffff",
    "on-cursor": "#000000",
    "rule": "#ffffff",
}

THEMES: tuple[Theme, ...] = (
    Theme(
        name="dark",
        primary="#7cc4ff",
        secondary="#8fd6e8",
        warning=_DARK["warn"],
        error=_DARK["bad"],
        success=_DARK["good"],
        accent="#f2c46d",
        foreground="#e3e8ed",
        background="#14181d",
        surface="#1b2127",
        panel="#232b33",
        variables=_DARK,
    ),
    Theme(
        name="light",
        primary="#0b5394",
        secondary="#005f73",
        warning=_LIGHT["warn"],
        error=_LIGHT["bad"],
        success=_LIGHT["good"],
        accent="#7a4f00",
        foreground="#1a1f24",
        background="#fafbfc",
        surface="#f1f4f6",
        panel="#e6ebef",
        dark=False,
        variables=_LIGHT,
    ),
    Theme(
        name="contrast",
        primary="#ffffff",
        secondary="#87ffff",
        warning=_CONTRAST["warn"],
        error=_CONTRAST["bad"],
        success=_CONTRAST["good"],
        accent="#ffff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1c1c1c",
        variables=_CONTRAST,
    ),
)

_ASCII = str.maketrans(
    {
        **dict(zip("✓✗○●◐◌►◄▲▼≈≠⊘↕↑↓→←·–—…›‹│┃▌█▐", "+xoo*.><^v~!/|^v><.--.><||||#|", strict=False)),
        **dict.fromkeys("─━═", "-"),
        **dict(zip("▁▂▃▄▅▆▇", "_.,-=+*", strict=True)),
        **dict.fromkeys("⏎␛", "$"),
        **dict.fromkeys("“”", '"'),
        "’": "'",
    }
)


class AsciiGlyphs(LineFilter):
    """Paint our glyphs with ASCII look-alikes of the same width, for terminals without them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Translate the text of every segment."""
        return [Segment(text.translate(_ASCII), style, control) for text, style, control in segments]


NO_COLOUR: LineFilter = NoColor()
"""Takes every colour away and leaves bold, underline, strike and reverse: what NO_COLOR asks for."""
