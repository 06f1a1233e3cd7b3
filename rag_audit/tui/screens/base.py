"""What every screen has: title bar, key bar, a floor under its size, one way back and one way to load."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Literal, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker

from rag_audit.errors import RagAuditError
from rag_audit.text.visible import visible
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.bars import KeyBar, TitleBar

Loaded = TypeVar("Loaded")
Severity = Literal["information", "warning", "error"]
LONGEST_COPY = 74_000
"""Bytes that terminals take in one clipboard sequence."""


class ReviewScreen(Screen[None]):
    """One level of the way from a run down to a claim."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    PLACE: ClassVar[str] = ""
    """Its group in the action table."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("any")]

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.title_bar = TitleBar()

    def compose(self) -> ComposeResult:
        """Title, body, keys, and what is shown where the terminal is too small."""
        yield self.title_bar
        with Vertical(id="body"):
            yield from self.compose_body()
        yield KeyBar(self.PLACE)
        yield Static("needs 60x20", id="too-small", markup=False)

    def compose_body(self) -> ComposeResult:
        """The screen's own widgets."""
        yield from ()

    def fetch(self, work: Callable[[], Loaded], then: Callable[[Loaded], None], *, group: str = "load") -> None:
        """Do `work` in a thread and give what it returns to `then`; of one group only the latest counts."""

        async def load() -> None:
            try:
                loaded = await asyncio.to_thread(work)
            except Exception as error:
                self.show_error(error)
            else:
                if self.is_attached:
                    then(loaded)

        # Given as a function, not as a coroutine: one that is replaced before it starts would never be awaited.
        _: Worker[None] = self.run_worker(load, group=group, exclusive=True)

    def show_error(self, error: Exception) -> None:
        """Say what went wrong and what to do about it, in the two lines of an error."""
        if isinstance(error, RagAuditError):
            self.say(f"{error}\n{error.hint}", severity="error")
        else:
            self.say(f"internal error: {type(error).__name__}: {error}", severity="error")

    def say(self, text: str, *, severity: Severity = "information") -> None:
        """Show a short message over the screen."""
        self.notify(visible(text), severity=severity, markup=False, timeout=10 if severity == "error" else 4)

    def copy(self, text: str) -> None:
        """Send text to the terminal's clipboard; no terminal says whether it took it."""
        clean = "".join(c for c in text if c in "\n\t" or visible(c) == c)
        if len(clean.encode("utf-8", "replace")) > LONGEST_COPY:
            self.say("Too long for a terminal's clipboard; export the run instead.", severity="warning")
            return
        self.app.copy_to_clipboard(clean)
        self.say("Sent to the terminal's clipboard (OSC 52).")

    def action_back(self) -> None:
        """Go back one level; at the first screen do nothing."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()

    def action_help(self) -> None:
        """Show all keys."""
        from rag_audit.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen(self.PLACE))

    async def action_leave(self) -> None:
        """Quit."""
        await self.app.run_action("leave")

    def action_palette(self) -> None:
        """Open the command palette."""
        self.app.action_command_palette()

    async def action_next_theme(self) -> None:
        """Go to the next theme."""
        await self.app.run_action("next_theme")
