"""Small questions over a screen: a line of text, one of a few choices."""

import os
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import click
from textual import events, on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from rag_audit.text.visible import visible
from rag_audit.tui.content import Piece, pieces, shown


class Choice(NamedTuple):
    """One answer: its key, what it returns, its words."""

    key: str
    value: str
    words: str
    tone: str = "plain"


class AskText(ModalScreen[str | None]):
    """Ask for one line; None when it was left with escape."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel"), ("ctrl+e", "editor", "Editor")]

    def __init__(self, title: str, *, value: str = "", hint: str = "enter keeps it, esc leaves") -> None:
        super().__init__(classes="dialog")
        self.question = title
        self.value = value
        self.hint = hint

    def compose(self) -> ComposeResult:
        """Title, line, hint."""
        with Vertical(classes="box"):
            yield Static(shown(self.question, "title"), markup=False)
            yield Input(self.value, select_on_focus=False)
            yield Static(shown(self.hint, "quiet"), markup=False)

    def action_editor(self) -> None:
        """Write the text in $VISUAL or $EDITOR; an editor that fails changes nothing."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            self.notify("Set VISUAL or EDITOR to write it in an editor.", severity="warning", markup=False)
            return
        line = self.query_one(Input)
        try:
            with self.app.suspend():
                written = click.edit(line.value, editor=editor, require_save=False)
        except (SuspendNotSupported, click.ClickException) as error:
            self.notify(visible(f"The editor could not be used: {error}"), severity="warning", markup=False)
        else:
            line.value = " ".join((written or "").split())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class AskChoice(ModalScreen[str | None]):
    """Ask for one of a few choices by key; None when it was left with escape."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self, title: str, choices: Sequence[Choice], *, text: str = "") -> None:
        super().__init__(classes="dialog")
        self.question = title
        self.choices = tuple(choices)
        self.text = text

    def compose(self) -> ComposeResult:
        """Title, text, choices."""
        with Vertical(classes="box"):
            yield Static(shown(self.question, "title"), markup=False)
            if self.text:
                yield Static(shown(self.text), markup=False)
            for choice in self.choices:
                line: list[Piece] = [(f" {choice.key}  ", "title"), (choice.words, choice.tone)]
                yield Static(pieces(line), markup=False)
            yield Static(shown("esc leaves", "quiet"), markup=False)

    def on_key(self, event: events.Key) -> None:
        """A choice's key answers."""
        for choice in self.choices:
            if event.character == choice.key or event.key == choice.key:
                event.stop()
                self.dismiss(choice.value)
