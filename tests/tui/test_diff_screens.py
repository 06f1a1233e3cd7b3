"""A diff on the screen: every number leads to the questions behind it, and those to both texts."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

import rag_audit.tui.screens.pair
from rag_audit.history import History
from rag_audit.model import UNKNOWN, QuestionResult, Route
from rag_audit.model.settings import Settings
from rag_audit.tui import wording
from rag_audit.tui.blindness import Blind
from rag_audit.tui.diff_rows import counts_of, rows_of
from rag_audit.tui.pair_views import answer_unified
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.passage import Section
from tests.builders import archive, result, run
from tests.tui.drive import loses, opened, screen_text, sees


@pytest.fixture
def two_runs(tmp_path: Path) -> History:
    """Q-01 falls in hit@1, Q-02 in faithfulness and answer, Q-03 stays."""
    before = [result(f"Q-0{n}", faithfulness=8) for n in (1, 2, 3)]
    after = [result("Q-01", relevant=False, faithfulness=8), result("Q-02", answer="Other.", faithfulness=2), before[2]]
    return archive(
        tmp_path,
        run("r1", before, label="one"),
        run("r2", after, label="two", started_at="2026-11-30T08:00:00Z"),
    )


def test_the_questions_are_all_listed_the_unchanged_ones_last(two_runs: History, tmp_path: Path) -> None:
    source = Source(tmp_path, Settings(), two_runs, reviewer="ada")
    compared = (source.diff("r1", "r2"), source.run("r1"), source.run("r2"), Blind())
    rows = rows_of("questions", *compared)
    assert {row.question_id for row in rows} == {"Q-01", "Q-02", "Q-03"}
    assert rows[-1].cells[0][0] == "= unchanged"
    assert rows[-1].question_id == "Q-03"
    assert counts_of(*compared)["questions"] == 3


async def test_a_metric_opens_the_questions_that_moved_it_and_escape_leads_back(
    two_runs: History, tmp_path: Path
) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("d")
        await sees(pilot, "hit_at_1")
        await pilot.press("enter")
        await sees(pilot, "behind hit_at_1")
        text = screen_text(pilot.app.screen)
        assert "Q-01" in text
        assert "Q-02" not in text
        await pilot.press("escape")
        await sees(pilot, "verdict")
        await loses(pilot, "behind")
        await pilot.press("6")
        await sees(pilot, "new-unit")
        await pilot.press("enter")
        await sees(pilot, "behind new-unit")


async def test_a_setting_opens_with_its_whole_value(tmp_path: Path) -> None:
    archived, results = run("r2", [result()], started_at="2026-11-30T08:00:00Z")
    long = "Answer briefly. " * 60 + "THE END"
    context = replace(archived.summary.context, settings={"prompt": long})
    other = replace(archived, summary=replace(archived.summary, context=context))
    archive(tmp_path, run("r1", [result()]), (other, results))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("d", "4")
        await sees(pilot, "prompt")
        await pilot.press("enter", "end")
        await sees(pilot, "THE END")


def _imported(one: QuestionResult) -> QuestionResult:
    chunks = tuple(replace(r, chunk=replace(r.chunk, corpus=UNKNOWN)) for r in one.retrieved)
    return replace(one, route=Route((), "imported"), retrieved=chunks, scores={"azure.gpt_groundedness": 4.0})


async def test_what_an_import_does_not_know_is_not_named(tmp_path: Path) -> None:
    archive(
        tmp_path,
        run("r1", [_imported(result())]),
        run("r2", [_imported(result(answer="Other."))], started_at="2026-11-30T08:00:00Z"),
    )
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("d", "2")
        await sees(pilot, "Q-01")
        await pilot.press("enter")
        await sees(pilot, "reference answer")
        await pilot.press("2")
        await sees(pilot, "new-unit/valve")
        assert "[unknown]" not in screen_text(pilot.app.screen)
        await pilot.press("4")
        await sees(pilot, "route unknown")


async def test_long_answers_are_compared_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def compare(before: QuestionResult | None, after: QuestionResult | None) -> list[Section]:
        threads.append(threading.get_ident())
        return answer_unified(before, after)

    monkeypatch.setattr(rag_audit.tui.screens.pair, "answer_unified", compare)
    long = " ".join(f"word{number}" for number in range(1200))
    archive(
        tmp_path,
        run("r1", [result(answer=f"first {long}")]),
        run("r2", [result(answer=f"second {long}")], started_at="2026-11-30T08:00:00Z"),
    )
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("d", "2", "enter")
        await sees(pilot, "first second word0")
    assert threads
    assert threading.get_ident() not in threads


def test_headings_keep_the_tool_where_two_would_read_the_same() -> None:
    assert wording.headings(["hit_at_1", "azure.groundedness"]) == {
        "hit_at_1": "hit@1",
        "azure.groundedness": "groundedness",
    }
    assert wording.headings(["ragas.faithfulness", "deepeval.faithfulness"]) == {
        "ragas.faithfulness": "ragas.faithfulness",
        "deepeval.faithfulness": "deepeval.faithfulness",
    }


async def test_a_run_without_corpora_is_not_sorted_by_them(tmp_path: Path) -> None:
    archive(tmp_path, run("r1", [_imported(result(corpus=UNKNOWN))]))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("enter")
        await sees(pilot, "Q-01")
        await pilot.press("s", "s")
        await sees(pilot, "by gpt_groundedness")
        assert "by corpus" not in screen_text(pilot.app.screen)
