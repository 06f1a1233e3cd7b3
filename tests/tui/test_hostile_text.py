"""No text of a document, answer, judge or file name reaches the terminal as anything but text."""

import unicodedata
from pathlib import Path
from time import monotonic

import pytest

from rag_audit.attempt import Watcher
from rag_audit.errors import ConfigError
from rag_audit.history import History
from rag_audit.importers.importing import Imported, Refused
from rag_audit.model import RunSummary
from rag_audit.model.settings import Settings
from rag_audit.tui.evaluation import Evaluation
from rag_audit.tui.screens.evaluation import EvaluationScreen
from rag_audit.tui.screens.export import import_sections
from rag_audit.tui.screens.text import TextScreen
from rag_audit.tui.source import Source
from tests.tui.drive import opened, screen_lines, screen_text, sees, steady
from tests.tui.hostile import ALL, HOSTILE, hostile_history

WALKS = {
    "runs, trend, help, palette, dialogs": "t escape question_mark escape ctrl+p escape x escape i escape r escape",
    "a run and a question": "enter slash [ / escape enter 2 3 4 5 6 slash x escape",
    "a claim": "enter c v u tab tab tab e escape plus escape y",
    "an audit report": "enter R",
    "a diff": "d 2 3 4 5 6 x escape",
    "a question in two runs": "d 2 enter s 2 3 4",
    "a number's questions": "d enter escape 6 enter",
    "three runs": "m j m j b tab slash x escape enter",
    "queues": "enter A escape A 1",
}


@pytest.fixture(scope="module")
def hostile_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("hostile")
    hostile_history(project)
    return project


def _forbidden(line: str) -> set[str]:
    return {hex(ord(c)) for c in line if unicodedata.category(c) in {"Cc", "Cs"} or c in BIDI}


@pytest.mark.parametrize("name", WALKS)
async def test_no_control_character_reaches_the_screen(hostile_project: Path, name: str) -> None:
    async with opened(hostile_project, size=(100, 30)) as pilot:
        await sees(pilot, "3 runs")
        for key in WALKS[name].split():
            await pilot.press(key)
            await steady(pilot)
            for line in screen_lines(pilot.app.screen):
                assert not _forbidden(line), f"after {key}: {line!r}"
        assert pilot.app.is_running


async def test_a_run_under_way_and_an_import_are_shown_as_text(hostile_project: Path) -> None:
    async def never(watch: Watcher) -> RunSummary:
        raise AssertionError("not started")

    async with opened(hostile_project, size=(100, 30)) as pilot:
        await sees(pilot, "3 runs")
        source = Source(hostile_project, Settings(), History(hostile_project), reviewer="ada")
        going = Evaluation(never, done=1, total=2, run_id=ALL, note=ALL)
        going.recent.extend([*HOSTILE, ALL])
        failed = Evaluation(never, error=ConfigError(ALL, ALL), ended=monotonic())
        done = Evaluation(never, run_id="r1", summary=source.runs()[0], ended=monotonic())
        outcomes: list[Imported | Refused] = [
            Refused(ALL, ALL, ALL),
            Imported(ALL, ALL, source.runs()[0], ALL, 2, 2, False, 3, (), 1, (ALL,)),
        ]
        for screen in (
            *(EvaluationScreen(source, one) for one in (going, failed, done)),
            TextScreen(source, ["import", ALL], lambda: import_sections(outcomes)),
        ):
            await pilot.app.push_screen(screen)
            await steady(pilot)
            assert "[@click=app.quit]quit[/]" in screen_text(pilot.app.screen)
            for line in screen_lines(pilot.app.screen):
                assert not _forbidden(line), repr(line)


BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u200b\ufeff\u2028\u2029")


async def test_text_that_looks_like_markup_is_shown_as_it_is(hostile_project: Path) -> None:
    async with opened(hostile_project, size=(160, 40)) as pilot:
        await sees(pilot, "3 runs")
        await pilot.press("enter")
        await sees(pilot, "list[0] [a-z]+ [TODO] [not found] [bold]loud")
        await pilot.press("enter")
        await sees(pilot, "[@click=app.quit]quit[/]")
