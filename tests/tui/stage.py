"""An application with nothing but one widget on it."""

from pathlib import Path

from textual.app import App, ComposeResult
from textual.widget import Widget

import rag_audit.tui.app
from rag_audit.tui.theme import THEMES


class Stage(App[None]):
    CSS_PATH = Path(rag_audit.tui.app.__file__).with_name("app.tcss")

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()
