"""The metrics over all runs: one plot a metric, with what changed the measurement."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from rag_audit.model import RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.run_views import metric_order, sparkline
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.source import Source
from rag_audit.tui.trend import changes_along, plot_metric
from rag_audit.tui.widgets.passage import Passage, Section
from rag_audit.tui.widgets.record_table import Column, RecordTable


class TrendScreen(ReviewScreen):
    """A list of metrics, and the plot of the one under the cursor."""

    PLACE = "trend"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("trend")]

    def __init__(self, source: Source, runs: Sequence[RunSummary]) -> None:
        super().__init__(source)
        self.runs = runs
        """Oldest first."""
        self.table = RecordTable[str](self._columns(), lambda name: name, empty="No run has a metric.", id="metrics")
        self.plot = Passage(id="plot")

    def _columns(self) -> list[Column[str]]:
        def means(name: str) -> list[float | None]:
            return [run.metrics[name].mean for run in self._measured(name)]

        def latest(name: str) -> str:
            metric = self._measured(name)[-1].metrics[name]
            return wording.number(metric.mean, metric.range)

        return [
            Column("metric", lambda name: (name, "plain"), 20, flexible=True),
            Column("runs", lambda name: (str(len(self._measured(name))), "quiet"), 4, right=True),
            Column("latest", lambda name: (latest(name), "strong"), 8, right=True),
            Column("over the runs", lambda name: (sparkline(means(name)[-40:]), "info"), 40, 1),
        ]

    def _measured(self, name: str) -> list[RunSummary]:
        return [run for run in self.runs if name in run.metrics]

    def compose_body(self) -> ComposeResult:
        """Metrics above, plot below."""
        yield self.table
        yield self.plot

    def on_mount(self) -> None:
        """Show the metrics."""
        self.title_bar.tell(["rag-audit", "trend"], [(wording.plural(len(self.runs), "run"), "quiet")])
        self.table.set_rows(metric_order(self.runs))
        self.table.focus()

    def on_resize(self) -> None:
        """Draw for the room there is."""
        self._draw()

    @on(RecordTable.RowHighlighted)
    def _chosen(self, event: RecordTable.RowHighlighted) -> None:
        self._draw()

    def _draw(self) -> None:
        name, width, height = self.table.row, self.plot.size.width - 1, self.plot.size.height
        if name is None or width <= 0:
            return
        runs = self._measured(name)
        marks = _marks(runs)
        room = max(height - len(marks) - 2, 6)
        self.fetch(
            lambda: plot_metric(runs, name, width, room),
            lambda text: self.plot.show([Section(text), section_of(marks)] if marks else [Section(text)]),
            group="plot",
        )


def _marks(runs: Sequence[RunSummary]) -> list[Line]:
    return [
        [
            (f"{mark.place} ", "title"),
            (wording.run_name(runs[mark.place - 1]), "plain"),
            (f"  {' and '.join(mark.words)} changed: not the same measurement", "warn"),
        ]
        for mark in changes_along(runs)
    ]
