"""The application: themes, filters for terminals without colour or glyphs, the first screen and the way out."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.filter import LineFilter, Monochrome
from textual.screen import Screen

from rag_audit.tui.screens.dialogs import AskChoice, Choice
from rag_audit.tui.screens.runs import RunsScreen
from rag_audit.tui.source import Source
from rag_audit.tui.theme import NO_COLOUR, THEMES, AsciiGlyphs

if TYPE_CHECKING:
    from textual.command import Provider


def _commands() -> "type[Provider]":
    from rag_audit.tui.commands import ActionCommands

    return ActionCommands


class ReviewApp(App[None]):
    """The terminal UI on one project."""

    TITLE = "rag-audit"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    COMMANDS = {_commands}  # noqa: RUF012
    ESCAPE_TO_MINIMIZE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (20, "-low"), (32, "-tall")]  # noqa: RUF012

    def __init__(self, source: Source, *, run: str | None = None, ascii_only: bool = False) -> None:
        super().__init__()
        self.source = source
        self.first_run = run
        self._glyphs: list[LineFilter] = [AsciiGlyphs()] if ascii_only else []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        for name in set(self.available_themes) - {theme.name for theme in THEMES}:
            self.unregister_theme(name)
        self.set_class(self.no_color, "-no-colour")

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without colour means without colour: Textual's own filter would leave greys."""
        filters: list[LineFilter] = [f for f in super().get_line_filters() if not isinstance(f, Monochrome)]
        return [*filters, *([NO_COLOUR] if self.no_color else []), *self._glyphs]

    def get_default_screen(self) -> Screen[None]:
        """The runs are the root: escape ends there."""
        return RunsScreen(self.source, select=self.first_run)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """None of Textual's own: every command comes from the action table."""
        return ()

    @property
    def failure(self) -> Exception | None:
        """The unexpected error that ended the application."""
        return self._exception

    def _fatal_error(self) -> None:
        """End without Textual's own report, which prints local variables: documents, perhaps keys."""
        self._close_messages_no_wait()

    async def action_leave(self) -> None:
        """Quit; ask first while a run is under way."""
        running = self.source.evaluation
        if running is None or not running.running:
            self.exit()
            return

        def answered(answer: str | None) -> None:
            if answer == "stop":
                running.stop(wait_s=5)
                self.exit()

        choices = [Choice("y", "stop", "stop the run and quit; what is finished is kept")]
        self.push_screen(AskChoice("A run is under way", choices), answered)

    def action_next_theme(self) -> None:
        """Go to the next theme."""
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
