"""Deciding claims: at full speed, by several people, carried over, undone, with reasons, in queues."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from rag_audit.audit.recording import Act, add_claim, decide_claim
from rag_audit.audit.standing import resolve
from rag_audit.auditing import now, open_case, report_run
from rag_audit.history import History
from rag_audit.model import Decision
from rag_audit.model.settings import Settings
from rag_audit.tui.screens.queues import disputed_keys
from rag_audit.tui.source import Source
from tests.builders import CLAIMS, archive, draw, result, run
from tests.tui.drive import opened, screen_text, sees, wait_until

MANY = 60


async def test_a_driver_at_full_speed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    results = [result(f"Q-{number:03}") for number in range(MANY)]
    history = archive(tmp_path, run("r1", results))
    history.record_sample(draw("r1", [one.question.id for one in results], MANY))
    keys = "vcas" * (MANY * len(CLAIMS) // 4)
    async with opened(tmp_path) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "not decided")
        for key in keys:
            # What a driver does that is faster than any screen: every key is in the queue before the first is handled.
            await pilot.app.screen.run_action(pilot.app.screen.active_bindings[key].binding.action)
        await wait_until(pilot, lambda: len(history.decisions("r1")) >= len(keys), "every decision on disk")
    words = {"v": "verified", "c": "contradicted", "a": "absent", "s": "skip"}
    decisions = history.decisions("r1")
    assert [d.verdict for d in decisions] == [words[key] for key in keys]
    expected = [(one.question.id, claim.id) for one in results for claim in CLAIMS]
    assert [(d.question_id, d.claim_id) for d in decisions] == expected
    assert all(d.blind and d.queue == "sample" for d in decisions)


async def _at_the_claims(pilot: Pilot[None]) -> None:
    await wait_until(pilot, lambda: " run" in screen_text(pilot.app.screen).splitlines()[0], "the runs")
    await sees(pilot, "complete")
    await pilot.press("enter")
    await sees(pilot, "Question number 1?")
    await pilot.press("c")
    await sees(pilot, "not decided")


async def test_undo_goes_back_over_the_whole_session(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await _at_the_claims(pilot)
        await pilot.press("v", "v", "v", "right_square_bracket", "c")
        await wait_until(pilot, lambda: len(history.decisions("r2")) == 4)
        for left in (3, 2, 1, 0):
            await pilot.press("u")
            await wait_until(pilot, partial(_in_force, history, left))
        await sees(pilot, "› c1")
        await pilot.press("u")
        assert len(history.decisions("r2")) == 8


def _in_force(history: History, count: int) -> bool:
    return len(resolve(history.decisions("r2")).in_force) == count


async def test_a_reason_goes_with_the_decision(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await _at_the_claims(pilot)
        await pilot.press("e", *"[why]", "enter")
        await sees(pilot, "reason kept: [why]")
        await pilot.press("v", "p", "e", *" so", "enter")
        await sees(pilot, "[why] so")
        first, second = history.decisions("r2")
        assert (first.reason, second.reason, second.supersedes) == ("[why]", "[why] so", (first.id,))


async def test_a_reason_stays_with_its_claim(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await _at_the_claims(pilot)
        await pilot.press("e", *"why", "enter")
        await sees(pilot, "reason kept: why")
        await pilot.press("right_square_bracket")
        await sees(pilot, "Question number 2?")
        await pilot.press("v")
        await wait_until(pilot, lambda: len(history.decisions("r2")) == 1)
        await pilot.press("left_square_bracket")
        await sees(pilot, "reason kept: why")
        (decision,) = history.decisions("r2")
        assert (decision.question_id, decision.reason) == ("Q-02", None)


def test_the_disputed_queue_holds_what_the_report_calls_disputed(tmp_path: Path) -> None:
    history = archive(tmp_path, run("r1", [result("Q-01"), result("Q-02")]))
    case = open_case(history, history.resolve("r1"), "Q-01")
    for text, verdict, reviewer in (("One.", "absent", "ann"), ("Two.", "verified", "bob")):
        # Numbered m1 both, as in two copies of the history that are merged later.
        history.record(add_claim(case, text, verdict, Act(reviewer, now())))
    source = Source(tmp_path, Settings(), history)
    summary, rows = history.resolve("r1"), source.run("r1").rows
    assert disputed_keys(source, summary, rows) == []
    for verdict, reviewer in (("absent", "ann"), ("skip", "cy"), ("verified", "bob")):
        answer = open_case(history, history.resolve("r1"), "Q-02")
        history.record(decide_claim(answer, "c1", verdict, Act(reviewer, now())))
    assert disputed_keys(source, summary, rows) == [("Q-02", None)]
    assert disputed_keys(source, summary, rows[:1]) == []
    report = report_run(history, history.resolve("r1"))
    assert [question.id for question, _ in report.disputed] == ["Q-02"]


async def test_a_missed_claim_is_added_with_its_verdict(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await _at_the_claims(pilot)
        await pilot.press("plus", *"new fact", "enter", "c")
        await sees(pilot, "+ missed")
        (added,) = history.decisions("r2")
        assert (added.kind, added.claim_id, added.text, added.verdict) == (
            "added_claim",
            "m1",
            "new fact",
            "contradicted",
        )


async def test_reviewers_differ_and_one_settles_it(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path, reviewer="grace") as pilot:
        await _at_the_claims(pilot)
        await pilot.press("c")
        await wait_until(pilot, lambda: len(history.decisions("r2")) == 1)
    async with opened(tmp_path) as pilot:
        await _at_the_claims(pilot)
        await sees(pilot, "grace  ✗ contradicted")
        await pilot.press("v", "p")
        await sees(pilot, "≠ disputed")
        await pilot.press("D", "v")
        await wait_until(pilot, lambda: len(history.decisions("r2")) == 3)
        assert history.decisions("r2")[-1].kind == "adjudication"
        await sees(pilot, "you    ✓ verified  informed, settles the dispute")
        await pilot.press("escape")
        await sees(pilot, "Question number 1?")


async def test_an_earlier_decision_is_offered_and_kept_as_carried(tmp_path: Path) -> None:
    results = [result("Q-01", text="Question number 1?")]
    history = archive(
        tmp_path, run("r1", results), run("r2", results, started_at="2026-11-30T08:00:00Z", label="again")
    )
    earlier = history.record(_decision("r1", history))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "complete")
        await pilot.press("enter")
        await sees(pilot, "Question number 1?")
        await pilot.press("A")
        await sees(pilot, "in another run: 1")
        await pilot.press("c")
        await sees(pilot, "you, in r1  ○ absent  K keeps it")
        await pilot.press("K")
        await sees(pilot, "1/3 decided")
        (kept,) = history.decisions("r2")
        assert (kept.verdict, kept.carried_from, kept.blind) == ("absent", earlier.id, False)


def _decision(run_id: str, history: History) -> Decision:
    case = open_case(history, history.resolve(run_id), "Q-01")
    return decide_claim(case, "c1", "absent", Act("ada", "2026-11-29T22:00:00Z"))


async def test_the_flagged_queue_names_its_flags(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "Question number 1?")
        await pilot.press("A")
        await sees(pilot, "cites the source: 2")
        await sees(pilot, "1 question of the sample wait")
        await pilot.press("1")
        await sees(pilot, "flagged  1/2")
        await pilot.press("f")
        await sees(pilot, "! cites the source")
        await pilot.press("c")
        await wait_until(pilot, lambda: len(history.decisions("r2")) == 1)
        assert history.decisions("r2")[0].queue == "flagged"


async def test_progress_and_time_left_stay_beside_the_last_decision(tmp_path: Path) -> None:
    history = archive(tmp_path, run("r1", [result("Q-01"), result("Q-02")]))
    history.record_sample(draw("r1", ["Q-01", "Q-02"], 2))
    async with opened(tmp_path, size=(120, 40)) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "sample of 2 questions: 0/6 claims decided")
        await pilot.press("v", "v", "v")
        await sees(pilot, "u undo   3/6 claims decided")
        await sees(pilot, " a claim, ")


async def test_a_sample_is_drawn_on_request(tmp_path: Path) -> None:
    history = archive(tmp_path, run("r1", [result(f"Q-{number:02}") for number in range(20)]))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "No sample was drawn")
        await pilot.press("y")
        await sees(pilot, "◌ blind")
        (sample,) = history.samples("r1")
        assert len(sample.questions) == 2


async def test_scores_are_given_where_the_draw_asks_for_them(tmp_path: Path) -> None:
    history = archive(tmp_path, run("r1", [result("Q-01")]))
    history.record_sample(replace(draw("r1", ["Q-01"], 1), target=("claims", "scores")))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "faith ·")
        await pilot.press("8", "t")
        await wait_until(pilot, lambda: len(history.decisions("r1")) == 2)
        assert [(d.metric, d.value, d.blind) for d in history.decisions("r1")] == [
            ("faithfulness", 8.0, True),
            ("completeness", 10.0, True),
        ]


async def test_the_reviewer_is_asked_once(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path, reviewer=None) as pilot:
        await _at_the_claims(pilot)
        await pilot.press("v")
        await sees(pilot, "Your name as the reviewer")
        await pilot.press(*"lin", "enter")
        await sees(pilot, "1/3 decided")
        await pilot.press("v")
        await sees(pilot, "2/3 decided")
        assert {d.reviewer for d in history.decisions("r2")} == {"lin"}
