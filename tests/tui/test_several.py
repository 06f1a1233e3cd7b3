"""Three runs by question on the screen, and what a run that has not ended shows."""

from pathlib import Path

from rag_audit.history import History
from tests.builders import archive, draw, result, run
from tests.tui.drive import loses, opened, screen_text, sees


def three_runs(project: Path) -> History:
    """Q-01 breaks in hit@1 at the second run and stays broken; Q-02 never does."""
    return archive(
        project,
        *(
            run(
                f"r{n}",
                [
                    result("Q-01", relevant=n == 1, answer=f"Answer {n}.", faithfulness=8 if n == 1 else 3),
                    result("Q-02", answer="Same."),
                ],
                label=f"run-{n}",
                started_at=f"2026-11-30T0{n}:00:00Z",
            )
            for n in (1, 2, 3)
        ),
    )


async def test_marked_runs_are_followed_to_where_a_question_broke(tmp_path: Path) -> None:
    three_runs(tmp_path)
    async with opened(tmp_path) as pilot:
        await sees(pilot, "3 runs")
        await pilot.press("b")
        await pilot.press("m", "j", "m", "j")
        await sees(pilot, "2 marked: b follows them")
        await pilot.press("b")
        await sees(pilot, "1 of 2 questions broke")
        lines = screen_text(pilot.app.screen).splitlines()
        (broken,) = (line for line in lines if "Q-01" in line)
        assert broken.split() == ["›", "Q-01", "▼", "[2]", "unknown", "1", "0", "0"]
        assert any("[2] run-2  mean 0.500 of 2" in line for line in lines)
        await pilot.press("enter")
        await sees(pilot, "run-1 → run-2 › Q-01")
        await pilot.press("escape", "tab")
        await loses(pilot, "hit_at_1")


async def test_a_question_that_waits_gives_nothing_away(tmp_path: Path) -> None:
    three_runs(tmp_path).record_sample(draw("r2", ["Q-01"], 2))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "3 runs")
        await pilot.press("m", "j", "m", "j", "b")
        await sees(pilot, "hit_at_1")
        for _ in range(9):
            if "faithfulness" in screen_text(pilot.app.screen).splitlines()[0]:
                break
            await pilot.press("tab")
        await sees(pilot, "faithfulness")
        await sees(pilot, "0 of 2 questions broke")
        (waiting,) = (
            line for line in screen_text(pilot.app.screen).splitlines() if "  Q-01" in line or "› Q-01" in line
        )
        assert waiting.split()[-4:] == ["blind", "8", "blind", "3"]


async def test_a_run_that_has_not_ended_shows_what_it_measured(history: History, tmp_path: Path) -> None:
    archived, results = run("r3", [result(f"Q-0{n}") for n in (1, 2)], label="half", started_at="2026-12-01T08:00:00Z")
    writer = history.start(archived.summary, [("Q-01", None), ("Q-02", None)])
    writer.append(results[0])
    async with opened(tmp_path) as pilot:
        await sees(pilot, "› half")
        await sees(pilot, "1/2")
        await pilot.press("enter")
        await sees(pilot, "1 of 2 finished")
        assert "hit@1" in screen_text(pilot.app.screen)


async def test_tab_leads_to_the_text_beside_the_list(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "generator offline")
        await pilot.press("tab", "end")
        await sees(pilot, "flags ")
        await pilot.press("tab", "j", "enter")
        await sees(pilot, "chunks-800")
