"""From untrusted text to what Textual paints: visible first, styled by construction, never parsed as markup."""

from collections.abc import Iterable

from textual.content import Content

from rag_audit.text.visible import visible, visible_line
from rag_audit.tui.theme import TONES, Sign

Piece = tuple[str, str]
"""A text (raw, untrusted) with the tone that it is painted in."""


def shown(text: str, tone: str = "plain") -> Content:
    """Untrusted text, possibly of several lines."""
    return Content.styled(visible(text), TONES[tone])


def shown_line(text: str, tone: str = "plain") -> Content:
    """Untrusted text on one line."""
    return Content.styled(visible_line(text), TONES[tone])


def pieces(parts: Iterable[Piece]) -> Content:
    """Several texts in their tones, one after the other."""
    return Content.assemble(*(shown(text, tone) for text, tone in parts))


def sign(status: Sign) -> Piece:
    """Glyph and word of a status in its tone."""
    return status.text, status.tone
