"""A run under way: how far it is, how long it will take, and its summary at the end."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.strip import Strip

from rag_audit.errors import RagAuditError
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.content import Piece, sign
from rag_audit.tui.evaluation import Evaluation
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.run_views import summary_section
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.compare import open_previous_diff
from rag_audit.tui.screens.dialogs import AskChoice, Choice
from rag_audit.tui.source import Source
from rag_audit.tui.theme import STATUSES
from rag_audit.tui.widgets.passage import Passage, Section
from rag_audit.tui.widgets.toned import Toned

_LOOK_EVERY_S = 0.2


class ProgressLine(Toned):
    """A bar with its figures in words."""

    DEFAULT_CSS = "ProgressLine { height: 1; }"

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__()
        self.evaluation = evaluation

    def render_line(self, y: int) -> Strip:
        """Paint bar, count, time."""
        state, cells = self.evaluation, self.size.width
        share = state.done / state.total if state.total else 0.0
        room = max(min(cells - 44, 60), 8)
        full = round(share * room)
        left = f"  {wording.time_left(state.left_s)}" if state.running and state.left_s is not None else ""
        parts: tuple[Piece, ...] = (
            (" " + "█" * full, "info"),
            ("·" * (room - full), "quiet"),
            (f"  {state.done}/{state.total or '?'}", "strong"),
            (f"  {wording.duration(state.elapsed_s)}", "quiet"),
            (left, "plain"),
        )
        return self.line_strip(parts, cells, self.rich_style)


class EvaluationScreen(ReviewScreen):
    """Watches one run."""

    PLACE = "evaluation"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("evaluation")]

    def __init__(self, source: Source, evaluation: Evaluation) -> None:
        super().__init__(source)
        self.evaluation = evaluation
        self.progress = ProgressLine(evaluation)
        self.passage = Passage(id="passage")
        self._shown: object = None

    def compose_body(self) -> ComposeResult:
        """Bar and what happened."""
        yield self.progress
        yield self.passage

    def on_mount(self) -> None:
        """Look at the run a few times a second, however fast it goes."""
        self.passage.focus()
        self.set_interval(_LOOK_EVERY_S, self._look)
        self._look()

    def _look(self) -> None:
        state = self.evaluation
        self.progress.refresh()
        shown = (state.done, state.note, state.running)
        if shown == self._shown:
            return
        self._shown = shown
        self.title_bar.tell(["rag-audit", "run", state.run_id or "…"], [self._status()])
        self.passage.show(self._sections())

    def _status(self) -> Piece:
        state = self.evaluation
        if state.running:
            return sign(STATUSES["running"])
        if state.summary is not None:
            return sign(STATUSES[state.summary.status.value])
        return sign(STATUSES["interrupted"]) if state.run_id else ("✗ failed", "bad")

    def _sections(self) -> list[Section]:
        state = self.evaluation
        if state.summary is not None:
            return [summary_section(state.summary, [state.summary])]
        lines: list[Line] = []
        if state.error is not None:
            lines.append([(f"error: {state.error}", "bad")])
            if isinstance(state.error, RagAuditError):
                lines.append([(f"hint: {state.error.hint}", "plain")])
        elif not state.running:
            lines.append([("Stopped. What is finished is kept; r on this run in the list finishes it.", "warn")])
        elif state.note:
            lines.append([(state.note, "quiet")])
        lines += [[("✓ ", "good"), (question_id, "plain")] for question_id in state.recent]
        return [section_of(lines)]

    def action_cancel(self) -> None:
        """Stop the run after asking."""
        if not self.evaluation.running:
            self.say("The run has ended.")
            return

        def answered(answer: str | None) -> None:
            if answer == "stop":
                self.evaluation.stop()

        choices = [Choice("y", "stop", "stop the run; what is finished is kept")]
        self.app.push_screen(AskChoice("Stop this run?", choices), answered)

    def action_open(self) -> None:
        """Open the finished run."""
        from rag_audit.tui.screens.run import RunScreen

        if self.evaluation.summary is not None:
            self.app.push_screen(RunScreen(self.source, self.evaluation.summary))

    def action_diff(self) -> None:
        """Compare the finished run with the previous comparable one."""
        if self.evaluation.summary is not None:
            open_previous_diff(self, self.evaluation.summary)
