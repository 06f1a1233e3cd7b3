"""What the line widgets share: rich styles of the tones, resolved once a theme."""

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from rag_audit.text.visible import visible_line
from rag_audit.text.width import fit, width
from rag_audit.tui.content import Piece
from rag_audit.tui.theme import TONES


class Toned(Widget):
    """A widget that paints in tones."""

    _tone_styles: dict[str, RichStyle] | None = None

    def tone(self, name: str) -> RichStyle:
        """The rich style of a tone under the theme at hand."""
        if self._tone_styles is None:
            self._tone_styles = {}
        style = self._tone_styles.get(name)
        if style is None:
            style = self.app.stylesheet.parse_style(TONES[name]).rich_style if TONES[name] else RichStyle()
            self._tone_styles[name] = style
        return style

    def notify_style_update(self) -> None:
        """Forget the resolved styles when the theme changes."""
        super().notify_style_update()
        self._tone_styles = None

    def line_strip(self, parts: tuple[Piece, ...], cells: int, base: RichStyle) -> Strip:
        """One line of texts in their tones, cut or padded to exactly so many cells."""
        segments: list[Segment] = []
        room = cells
        for text, tone in parts:
            if room <= 0:
                break
            shown = fit(visible_line(text), room)
            room -= width(shown)
            segments.append(Segment(shown, base + self.tone(tone)))
        return Strip(segments).adjust_cell_length(cells, base)


class TonedView(Toned, ScrollView, can_focus=True):
    """A scrolling line widget that paints in tones."""
