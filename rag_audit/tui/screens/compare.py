"""The way from any screen to the diff of two runs."""

from rag_audit.model import RunSummary
from rag_audit.tui.screens.base import ReviewScreen


def open_previous_diff(screen: ReviewScreen, run: RunSummary) -> None:
    """Open the diff of a run with the previous comparable one."""

    def then(before: RunSummary | None) -> None:
        if before is None:
            screen.say("There is no earlier run to compare with; m marks any other one.", severity="warning")
        else:
            open_diff(screen, before, run)

    screen.fetch(lambda: screen.source.previous(run.id), then, group="previous")


def open_diff(screen: ReviewScreen, before: RunSummary, after: RunSummary) -> None:
    """Open the diff of two runs."""
    from rag_audit.tui.screens.diff import DiffScreen

    screen.app.push_screen(DiffScreen(screen.source, before, after))
