"""The line above a screen (where you are) and the line below it (what you can press)."""

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.strip import Strip

from rag_audit.text.visible import visible_line
from rag_audit.text.width import fit, width
from rag_audit.tui.actions import Action, actions_of, key_name
from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.toned import Toned


def widths(parts: Sequence[Piece]) -> int:
    """Cells that some pieces take on one line."""
    return sum(width(visible_line(text)) for text, _ in parts)


class TitleBar(Toned):
    """Where you are on the left, what matters of it on the right; the right side is never cut."""

    DEFAULT_CSS = "TitleBar { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.crumbs: tuple[str, ...] = ()
        self.facts: tuple[Piece, ...] = ()

    def tell(self, crumbs: Sequence[str], facts: Sequence[Piece] = ()) -> None:
        """Say where the screen is."""
        self.crumbs, self.facts = tuple(crumbs), tuple(facts)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Paint crumbs and facts."""
        cells, base = self.size.width, self.rich_style
        room = max(cells - widths(self.facts) - 2, 0)
        crumbs = [(" ", "plain")]
        for at, crumb in enumerate(self.crumbs):
            last = at == len(self.crumbs) - 1
            crumbs += [(" › ", "quiet")] if at else []
            crumbs.append((crumb, "strong" if last else "quiet"))
        left = self._shortened(crumbs, room)
        gap = (" " * max(cells - widths(left) - widths(self.facts) - 1, 1), "plain")
        return self.line_strip((*left, gap, *self.facts, (" ", "plain")), cells, base)

    def _shortened(self, crumbs: list[Piece], room: int) -> list[Piece]:
        """Drop crumbs from the left until the rest fits; the last one is cut if it must be."""
        while widths(crumbs) > room and len(crumbs) > 2:
            crumbs = [(" … ", "quiet"), *crumbs[3:]] if len(crumbs) > 3 else crumbs[:1] + crumbs[-1:]
            if len(crumbs) <= 2:
                break
        taken = widths(crumbs[:-1])
        text, tone = crumbs[-1]
        return [*crumbs[:-1], (fit(visible_line(text), max(room - taken, 0)), tone)]


class StatusLine(Toned):
    """One line that says the latest thing."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.parts: tuple[Piece, ...] = ()

    def tell(self, parts: Sequence[Piece]) -> None:
        """Say something else."""
        self.parts = tuple(parts)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Paint the line."""
        return self.line_strip(((" ", "plain"), *self.parts), self.size.width, self.rich_style)


class _Button(NamedTuple):
    start: int
    end: int
    action: str


class KeyBar(Toned):
    """The keys of a screen: as many as fit, help and quit always."""

    DEFAULT_CSS = "KeyBar { height: 1; dock: bottom; }"

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place
        self._buttons: list[_Button] = []

    def shown_actions(self, cells: int) -> list[Action]:
        """The actions that fit, in the order of the table; help last."""
        last = next(action for action in actions_of("any") if action.name == "help")
        room = cells - self._cells(last) - 1
        fitting: list[Action] = []
        for action in actions_of(self.place):
            if action.label and self._cells(action) <= room:
                room -= self._cells(action)
                fitting.append(action)
        return [*fitting, last]

    @staticmethod
    def _cells(action: Action) -> int:
        return width(key_name(_first(action))) + width(action.label) + 3

    def render_line(self, y: int) -> Strip:
        """Paint the keys with their words."""
        cells, base = self.size.width, self.rich_style
        parts: list[Piece] = [(" ", "plain")]
        self._buttons = []
        for action in self.shown_actions(cells):
            start = widths(parts)
            parts += [(key_name(_first(action)), "title"), (" " + action.label + "  ", "quiet")]
            self._buttons.append(_Button(start, widths(parts) - 1, action.name))
        return self.line_strip(tuple(parts), cells, base)

    async def on_click(self, event: events.Click) -> None:
        """A click on a key does what the key does."""
        for button in self._buttons:
            if button.start <= event.x < button.end:
                await self.screen.run_action(button.action)


def _first(action: Action) -> str:
    return action.key.split(",")[0]
