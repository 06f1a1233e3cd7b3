"""Dialogs that read or write files through the source: exports of a run or a diff, imports."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rag_audit.model import RunSummary
from rag_audit.tui import wording
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.dialogs import AskChoice, AskText, Choice
from rag_audit.tui.widgets.passage import Section

if TYPE_CHECKING:
    from rag_audit.importers.importing import Imported, Refused
    from rag_audit.importers.mapping import FieldMap

RUN_FORMS = (
    Choice("c", "csv", "csv: one row a question, for spreadsheets"),
    Choice("h", "html", "html: one page to read and print"),
    Choice("j", "jsonl", "jsonl: what import reads back"),
    Choice("m", "md", "md: a summary for a pull request"),
    Choice("u", "junit", "junit: for a build server"),
    Choice("a", "audit", "the audit pack: decisions with all their evidence, as a folder"),
)
DIFF_FORMS = (
    Choice("t", "text", "text: as the command line prints it"),
    Choice("h", "html", "html: one page to read and print, both answers side by side"),
    Choice("m", "md", "md: for a pull request"),
    Choice("u", "junit", "junit: for a build server"),
)
_SUFFIX = {"text": "txt", "junit": "xml"}


def export_run(screen: ReviewScreen, run: RunSummary) -> None:
    """Ask for form and file, then write the run."""
    _ask(
        screen,
        f"Export {wording.run_name(run)} as",
        RUN_FORMS,
        _file_name(wording.run_name(run)),
        lambda form, path: (
            screen.source.export_audit(run, path) if form == "audit" else screen.source.export_run(run, form, path)
        ),
    )


def export_diff(screen: ReviewScreen, before: RunSummary, after: RunSummary) -> None:
    """Ask for form and file, then write the diff."""
    name = f"{wording.run_name(before)}-{wording.run_name(after)}"
    _ask(
        screen,
        "Export the diff as",
        DIFF_FORMS,
        _file_name(name),
        lambda form, path: screen.source.export_diff(before, after, form, path),
    )


def _file_name(name: str) -> str:
    """A run's name as a file name."""
    return "".join(character if character.isalnum() or character in "-_." else "-" for character in name)


def _ask(
    screen: ReviewScreen, title: str, forms: Sequence[Choice], name: str, write: Callable[[str, str], str]
) -> None:
    def formed(form: str | None) -> None:
        if form is None:
            return
        suggestion = f"{name}.{_SUFFIX.get(form, form)}"

        def named(path: str | None) -> None:
            if path and path.strip():
                screen.fetch(
                    lambda: write(form, path.strip()), lambda where: screen.say(f"Written: {where}"), group="export"
                )

        hint = "a relative path starts at the project; an existing file is replaced"
        screen.app.push_screen(AskText("Write to", value=suggestion, hint=hint), named)

    screen.app.push_screen(AskChoice(title, forms), formed)


def ask_import(screen: ReviewScreen) -> None:
    """Ask for a path, import it, show what became of it; a guessed mapping is used only once it is confirmed."""
    from rag_audit.tui.screens.text import TextScreen

    def show(outcomes: Sequence["Imported | Refused"]) -> None:
        screen.app.push_screen(TextScreen(screen.source, ["import"], lambda: import_sections(outcomes)))

    def named(path: str | None) -> None:
        if path and path.strip():
            screen.say(f"Importing {path.strip()} …")
            screen.fetch(lambda: screen.source.import_path(path.strip()), partial(done, path.strip()), group="import")

    def done(path: str, imported: tuple[Sequence["Imported | Refused"], "FieldMap | None"]) -> None:
        outcomes, guess = imported
        if guess is None:
            show(outcomes)
            return

        def answered(answer: str | None) -> None:
            if answer == "yes":
                screen.fetch(
                    lambda: screen.source.import_path(path, guess)[0], lambda mapped: show(mapped), group="import"
                )
            else:
                show(outcomes)

        choices = [Choice("y", "yes", "import it like this")]
        screen.app.push_screen(
            AskChoice("No file of a known tool. This is a guess:", choices, text=guess.as_options()), answered
        )

    screen.app.push_screen(AskText("File or folder with another tool's results", hint="enter imports it"), named)


def import_sections(outcomes: Sequence["Imported | Refused"]) -> list[Section]:
    """What became of every path: how its rows balance, what was left out, what was refused and why."""
    from rag_audit.importers.importing import Imported

    sections = []
    for outcome in outcomes:
        if isinstance(outcome, Imported):
            lines: list[Line] = [
                [
                    ("✓ imported ", "good"),
                    (wording.run_name(outcome.summary), "strong"),
                    (f"  {outcome.summary.id}", "quiet"),
                ],
                [
                    (f"{outcome.format}: {wording.plural(outcome.file_rows, 'row')} in the file = ", "quiet"),
                    (f"{outcome.rows} in the run + {outcome.left_out_rows} left out; ", "plain"),
                    (wording.plural(outcome.questions, "question"), "plain"),
                ],
                *([(f"! {warning}", "warn")] for warning in outcome.warnings),
            ]
        else:
            lines = [[("✗ refused: ", "bad"), (outcome.why, "plain")], [(outcome.hint, "quiet")]]
        # The path is text, not a title: it wraps where a title would be cut.
        sections.append(section_of([[(outcome.path, "title")], *lines]))
    return sections or [Section("Nothing was found there.", tone="quiet")]
