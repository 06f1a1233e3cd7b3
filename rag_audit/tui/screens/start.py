"""Starting a run: a label, settings for this run alone, or the rest of an interrupted one."""

from rag_audit.model import RunStatus, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.evaluation import Evaluation
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.dialogs import AskChoice, AskText, Choice


def start_evaluation(screen: ReviewScreen, run: RunSummary | None) -> None:
    """Watch the run under way; else offer to finish an interrupted one, or ask for a new one's label and settings."""
    from rag_audit.tui.screens.evaluation import EvaluationScreen

    running = running_evaluation(screen)
    if running is not None:
        screen.app.push_screen(EvaluationScreen(screen.source, running))
    elif run is not None and run.status is RunStatus.INTERRUPTED:
        choices = [Choice("r", "resume", f"finish {wording.run_name(run)}"), Choice("n", "new", "start a new run")]

        def answered(answer: str | None) -> None:
            if answer == "resume":
                _begin(screen, Evaluation(screen.source.evaluate((), None, resume=run.id)))
            elif answer == "new":
                _ask_label(screen)

        screen.app.push_screen(AskChoice("This run was interrupted", choices), answered)
    else:
        _ask_label(screen)


def running_evaluation(screen: ReviewScreen) -> Evaluation | None:
    """The run that this application started and that has not ended."""
    evaluation = screen.source.evaluation
    return evaluation if evaluation is not None and evaluation.running else None


def _ask_label(screen: ReviewScreen) -> None:
    def labelled(label: str | None) -> None:
        if label is not None:
            screen.app.push_screen(
                AskText(
                    "Settings for this run alone", hint="such as retriever.top_k=8 chunking.size=1200; may be empty"
                ),
                lambda text: _with_settings(screen, label, text),
            )

    screen.app.push_screen(AskText("Label of the new run", hint="may be empty; esc leaves"), labelled)


def _with_settings(screen: ReviewScreen, label: str, text: str | None) -> None:
    if text is not None:
        _begin(screen, Evaluation(screen.source.evaluate(tuple(text.split()), label.strip() or None)))


def _begin(screen: ReviewScreen, evaluation: Evaluation) -> None:
    from rag_audit.tui.screens.evaluation import EvaluationScreen

    screen.source.evaluation = evaluation
    evaluation.begin()
    screen.app.push_screen(EvaluationScreen(screen.source, evaluation))
