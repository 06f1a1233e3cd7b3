"""Three or more runs question by question: the values of one metric a tab, and the run at which each question broke."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from rag_audit.diff.several import QuestionHistory, SeveralRuns
from rag_audit.model import RunDiff, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.blindness import Blind
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.screens.filtered import FilteredScreen
from rag_audit.tui.screens.pair import PairScreen
from rag_audit.tui.screens.tabbed import Tabbed
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.passage import Passage
from rag_audit.tui.widgets.record_table import Column, RecordTable
from rag_audit.tui.widgets.tabs import TabLine


class SeveralScreen(Tabbed, FilteredScreen):
    """A question a line, a run a column; the broken ones first."""

    PLACE = "several"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("several")]

    def __init__(self, source: Source, runs: Sequence[RunSummary]) -> None:
        super().__init__(source)
        self.runs = tuple(runs)
        """Oldest first."""
        self.place = {run.id: at for at, run in enumerate(runs, start=1)}
        self.followed: SeveralRuns | None = None
        self.hidden: dict[str, Blind] = {}
        self.metrics: tuple[str, ...] = ()
        self.tabs = TabLine(())
        self.table = RecordTable[QuestionHistory](self._columns(), lambda row: row.id, empty="Comparing …")
        self.detail = Passage(id="several-detail")

    def _columns(self) -> list[Column[QuestionHistory]]:
        return [
            Column("question", lambda row: (row.id, "plain"), 12, flexible=True, sort=lambda row: row.id),
            Column("broke at", self._broke, 8, sort=self._broke_at),
            Column("cause", self._cause, 9, 1),
            # The last ones stay longest: what the newest run did is asked first.
            *(self._values(at, len(self.runs) + 1 - at) for at in range(len(self.runs))),
        ]

    def _broke(self, row: QuestionHistory) -> Piece:
        if self._waits(row):
            return ("blind", "quiet")
        return (f"▼ [{self.place[row.broke_at]}]", "bad") if row.broke_at else ("", "quiet")

    def _broke_at(self, row: QuestionHistory) -> float | None:
        return None if row.broke_at is None or self._waits(row) else float(self.place[row.broke_at])

    def _cause(self, row: QuestionHistory) -> Piece:
        return ("" if row.cause is None or self._waits(row) else row.cause.value, "info")

    def _values(self, at: int, priority: int) -> Column[QuestionHistory]:
        return Column(
            f"[{at + 1}]",
            lambda row: self._value(row, at),
            6,
            priority,
            right=True,
            sort=lambda row: None if self._hides(row, at) else row.values[at],
        )

    @property
    def metric(self) -> str:
        """The metric that is shown."""
        return self.metrics[self.tabs.active]

    def _hides(self, row: QuestionHistory, at: int) -> bool:
        return self.hidden.get(self.runs[at].id, Blind()).hides(row.id, self.metric)

    def _waits(self, row: QuestionHistory) -> bool:
        return any(self._hides(row, at) for at in range(len(self.runs)))

    def _value(self, row: QuestionHistory, at: int) -> Piece:
        if self._hides(row, at):
            return ("blind", "quiet")
        fell = row.broke_at == self.runs[at].id and not self._waits(row)
        return (wording.score(row.values[at]), "bad" if fell else "plain")

    def compose_body(self) -> ComposeResult:
        """Metrics, questions, what the numbers of the columns mean."""
        yield self.tabs
        yield self.table
        yield self.detail
        yield self.filter_input

    def on_mount(self) -> None:
        """Follow the questions without holding up the screen."""
        self.title_bar.tell(["rag-audit", f"{len(self.runs)} runs"])
        self.table.focus()

        def work() -> tuple[SeveralRuns, dict[str, Blind]]:
            return self.source.follow(self.runs), {run.id: self.source.blind(run.id) for run in self.runs}

        self.fetch(work, self._show)

    def _show(self, loaded: tuple[SeveralRuns, dict[str, Blind]]) -> None:
        self.followed, self.hidden = loaded
        self.metrics = tuple(self.followed.questions)
        labels = wording.headings(self.metrics)
        self.tabs.rename([labels[name] for name in self.metrics])
        self.table.empty = "The runs share no metric." if not self.metrics else "No question matches."
        self._show_tab()

    def _show_tab(self) -> None:
        self.table.sorted_by = None
        self.apply_filter()
        self._tell_detail()

    def apply_filter(self) -> None:
        """Show the questions of the metric that match; those that wait to be judged blind give nothing away."""
        if self.followed is None or not self.metrics:
            self.table.set_rows([])
            return
        rows = [row for row in self.followed.questions[self.metric] if self._matches(row)]
        self.table.set_rows([*(r for r in rows if not self._waits(r)), *(r for r in rows if self._waits(r))])
        broke = sum(row.broke_at is not None and not self._waits(row) for row in rows)
        told: Piece = (f"{broke} of {wording.plural(len(rows), 'question')} broke", "warn" if broke else "quiet")
        self.title_bar.tell(["rag-audit", f"{len(self.runs)} runs", self.metric], [told])

    def _matches(self, row: QuestionHistory) -> bool:
        return all(word in row.id.casefold() for word in self.filter_words)

    def leave_filter(self) -> None:
        """Give the keys back to the list."""
        self.table.focus()

    @on(RecordTable.RowHighlighted)
    def _chosen(self, event: RecordTable.RowHighlighted) -> None:
        self._tell_detail()

    def _tell_detail(self) -> None:
        """Which run each column is, its own mean, and the question's value in it."""
        if self.followed is None or not self.metrics:
            return
        row = self.table.row
        lines: list[Line] = []
        for at, run in enumerate(self.runs):
            mean = self.followed.means[self.metric][at]
            metric = run.metrics.get(self.metric)
            of = f" of {metric.n}" if metric else ""
            line: list[Piece] = [(f"[{at + 1}] ", "title"), (wording.run_name(run), "plain")]
            line.append((f"  mean {wording.number(mean, metric.range if metric else (0.0, 1.0))}{of}", "quiet"))
            if row is not None:
                line += [("  this question ", "quiet"), self._value(row, at)]
                if run.id in row.edited_at:
                    line.append(("  edited before this run", "warn"))
            lines.append(line)
        self.detail.show([section_of(lines)])

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self._show_tab()

    @on(RecordTable.RowOpened)
    def _opened(self, event: RecordTable.RowOpened) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the question as it was before and after it broke; else in the first and the last run."""
        row = self.table.row
        if row is None:
            return
        at = self.place[row.broke_at] - 1 if row.broke_at and not self._waits(row) else 0
        before, after = (self.runs[at - 1], self.runs[at]) if at else (self.runs[0], self.runs[-1])
        hidden = self.hidden[before.id].joined(self.hidden[after.id])
        self.fetch(
            lambda: self.source.diff(before.id, after.id),
            partial(self._open_pair, row.id, before, after, hidden),
            group="pair",
        )

    def _open_pair(self, question_id: str, before: RunSummary, after: RunSummary, hidden: Blind, diff: RunDiff) -> None:
        self.app.push_screen(PairScreen(self.source, before, after, [question_id], 0, diff, hidden))
