"""The screens as text at two sizes, kept beside the tests; `RAG_AUDIT_GOLDENS=write` writes them anew."""

import os
from pathlib import Path

import pytest

from rag_audit.history import History
from tests.tui.drive import opened, screen_text, steady

GOLDENS = Path(__file__).parent / "goldens"
WALKS = {
    "runs": "",
    "run": "enter",
    "question": "enter enter",
    "retrieved": "enter enter 2",
    "claims": "enter c",
    "claims-blind": "a",
    "diff": "d",
    "diff-questions": "d 2",
    "pair": "d 2 enter",
    "help": "enter c question_mark",
}

LAID_OUT_ANEW = ("runs", "run", "claims", "diff", "pair")
"""The screens that look different where there is room."""


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screens(history: History, tmp_path: Path, size: tuple[int, int]) -> None:
    project = tmp_path / "engine"
    project.mkdir()
    (tmp_path / "history").rename(project / "history")
    wrong = []
    async with opened(project, size=size) as pilot:
        await steady(pilot)
        for name, keys in WALKS.items():
            if size[0] > 80 and name not in LAID_OUT_ANEW:
                continue
            for key in keys.split():
                await pilot.press(key)
                await steady(pilot)
            text = screen_text(pilot.app.screen).rstrip() + "\n"
            golden = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
            if os.environ.get("RAG_AUDIT_GOLDENS") == "write":
                GOLDENS.mkdir(exist_ok=True)
                golden.write_text(text, encoding="utf-8")
            elif golden.read_text(encoding="utf-8") != text:
                wrong.append(f"{golden.name} is now\n{text}")
            while len(pilot.app.screen_stack) > 1:
                pilot.app.pop_screen()
    assert not wrong, "\n\n".join(wrong)
