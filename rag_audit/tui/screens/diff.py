"""Two runs compared: what the numbers did and mean, which questions changed and why, what flipped."""

from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from rag_audit.model import ArchivedRun, RunDiff, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.blindness import Blind
from rag_audit.tui.content import Piece
from rag_audit.tui.diff_rows import COLUMNS, TABS, DiffRow, counts_of, rows_of, waiting_of
from rag_audit.tui.layout import section_of
from rag_audit.tui.screens.filtered import FilteredScreen
from rag_audit.tui.screens.tabbed import Tabbed
from rag_audit.tui.source import Source
from rag_audit.tui.theme import CHANGES
from rag_audit.tui.widgets.bars import StatusLine
from rag_audit.tui.widgets.passage import Passage
from rag_audit.tui.widgets.record_table import RecordTable
from rag_audit.tui.widgets.tabs import TabLine

Compared = tuple[RunDiff, ArchivedRun, ArchivedRun, Blind]
"""The diff, both runs, and what must not be shown of them yet."""


class Behind(NamedTuple):
    """The number whose questions are shown: its tab, its name, the questions."""

    tab: str
    name: str
    questions: frozenset[str]


_EMPTY = {
    "metrics": "The runs share no metric.",
    "questions": "No question differs.",
    "flips": "No claim changed its verdict.",
    "context": "The contexts are equal.",
    "docs": "No document is named by the questions.",
    "corpora": "No corpus is known.",
}


class DiffScreen(Tabbed, FilteredScreen):
    """The diff of two runs."""

    PLACE = "diff"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("diff")]

    def __init__(self, source: Source, before: RunSummary, after: RunSummary) -> None:
        super().__init__(source)
        self.before = before
        self.after = after
        self.compared: Compared | None = None
        self.only: Behind | None = None
        self.tabs = TabLine(TABS)
        self.headline = StatusLine(id="headline")
        self.table = RecordTable[DiffRow](COLUMNS["metrics"], lambda row: row.key, empty="Comparing …")
        self.detail = Passage(id="diff-detail")

    def compose_body(self) -> ComposeResult:
        """Headline, tabs, list, what the row means."""
        yield self.headline
        yield self.tabs
        yield self.table
        yield self.detail
        yield self.filter_input

    def on_mount(self) -> None:
        """Compare without holding up the screen."""
        self._tell()
        self.table.focus()

        def work() -> Compared:
            source, ids = self.source, (self.before.id, self.after.id)
            hidden = source.blind(ids[0]).joined(source.blind(ids[1]))
            return source.diff(*ids), source.run(ids[0]), source.run(ids[1]), hidden

        self.fetch(work, self._show)

    @property
    def names(self) -> str:
        """Both runs."""
        return f"{wording.run_name(self.before)} → {wording.run_name(self.after)}"

    def _tell(self) -> None:
        facts = _comparability(self.compared[0]) if self.compared else []
        if self.only is not None:
            facts = [(f"behind {self.only.name}: esc goes back", "info")]
        self.title_bar.tell(["rag-audit", self.names], facts)

    def _show(self, compared: Compared) -> None:
        self.compared = compared
        counts = counts_of(*compared)
        self.tabs.rename([f"{name} {counts[name]}" for name in TABS])
        self.headline.tell(_headline(compared[0], waiting_of(*compared)))
        self._show_tab()

    @property
    def tab(self) -> str:
        """The tab that is open."""
        return TABS[self.tabs.active]

    def _show_tab(self) -> None:
        if self.tab != "questions":
            self.only = None
        self._tell()
        self.table.sorted_by = None
        self.table.set_columns(COLUMNS[self.tab])
        self.table.empty = _EMPTY[self.tab]
        self.apply_filter()

    def apply_filter(self) -> None:
        """Show the rows of the tab that match."""
        if self.compared is None:
            return
        words = self.filter_words
        rows = rows_of(self.tab, *self.compared)
        if self.only is not None:
            rows = [row for row in rows if row.question_id in self.only.questions]
        self.table.set_rows([row for row in rows if all(word in row.haystack() for word in words)])

    def leave_filter(self) -> None:
        """Give the keys back to the list."""
        self.table.focus()

    @on(RecordTable.RowHighlighted)
    def _detail(self, event: RecordTable.RowHighlighted) -> None:
        row = self.table.row
        self.detail.show([section_of([row.detail])] if row else [])

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self._show_tab()

    @on(RecordTable.RowOpened)
    def _opened(self, event: RecordTable.RowOpened) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the question in both runs; a number opens the questions behind it, a setting its whole value."""
        row = self.table.row
        if row is None or self.compared is None:
            return
        if row.behind is not None:
            self.only = Behind(self.tab, row.cells[0][0], row.behind)
            self.tabs.choose(TABS.index("questions"))
            return
        if row.question_id is None:
            from rag_audit.tui.screens.text import TextScreen

            self.app.push_screen(TextScreen(self.source, [self.names, row.key], lambda: [section_of([row.detail])]))
            return
        from rag_audit.tui.screens.pair import PairScreen

        ids = list(dict.fromkeys(one.question_id for one in self.table.rows if one.question_id is not None))
        at = ids.index(row.question_id)
        diff, _, _, hidden = self.compared
        self.app.push_screen(PairScreen(self.source, self.before, self.after, ids, at, diff, hidden))

    def action_back(self) -> None:
        """From the questions behind a number back to the number, else one level back."""
        if self.only is None or self.filter_input.has_class("-open"):
            super().action_back()
        else:
            self.tabs.choose(TABS.index(self.only.tab))

    def action_export(self) -> None:
        """Export the diff."""
        from rag_audit.tui.screens.export import export_diff

        export_diff(self, self.before, self.after)


def _headline(diff: RunDiff, waiting: frozenset[str]) -> list[Piece]:
    """How many questions went which way, those apart that wait."""
    parts = diff.questions
    moved = {
        "regressed": {delta.id for delta in parts.regressed},
        "improved": {delta.id for delta in parts.improved},
        "changed": {delta.id for delta in parts.changed},
    }
    still = waiting - set(parts.unscored) - set().union(*moved.values())
    counts = {kind: len(ids - waiting) for kind, ids in moved.items()} | {"unchanged": parts.unchanged - len(still)}
    line: list[Piece] = []
    for kind, count in counts.items():
        sign = CHANGES[kind]
        line += [(f"{sign.glyph} {count} {sign.word}  ", sign.tone if count else "quiet")]
    if waiting:
        line.append((f"◌ {len(waiting)} blind  ", "quiet"))
    return line


def _comparability(diff: RunDiff) -> list[Piece]:
    """Whether the numbers may be compared at all."""
    verdicts = [one.ok for one in diff.comparable.values()]
    if False in verdicts:
        return [(f"⊘ {verdicts.count(False)} of {len(verdicts)} metrics not comparable", "warn")]
    if None in verdicts:
        return [(f"? {verdicts.count(None)} of {len(verdicts)} metrics unverified", "warn")]
    return []
