"""One line of numbered tabs; a number, a click or tab chooses one."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.bars import widths
from rag_audit.tui.widgets.toned import Toned


class TabLine(Toned):
    """The tabs of a screen; names shorten to numbers where there is no room, the active one keeps its name."""

    DEFAULT_CSS = "TabLine { height: 1; }"

    @dataclass
    class Chosen(Message):
        """Another tab was chosen."""

        index: int

    def __init__(self, names: Sequence[str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = tuple(names)
        self.active = 0
        self._edges: list[tuple[int, int]] = []

    def rename(self, names: Sequence[str]) -> None:
        """Give the tabs other names, such as ones with counts."""
        self.names = tuple(names)
        self.refresh()

    def choose(self, index: int) -> None:
        """Make a tab the active one."""
        if 0 <= index < len(self.names) and index != self.active:
            self.active = index
            self.refresh()
            self.post_message(self.Chosen(index))

    def step(self, by: int) -> None:
        """Go on by so many tabs, round the ends."""
        if self.names:
            self.choose((self.active + by) % len(self.names))

    def _pieces(self, *, names: bool) -> list[list[Piece]]:
        tabs: list[list[Piece]] = []
        for at, name in enumerate(self.names):
            if at == self.active:
                tabs.append([(f" {at + 1} {name} ", "tab")])
            else:
                tabs.append([(f" {at + 1} ", "info"), (f"{name} " if names else "", "quiet")])
        return tabs

    def render_line(self, y: int) -> Strip:
        """Paint the tabs."""
        tabs = self._pieces(names=True)
        if sum(widths(tab) for tab in tabs) > self.size.width:
            tabs = self._pieces(names=False)
        self._edges = []
        start = 0
        for tab in tabs:
            self._edges.append((start, start + widths(tab)))
            start += widths(tab)
        return self.line_strip(tuple(piece for tab in tabs for piece in tab), self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """A click chooses a tab."""
        for at, (start, end) in enumerate(self._edges):
            if start <= event.x < end:
                self.choose(at)
