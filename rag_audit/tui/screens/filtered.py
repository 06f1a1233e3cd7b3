"""A screen whose list can be filtered by typing."""

from textual import on
from textual.widgets import Input

from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.source import Source


class FilteredScreen(ReviewScreen):
    """Adds the filter line: `/` opens it, enter keeps it, escape clears it before it goes back."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.filter_input = Input(placeholder="filter: words that must occur", classes="prompt", select_on_focus=False)

    @property
    def filter_words(self) -> list[str]:
        """The words that must all occur, folded."""
        return self.filter_input.value.casefold().split()

    def apply_filter(self) -> None:
        """Show the rows that match."""

    def leave_filter(self) -> None:
        """Give the keys back to the list."""

    def action_other_pane(self) -> None:
        """Give the keys to the next pane, so that a text that is longer than its room can be read."""
        self.focus_next()

    def action_filter(self) -> None:
        """Type a filter."""
        self.filter_input.add_class("-open")
        self.filter_input.focus()

    @on(Input.Changed, ".prompt")
    def _filter_changed(self) -> None:
        self.apply_filter()

    @on(Input.Submitted, ".prompt")
    def _filter_done(self) -> None:
        self.leave_filter()

    def action_back(self) -> None:
        """Clear the filter, else go back."""
        if self.filter_input.has_class("-open"):
            self.filter_input.value = ""
            self.filter_input.remove_class("-open")
            self.leave_filter()
        else:
            super().action_back()
