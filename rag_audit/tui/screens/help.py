"""All keys of a screen, from the action table, with what the signs mean."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from rag_audit.text.width import pad
from rag_audit.tui.actions import actions_of, key_name
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.theme import CHANGES, STATUSES, VERDICTS
from rag_audit.tui.widgets.passage import Passage, Section

GROUPS = {
    "any": "Everywhere",
    "list": "In a list",
    "text": "In a text",
}


class HelpScreen(ModalScreen[None]):
    """The keys that work here, then those that work everywhere."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1", "dismiss", "Close")]

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def compose(self) -> ComposeResult:
        """The keys as a text."""
        passage = Passage(id="help")
        passage.border_title = "keys"
        yield passage
        yield Static("esc closes", id="help-close", markup=False)

    def on_mount(self) -> None:
        """Fill the text."""
        passage = self.query_one(Passage)
        passage.show(list(self._sections()))
        passage.focus()

    def _sections(self) -> Iterator[Section]:
        yield section_of(_keys(self.place), title=[("On this screen", "title")])
        for group, title in GROUPS.items():
            yield section_of(_keys(group), title=[(title, "title")])
        yield section_of(_signs(), title=[("Signs", "title")])


def _keys(group: str) -> Iterator[Line]:
    for action in actions_of(group):
        yield [(pad(key_name(action.key), 14) + " ", "strong"), (action.description, "plain")]


def _signs() -> Iterator[Line]:
    for table in (VERDICTS, STATUSES, CHANGES):
        line: list[Piece] = []
        for sign in table.values():
            line += [(sign.text, sign.tone), ("   ", "plain")]
        yield line
