"""A table over any sequence of records by the line API: only the rows on the screen are ever built."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from rag_audit.text.visible import visible_line
from rag_audit.text.width import pad
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.toned import TonedView

Row = TypeVar("Row")
SortValue = float | str | None

_GAP = 1
_GUTTER = 2
_LONGEST_CELL = 500
"""Characters of a cell that are looked at; no terminal shows more on one line."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: what a cell says, how wide it is, and when it goes where there is no room."""

    label: str
    cell: Callable[[Row], Piece]
    width: int
    """In cells; for a flexible column the least."""
    priority: int = 0
    """The highest goes first; 0 always stays."""
    flexible: bool = False
    """Takes the room that is left."""
    right: bool = False
    sort: Callable[[Row], SortValue] | None = None


@dataclass(frozen=True, slots=True)
class _Layout(Generic[Row]):
    columns: tuple[Column[Row], ...] = ()
    widths: tuple[int, ...] = ()
    hidden: int = field(default=0)


class RecordTable(TonedView, Generic[Row]):
    """Rows are any sequence; the cursor belongs to a row's key, so that sorting and filtering keep it."""

    DEFAULT_CSS = """
    RecordTable { height: 1fr; overflow-x: hidden; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"record-table--header", "record-table--cursor", "record-table--blurred"}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("list")]

    cursor = reactive(0, repaint=False)

    @dataclass
    class RowHighlighted(Message):
        """The cursor came to another row (None: the table is empty)."""

        table: "RecordTable[Any]"
        row: object | None

        @property
        def control(self) -> "RecordTable[Any]":
            """The table it happened in."""
            return self.table

    @dataclass
    class RowOpened(Message):
        """A row was opened by enter or a second click."""

        table: "RecordTable[Any]"
        row: object

        @property
        def control(self) -> "RecordTable[Any]":
            """The table it happened in."""
            return self.table

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], object],
        *,
        empty: str = "Nothing here.",
        always_active: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.columns = tuple(columns)
        self.row_key = key
        self.empty = empty
        self.always_active = always_active
        """Paint the cursor as active without focus, where the screen itself handles the keys."""
        self.sorted_by: Column[Row] | None = None
        self.descending = False
        self._all: Sequence[Row] = ()
        self._rows: Sequence[Row] = ()
        self._layout: tuple[int, _Layout[Row]] = (-1, _Layout())

    @property
    def rows(self) -> Sequence[Row]:
        """The rows in the order shown."""
        return self._rows

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    def set_rows(self, rows: Sequence[Row], *, select: object = None) -> None:
        """Show other rows; the cursor stays on its row, or goes to the row with the key `select`."""
        wanted = select if select is not None else (self.row_key(self.row) if self.row is not None else None)
        self._all = rows
        self._rows = self._in_order(rows)
        self._settle(wanted)

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Show other columns."""
        self.columns = tuple(columns)
        self._layout = (-1, _Layout())
        self.refresh()

    def sort_by(self, column: Column[Row] | None, *, descending: bool = False) -> None:
        """Sort by a column; rows without a value come last either way. None: the order as given."""
        wanted = self.row_key(self.row) if self.row is not None else None
        self.sorted_by, self.descending = column, descending
        self._rows = self._in_order(self._all)
        self._settle(wanted)

    def select(self, key: object) -> bool:
        """Put the cursor on the row with this key; False if there is none."""
        at = self._find(key)
        if at is None:
            return False
        self.cursor = at
        return True

    def _in_order(self, rows: Sequence[Row]) -> Sequence[Row]:
        value_of = self.sorted_by.sort if self.sorted_by else None
        if value_of is None:
            return rows
        valued = [(value, row) for row in rows if (value := value_of(row)) is not None]
        valued.sort(key=lambda pair: (isinstance(pair[0], str), pair[0]), reverse=self.descending)
        return [row for _, row in valued] + [row for row in rows if value_of(row) is None]

    def _find(self, key: object) -> int | None:
        row_key = self.row_key
        return next((at for at, row in enumerate(self._rows) if row_key(row) == key), None)

    def _settle(self, wanted: object) -> None:
        at = self._find(wanted) if wanted is not None else None
        before = self.cursor
        self.virtual_size = Size(0, len(self._rows) + 1)
        self.set_reactive(RecordTable.cursor, at if at is not None else max(0, min(before, len(self._rows) - 1)))
        self._show_cursor()
        self.refresh()
        self._tell()

    def _tell(self) -> None:
        self.post_message(self.RowHighlighted(self, self.row))

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor within the rows."""
        return max(0, min(cursor, len(self._rows) - 1))

    def watch_cursor(self, before: int, after: int) -> None:
        """Repaint the two rows and tell whoever shows details."""
        self._refresh_row(before)
        self._refresh_row(after)
        self._show_cursor()
        self._tell()

    def _refresh_row(self, at: int) -> None:
        self.refresh(Region(0, at + 1 - round(self.scroll_offset.y), self.size.width, 1))

    def _show_cursor(self) -> None:
        room = max(self.size.height - 1, 1)
        top = round(self.scroll_offset.y)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + room:
            self.scroll_to(y=self.cursor - room + 1, animate=False, force=True)

    def on_resize(self) -> None:
        """Keep the cursor on the screen."""
        self._show_cursor()

    def on_focus(self) -> None:
        """Paint the cursor as active."""
        self.refresh()

    def on_blur(self) -> None:
        """Paint the cursor as inactive."""
        self.refresh()

    def _columns_for(self, width: int) -> _Layout[Row]:
        if self._layout[0] == width:
            return self._layout[1]
        kept = list(self.columns)
        room = width - _GUTTER

        def needed() -> int:
            return sum(column.width + _GAP for column in kept) - _GAP

        while len(kept) > 1 and needed() > room and any(column.priority for column in kept):
            kept.remove(max(reversed(kept), key=lambda column: column.priority))
        flexible = sum(column.flexible for column in kept)
        spare = max(room - needed(), 0)
        widths = []
        for column in kept:
            extra = spare // flexible if column.flexible else 0
            if column.flexible:
                spare, flexible = spare - extra, flexible - 1
            widths.append(column.width + extra)
        layout = _Layout(tuple(kept), tuple(widths), len(self.columns) - len(kept))
        self._layout = (width, layout)
        return layout

    def render_line(self, y: int) -> Strip:
        """Paint the header or one row."""
        width = self.size.width
        base = self.rich_style
        layout = self._columns_for(width)
        if y == 0:
            return self._header(layout, width)
        at = y - 1 + round(self.scroll_offset.y)
        if at >= len(self._rows):
            if at == 0 and self.empty:
                return self.line_strip((("  " + self.empty, "quiet"),), width, base)
            return Strip.blank(width, base)
        return self._row_strip(self._rows[at], layout, width, base, at == self.cursor)

    def _header(self, layout: _Layout[Row], width: int) -> Strip:
        style = self.get_component_rich_style("record-table--header")
        segments = [Segment(" " * _GUTTER, style)]
        for column, cells in zip(layout.columns, layout.widths, strict=True):
            label = column.label
            if column is self.sorted_by:
                label = f"{label}▼" if self.descending else f"{label}▲"
            segments.append(Segment(pad(label, cells, right=column.right) + " " * _GAP, style))
        return Strip(segments).adjust_cell_length(width, style)

    def _row_strip(self, row: Row, layout: _Layout[Row], width: int, base: RichStyle, current: bool) -> Strip:
        if current:
            name = "record-table--cursor" if self.has_focus or self.always_active else "record-table--blurred"
            base = self.get_component_rich_style(name)
        segments = [Segment("› " if current else "  ", base)]
        for column, cells in zip(layout.columns, layout.widths, strict=True):
            text, tone = column.cell(row)
            style = base + self.tone(tone)
            if current and base.bgcolor:
                style += RichStyle(bgcolor=base.bgcolor, color=base.color)
            segments.append(Segment(pad(visible_line(text[:_LONGEST_CELL]), cells, right=column.right), style))
            segments.append(Segment(" " * _GAP, base))
        return Strip(segments).adjust_cell_length(width, base)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Text selection works on passages; a table copies through its own key."""
        return None

    def action_cursor_down(self) -> None:
        """Go to the next row."""
        self.cursor += 1

    def action_cursor_up(self) -> None:
        """Go to the previous row."""
        self.cursor -= 1

    def action_page_down(self) -> None:
        """Go a page down."""
        self.cursor += max(self.size.height - 2, 1)

    def action_page_up(self) -> None:
        """Go a page up."""
        self.cursor -= max(self.size.height - 2, 1)

    def action_first(self) -> None:
        """Go to the first row."""
        self.cursor = 0

    def action_last(self) -> None:
        """Go to the last row."""
        self.cursor = len(self._rows) - 1

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        if self.row is not None:
            self.post_message(self.RowOpened(self, self.row))

    def on_click(self, event: events.Click) -> None:
        """A click goes to a row, a second one opens it; a click on a heading sorts by it."""
        if event.y == 0:
            self._sort_at(event.x)
            return
        at = event.y - 1 + round(self.scroll_offset.y)
        if at >= len(self._rows):
            return
        if event.chain > 1 and at == self.cursor:
            self.action_open_row()
        self.cursor = at

    def _sort_at(self, x: int) -> None:
        layout = self._columns_for(self.size.width)
        start = _GUTTER
        for column, cells in zip(layout.columns, layout.widths, strict=True):
            if start <= x < start + cells and column.sort is not None:
                self.sort_by(column, descending=column is self.sorted_by and not self.descending)
            start += cells + _GAP
