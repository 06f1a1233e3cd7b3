"""The first screen: every run, with the context and the trend of the one under the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer

from rag_audit.model import RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.content import Piece, sign
from rag_audit.tui.run_views import metric_columns, metric_order, summary_section
from rag_audit.tui.screens.compare import open_diff, open_previous_diff
from rag_audit.tui.screens.filtered import FilteredScreen
from rag_audit.tui.source import Source
from rag_audit.tui.theme import STATUSES
from rag_audit.tui.widgets.passage import Passage
from rag_audit.tui.widgets.record_table import Column, RecordTable

_LOOK_EVERY_S = 2.0


class RunsScreen(FilteredScreen):
    """The list of runs."""

    PLACE = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("runs")]

    def __init__(self, source: Source, *, select: str | None = None) -> None:
        super().__init__(source)
        self.wanted = select
        self.opens = select is not None
        """Whether the run that was asked for is still to be opened."""
        self.runs: list[RunSummary] = []
        self._was_running = False
        self.damage: list[str] = []
        self.marked: list[str] = []
        """Ids, the latest mark last."""
        self._timer: Timer | None = None
        self.table = RecordTable[RunSummary](self._columns([]), lambda run: run.id, empty="Reading the history …")
        self.detail = Passage(id="detail")

    def _columns(self, metrics: Sequence[str]) -> list[Column[RunSummary]]:
        return [
            Column(
                "run",
                lambda run: ((("= " if run.id in self.marked else "") + wording.run_name(run)), "plain"),
                14,
                flexible=True,
                sort=lambda run: wording.run_name(run),
            ),
            Column(
                "started", lambda run: (wording.when(run.started_at)[5:], "quiet"), 11, 3, sort=lambda r: r.started_at
            ),
            Column("n", lambda run: (str(run.questions), "plain"), 5, 30, right=True, sort=lambda run: run.questions),
            *metric_columns(metrics),
            Column("status", lambda run: sign(STATUSES[run.status.value]), 13, 1),
            Column("origin", lambda run: (run.origin.value, "quiet"), 9, 40),
        ]

    def compose_body(self) -> ComposeResult:
        """List and details."""
        with Container(classes="split"):
            yield self.table
            yield self.detail
        yield self.filter_input

    def on_mount(self) -> None:
        """Read the history without holding up the first paint."""
        self.title_bar.tell(["rag-audit", self.source.project.name])
        self.table.focus()
        self.set_interval(_LOOK_EVERY_S, self._look_at_evaluation)

    def _look_at_evaluation(self) -> None:
        """Keep the list true while a run that was started here goes on behind it."""
        evaluation = self.source.evaluation
        running = evaluation is not None and evaluation.running
        if self.is_current and (running or self._was_running):
            self.action_reload()
        self._was_running = running

    def on_screen_resume(self) -> None:
        """A run may have ended meanwhile: the cursor goes to the one that was just made."""
        evaluation = self.source.evaluation
        if evaluation is not None and evaluation.run_id and evaluation.run_id not in {run.id for run in self.runs}:
            self.wanted = evaluation.run_id
        self.action_reload()

    def action_reload(self) -> None:
        """Read the history again."""
        self.fetch(lambda: (self.source.runs(), self.source.damage()), self._show)

    def _show(self, loaded: tuple[list[RunSummary], list[str]]) -> None:
        runs, damage = loaded
        self.runs = runs
        self.table.empty = "No runs yet: press r to evaluate, or i to import another tool's results."
        self.table.set_columns(self._columns(metric_order(runs)))
        self._show_rows(select=self.wanted)
        if self.opens and self.table.row is not None and self.table.row.id == self.wanted:
            self.action_open()
        self.wanted, self.opens = None, False
        if damage and damage != self.damage:
            self.say("\n".join([*damage[:3], "rag-audit verify says more."]), severity="warning")
        self.damage = damage
        self._tell()

    def _tell(self) -> None:
        facts: list[Piece] = []
        if self.damage:
            facts.append((f"! {wording.plural(len(self.damage), 'damaged place')} in the history  ", "warn"))
        if len(self.marked) > 1:
            facts.append((f"{len(self.marked)} marked: b follows them  ", "info"))
        facts.append((wording.plural(len(self.runs), "run"), "quiet"))
        self.title_bar.tell(["rag-audit", self.source.project.name], facts)

    def apply_filter(self) -> None:
        """Show the runs that match."""
        self._show_rows()

    def leave_filter(self) -> None:
        """Give the keys back to the list."""
        self.table.focus()

    def _show_rows(self, *, select: str | None = None) -> None:
        words = self.filter_words
        rows = [run for run in self.runs if all(word in _haystack(run) for word in words)] if words else self.runs
        self.table.set_rows(rows, select=select)

    @on(RecordTable.RowHighlighted)
    def _details(self, event: RecordTable.RowHighlighted) -> None:
        """Show the details once the cursor rests."""
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(0.05, self._show_details)

    def _show_details(self) -> None:
        run = self.table.row
        if run is None:
            self.detail.show([])
            return
        at = next((place for place, one in enumerate(self.runs) if one.id == run.id), 0)
        earlier = list(reversed(self.runs[at + 1 :]))

        def show(shown: RunSummary) -> None:
            if self.table.row is not None and self.table.row.id == shown.id:
                self.detail.show([summary_section(shown, [*earlier, shown])])

        if run.is_open:
            self.fetch(lambda: self.source.run(run.id).summary, show, group="details")
        else:
            show(run)

    @on(RecordTable.RowOpened)
    def _opened(self, event: RecordTable.RowOpened) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the questions of the run."""
        from rag_audit.tui.screens.run import RunScreen

        if self.table.row is not None:
            self.app.push_screen(RunScreen(self.source, self.table.row))

    def action_mark(self) -> None:
        """Mark the run as one to compare with, or take the mark back."""
        row = self.table.row
        if row is None:
            return
        self.marked = [one for one in self.marked if one != row.id] + ([row.id] if row.id not in self.marked else [])
        self.table.refresh()
        self._tell()

    def action_follow(self) -> None:
        """Follow every question through the marked runs and the one under the cursor, oldest first."""
        from rag_audit.tui.screens.several import SeveralScreen

        current = self.table.row
        wanted = {*self.marked, current.id} if current else set(self.marked)
        chosen = [run for run in reversed(self.runs) if run.id in wanted and not run.is_open]
        if len(chosen) < 3:
            self.say("Mark two or more other runs with m first: b follows each question through them.")
            return
        self.app.push_screen(SeveralScreen(self.source, chosen))

    def action_diff(self) -> None:
        """Compare with the last marked run, else with the previous comparable one; the earlier run comes first."""
        run = self.table.row
        if run is None:
            return
        others = {one.id: one for one in self.runs if one.id != run.id}
        marked = next((others[one] for one in reversed(self.marked) if one in others), None)
        if marked is not None:
            before, after = (marked, run) if self.runs.index(marked) > self.runs.index(run) else (run, marked)
            open_diff(self, before, after)
        else:
            open_previous_diff(self, run)

    def action_audit(self) -> None:
        """Open the sample of the run."""
        from rag_audit.tui.screens.queues import open_sample

        if self.table.row is not None:
            open_sample(self, self.table.row)

    def action_trend(self) -> None:
        """Open the trend over all runs."""
        from rag_audit.tui.screens.trend import TrendScreen

        self.app.push_screen(TrendScreen(self.source, list(reversed(self.runs))))

    def action_evaluate(self) -> None:
        """Start a run, or watch the one under way."""
        from rag_audit.tui.screens.start import start_evaluation

        start_evaluation(self, self.table.row)

    def action_import_path(self) -> None:
        """Import another tool's results."""
        from rag_audit.tui.screens.export import ask_import

        ask_import(self)

    def action_export(self) -> None:
        """Export the run."""
        from rag_audit.tui.screens.export import export_run

        if self.table.row is not None:
            export_run(self, self.table.row)

    def action_copy(self) -> None:
        """Copy the run's id."""
        if self.table.row is not None:
            self.copy(self.table.row.id)


def _haystack(run: RunSummary) -> str:
    parts = (run.id, run.label or "", run.status.value, run.origin.value, run.context.generator, run.source or "")
    return " ".join(parts).casefold()
