"""No text of a document, answer, judge or file name reaches the terminal as anything but text."""

import unicodedata
from pathlib import Path

import pytest

from tests.tui.drive import opened, screen_lines, sees, steady
from tests.tui.hostile import hostile_history

WALKS = {
    "runs, trend, help, palette, dialogs": "t escape question_mark escape ctrl+p escape x escape i escape r escape",
    "a run and a question": "enter slash [ / escape enter 2 3 4 5 6 slash x escape",
    "a claim": "enter c v u tab tab tab e escape plus escape y",
    "an audit report": "enter R",
    "a diff": "d 2 3 4 5 6 x escape",
    "a question in two runs": "d 2 enter s 2 3 4",
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
        await sees(pilot, "2 runs")
        for key in WALKS[name].split():
            await pilot.press(key)
            await steady(pilot)
            for line in screen_lines(pilot.app.screen):
                assert not _forbidden(line), f"after {key}: {line!r}"
        assert pilot.app.is_running


BIDI = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u200b\ufeff\u2028\u2029")


async def test_text_that_looks_like_markup_is_shown_as_it_is(hostile_project: Path) -> None:
    async with opened(hostile_project, size=(160, 40)) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "list[0] [a-z]+ [TODO] [not found] [bold]loud")
        await pilot.press("enter")
        await sees(pilot, "[@click=app.quit]quit[/]")
