"""From the runs to a decision and back, by keys alone."""

from pathlib import Path

from rag_audit.history import History
from rag_audit.tui.screens.runs import RunsScreen
from tests.builders import archive, result, run
from tests.tui.drive import loses, opened, screen_text, sees, wait_until


async def test_runs_open_down_to_a_claim_and_back(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "chunks-1200")
        await sees(pilot, "hybrid top 5")
        await pilot.press("enter")
        await sees(pilot, "Question number 1?")
        await pilot.press("enter")
        await sees(pilot, "reference answer")
        await pilot.press("c")
        await sees(pilot, "not decided")
        assert "84 degrees" in screen_text(pilot.app.screen)
        for _ in range(3):
            await pilot.press("escape")
        await sees(pilot, "2 runs")


async def test_escape_does_nothing_at_the_root(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("escape", "escape")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert pilot.app.is_running


async def test_q_quits(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("q")
        await wait_until(pilot, lambda: not pilot.app.is_running, "the end")


async def test_a_decision_is_one_key_and_on_disk(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "Question number 1?")
        await pilot.press("c")
        await sees(pilot, "not decided")
        await pilot.press("v")
        await sees(pilot, "1/3 decided")
        (decision,) = history.decisions("r2")
        assert (decision.question_id, decision.claim_id, decision.verdict) == ("Q-01", "c1", "verified")
        assert (decision.blind, decision.informed, decision.reviewer) == (False, True, "ada")
        await pilot.press("space")
        await sees(pilot, "2/3 decided")
        assert history.decisions("r2")[-1].verdict == "contradicted"
        await pilot.press("u")
        await sees(pilot, "1/3 decided")
        assert [d.kind for d in history.decisions("r2")] == ["verdict", "verdict", "undo"]


async def test_a_decision_that_cannot_be_written_is_not_shown(history: History, tmp_path: Path) -> None:
    (tmp_path / "history" / "audits").write_text("a file where a folder should be")
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "Question number 1?")
        await pilot.press("c")
        await sees(pilot, "not decided")
        await pilot.press("v")
        await wait_until(pilot, lambda: len(pilot.app._notifications) > 0, "an error message")
        assert "0/3 decided" in screen_text(pilot.app.screen)


async def test_filter_and_sort(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "Question number 3?")
        await pilot.press("slash", *"number")
        await pilot.press("space", "3", "enter")
        await loses(pilot, "Question number 1?")
        await pilot.press("escape")
        await sees(pilot, "Question number 1?")


async def test_a_run_that_is_named_is_opened_and_escape_leads_to_the_list(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path, run="r1") as pilot:
        await sees(pilot, "Question number 1?")
        await sees(pilot, "chunks-800")
        await pilot.press("escape")
        await sees(pilot, "› chunks-800")


async def test_the_two_sides_scroll_together(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(900))
    archive(
        tmp_path,
        run("r1", [result("Q-01", answer=f"first {long}")]),
        run("r2", [result("Q-01", answer=f"second {long}")], started_at="2026-11-30T08:00:00Z"),
    )
    async with opened(tmp_path, size=(120, 40)) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("d", "2", "enter")
        await sees(pilot, "first word0")
        await sees(pilot, "second word0")
        await pilot.press("pagedown")
        await loses(pilot, "second word0")
        assert "first word0" not in screen_text(pilot.app.screen)
        await pilot.press("home", "s")
        await sees(pilot, "first second word0")
