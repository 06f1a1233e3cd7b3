"""Starting a run from the screen, watching it, stopping it, finishing it; importing and exporting."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from rag_audit.history import History
from rag_audit.tui.screens.evaluation import EvaluationScreen
from tests.tui.drive import opened, screen_text, sees, wait_until

QUESTIONS = """
- id: P-1
  question: What is the default of pump_delay_ms?
  reference_answer: 12 ms
  doc_id: unit/pump
  keywords: [12 ms]
- id: P-2
  question: At what speed does the pump run?
  reference_answer: 3000 rpm
  doc_id: unit/pump
  keywords: [3000 rpm]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "documents" / "unit").mkdir(parents=True)
    (tmp_path / "documents" / "config.yml").write_text("embedder: none\nretriever.mode: bm25\n")
    (tmp_path / "documents" / "unit" / "pump.md").write_text(
        "# Pump\n\nThe default of `pump_delay_ms` is 12 ms.\n\nThe pump runs at 3000 rpm.\n"
    )
    (tmp_path / "questions.yml").write_text(QUESTIONS)
    return tmp_path


async def test_a_run_is_started_watched_and_opened(project: Path) -> None:
    async with opened(project) as pilot:
        await sees(pilot, "No runs yet")
        await pilot.press("r", *"first", "enter", *"seed=3", "enter")
        await sees(pilot, "● complete")
        await sees(pilot, "2/2")
        (run,) = History(project).summaries()
        assert (run.label, run.questions) == ("first", 2)
        await pilot.press("enter")
        await sees(pilot, "What is the default of")
        await pilot.press("escape", "escape")
        await sees(pilot, "1 run")
        await sees(pilot, "› first")


async def test_a_wrong_setting_is_an_error_with_a_hint(project: Path) -> None:
    async with opened(project) as pilot:
        await sees(pilot, "No runs yet")
        await pilot.press("r", "enter", *"retriever.top_kk=3", "enter")
        await sees(pilot, "error: ")
        await sees(pilot, "hint: ")
        assert "✗ failed" in screen_text(pilot.app.screen)
        assert History(project).summaries() == []


async def _import(pilot: Pilot[None], path: Path) -> None:
    await pilot.press("i")
    await sees(pilot, "File or folder")
    pilot.app.screen.query_one(Input).value = str(path)
    await pilot.press("enter")


async def test_results_of_other_tools_are_imported_with_their_balance(project: Path) -> None:
    (project / "plain.jsonl").write_text(
        '{"run": {"label": "from elsewhere"}}\n'
        '{"id": "a", "question": "Why?", "answer": "Because.", "scores": {"mrr": 1}}\n'
    )
    (project / "nothing.bin").write_bytes(b"\x00\x01")
    async with opened(project) as pilot:
        await sees(pilot, "No runs yet")
        await _import(pilot, project / "plain.jsonl")
        await sees(pilot, "✓ imported from elsewhere")
        await sees(pilot, "1 row in the file = 1 in the run + 0 left out")
        await pilot.press("escape")
        await sees(pilot, "from elsewhere")
        await _import(pilot, project / "nothing.bin")
        await sees(pilot, "✗ refused")


async def test_a_run_is_exported(project: Path) -> None:
    async with opened(project) as pilot:
        await sees(pilot, "No runs yet")
        await pilot.press("r", *"one", "enter", "enter")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, EvaluationScreen), "the run's screen")
        await sees(pilot, "● complete")
        await pilot.press("escape")
        await sees(pilot, "1 run")
        await pilot.press("x", "c", "enter")
        await wait_until(pilot, lambda: (project / "one.csv").exists(), "the file")
        await pilot.press("x", "a", "enter")
        await wait_until(pilot, lambda: (project / "one.audit").is_dir(), "the audit pack")


async def test_a_guessed_mapping_is_used_when_it_is_confirmed(project: Path) -> None:
    (project / "own.csv").write_text("id,question,answer,mrr\n1,Why is it so?,Because it is.,1\n2,How?,Like this.,0\n")
    async with opened(project) as pilot:
        await sees(pilot, "No runs yet")
        await _import(pilot, project / "own.csv")
        await sees(pilot, "This is a guess")
        assert History(project).summaries() == []
        await pilot.press("y")
        await sees(pilot, "✓ imported")
        assert [run.questions for run in History(project).summaries()] == [2]
