"""A text to read: a report, the outcome of an import."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from rag_audit.tui.actions import bindings_of
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.passage import Passage, Section


class TextScreen(ReviewScreen):
    """Sections that are made when the screen opens."""

    PLACE = "reading"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("reading")]

    def __init__(self, source: Source, crumbs: Sequence[str], make: Callable[[], Sequence[Section]]) -> None:
        super().__init__(source)
        self.crumbs = crumbs
        self.make = make
        self.passage = Passage(empty="Working …", id="passage")

    def compose_body(self) -> ComposeResult:
        """The text alone."""
        yield self.passage

    def on_mount(self) -> None:
        """Make the text."""
        self.title_bar.tell(["rag-audit", *self.crumbs])
        self.passage.focus()
        self.fetch(self.make, self.passage.show)

    def action_copy(self) -> None:
        """Copy the whole text."""
        self.copy("\n\n".join(section.text for section in self.passage.sections))
