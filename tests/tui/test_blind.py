"""While blind nothing of the judge's verdict is on the screen; the reveal follows the decision."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.history import History
from rag_audit.metrics import score_question
from rag_audit.model import Claim, Flag, FlagName, JudgeCall, QuestionResult, Span, Support, Verdict
from rag_audit.tui.blindness import blind_of
from tests.audit.making import verdict_of
from tests.builders import CLAIMS, archive, draw, result, run
from tests.tui.drive import opened, screen_text, sees, steady

KEYS_THAT_LOOK_AROUND = ("n", "tab", "tab", "tab", "tab", "o", "space", "f")


def other_judge(original: QuestionResult) -> QuestionResult:
    """The same answer and excerpt under a judge that says otherwise."""
    flipped = {
        Verdict.VERIFIED: Verdict.CONTRADICTED,
        Verdict.CONTRADICTED: Verdict.ABSENT,
        Verdict.ABSENT: Verdict.VERIFIED,
    }
    judgment = original.claim_judgment
    assert judgment is not None
    claims = tuple(
        replace(
            claim,
            verdict=flipped[claim.verdict],
            evidence="After a fault",
            evidence_spans=(Span("context", 3, 20),),
            support=Support.CONTEXT,
            reason="quite another reason",
        )
        for claim in judgment.claims
    )
    flags = (Flag(FlagName.ABSENT_BUT_PRESENT, "it is there", "c1", ("12 ms",)), Flag(FlagName.SKIPPED_LOOKUP, "hm"))
    calls = (JudgeCall("claims", "the same prompt", "another reply", "offline"),)
    return replace(original, claim_judgment=replace(judgment, claims=claims), flags=flags, judge_calls=calls)


def project_of(folder: Path, results: Sequence[QuestionResult]) -> Path:
    history = archive(folder, run("r1", results, label="release"))
    history.record_sample(draw("r1", [one.question.id for one in results], len(results)))
    return folder


async def painted(project: Path, size: tuple[int, int]) -> list[str]:
    """Every screen on the way into the blind queue and around it, before any decision."""
    screens = []
    async with opened(project, size=size) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("enter")
        await sees(pilot, "blind")
        await sees(pilot, "reference")
        screens.append(await steady(pilot))
        await pilot.press("f")
        screens.append(await steady(pilot))
        await pilot.press("f")
        await pilot.press("a")
        await sees(pilot, "not decided")
        for key in KEYS_THAT_LOOK_AROUND:
            await pilot.press(key)
            screens.append(await steady(pilot))
    return screens


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_runs_that_differ_only_in_the_judges_side_look_the_same(tmp_path: Path, size: tuple[int, int]) -> None:
    results = [result("Q-1"), result("Q-2", claims=[replace(one, id=f"c{n}") for n, one in enumerate(CLAIMS, 1)])]
    first = project_of(tmp_path / "one" / "engine", results)
    second = project_of(tmp_path / "two" / "engine", [other_judge(one) for one in results])
    assert await painted(first, size) == await painted(second, size)


async def compared(project: Path, size: tuple[int, int]) -> list[str]:
    """What is painted of the difference with an earlier run, before any decision; aggregates are left out."""
    screens = []
    async with opened(project, size=size) as pilot:
        await sees(pilot, "2 runs")
        await pilot.press("enter")
        await sees(pilot, "reference")
        await pilot.press("w")
        screens.append(await steady(pilot))
        await pilot.press("w", "d")
        await sees(pilot, "r0 → r1")
        for key in ("2", "3"):
            await pilot.press(key)
            screens.append(await steady(pilot))
        await pilot.press("2", "enter")
        await sees(pilot, "answers")
        for key in ("1", "2", "3", "4"):
            await pilot.press(key)
            screens.append(await steady(pilot))
    return screens


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_diff_does_not_say_which_way_the_judge_moved(tmp_path: Path, size: tuple[int, int]) -> None:
    results = [result(f"Q-{number}") for number in range(3)]
    seen = []
    for name, later in (("same", results), ("moved", [rescored(other_judge(one)) for one in results])):
        project = tmp_path / name / "engine"
        history = archive(
            project,
            run("r0", results),
            run("r1", later, started_at="2026-11-30T08:00:00Z"),
        )
        history.record_sample(draw("r1", [one.question.id for one in results], len(results)))
        seen.append(await compared(project, size))
    assert seen[0] == seen[1]


def rescored(judged: QuestionResult) -> QuestionResult:
    """The result with the scores that its judges' sides give."""
    assert judged.score_judgment is not None
    scores = replace(judged.score_judgment, faithfulness=2, justification="quite bad")
    claims = judged.claim_judgment
    assert claims is not None
    one = replace(claims, claims=tuple(replace(c, verdict=Verdict.VERIFIED) for c in claims.claims))
    changed = replace(judged, score_judgment=scores, claim_judgment=one)
    values, missing = score_question(changed)
    return replace(changed, scores=values, missing=missing)


async def test_the_reveal_follows_the_decision(tmp_path: Path) -> None:
    project = project_of(tmp_path, [result("Q-1")])
    async with opened(project) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "◌ blind")
        assert "contradicted" not in _desk(screen_text(pilot.app.screen))
        await pilot.press("v", "v")
        await sees(pilot, "2/3 decided")
        await sees(pilot, "judge ✗ contradicted  ≠ differs")
        assert "✗ contradicted" in _desk(screen_text(pilot.app.screen))


async def test_a_slip_undone_at_once_is_void_and_blind_still(tmp_path: Path) -> None:
    project = project_of(tmp_path, [result("Q-1")])
    async with opened(project) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "not decided")
        await pilot.press("c", "u")
        await sees(pilot, "taken back")
        await pilot.press("v")
        await sees(pilot, "1/3 decided")
        slip, undo, decision = History(project).decisions("r1")
        assert (slip.blind, undo.kind, undo.informed) == (True, "undo", False)
        assert (decision.verdict, decision.blind, decision.informed) == ("verified", True, False)


async def test_after_turning_blind_off_decisions_are_informed(tmp_path: Path) -> None:
    project = project_of(tmp_path, [result("Q-1")])
    async with opened(project) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "◌ blind")
        await pilot.press("b")
        await sees(pilot, "✗ contradicted")
        await pilot.press("b", "v")
        await sees(pilot, "1/3 decided")
        (decision,) = History(project).decisions("r1")
        assert (decision.blind, decision.informed) == (False, True)


async def test_what_was_seen_stays_seen_on_the_next_screen(tmp_path: Path) -> None:
    project = project_of(tmp_path, [result("Q-1")])
    async with opened(project) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "◌ blind")
        await pilot.press("b")
        await sees(pilot, "✗ contradicted")
        await pilot.press("escape")
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "not decided")
        await pilot.press("v")
        await sees(pilot, "1/3 decided")
        (decision,) = pilot.app.screen.source.history.decisions("r1")  # type: ignore[attr-defined]
        assert (decision.blind, decision.informed) == (False, True)


async def test_the_score_judges_reply_waits_for_the_scores(tmp_path: Path) -> None:
    reply = JudgeCall("scores", "the prompt", "faithfulness seven", "offline")
    history = archive(tmp_path, run("r1", [replace(result("Q-1", claims=()), judge_calls=(reply,))]))
    history.record_sample(replace(draw("r1", ["Q-1"], 1), target=("scores",)))
    async with opened(tmp_path) as pilot:
        await sees(pilot, "1 run")
        await pilot.press("a")
        await sees(pilot, "◌ blind")
        await pilot.press("tab", "tab", "tab")
        assert "seven" not in await steady(pilot)
        await pilot.press("8", "9", "tab", "tab", "tab", "tab")
        await sees(pilot, "faithfulness seven")


def test_a_question_waits_for_each_of_its_own_claims_and_scores() -> None:
    archived, _ = run("r1", [result("Q-1")])
    claims, both = draw("r1", ["Q-1"], 1), replace(draw("r1", ["Q-1"], 1), target=("claims", "scores"))
    decided = [verdict_of("Q-1", f"c{number}", "verified", "ada") for number in (1, 2)]
    added = verdict_of("Q-1", "m1", "absent", "ada")
    score = verdict_of("Q-1", "", "skip", "ada", kind="score", metric="faithfulness")
    last = verdict_of("Q-1", "c3", "verified", "ada")
    settled = verdict_of("Q-1", "c3", "absent", "eve", kind="adjudication", supersedes=last.id)
    for sample, decisions, waits in (
        (claims, [*decided, added], True),
        (claims, [*decided, score], True),
        (both, [*decided, last, score], True),
        (claims, [*decided, last], False),
        (claims, [*decided, last, settled], False),
    ):
        found = blind_of(sample, archived.rows, decisions, "ada")
        assert (found.questions == {"Q-1"}) is waits
    assert blind_of(claims, archived.rows, [*decided, last], "bob").questions == {"Q-1"}


def _desk(text: str) -> str:
    """The screen without the lines that name keys."""
    return "\n".join(line for line in text.splitlines() if "c contradicted" not in line)


def test_the_other_judge_differs_in_everything_a_screen_could_leak() -> None:
    one, two = result(), other_judge(result())
    assert one.claim_judgment is not None
    assert two.claim_judgment is not None
    pairs: list[tuple[Claim, Claim]] = list(zip(one.claim_judgment.claims, two.claim_judgment.claims, strict=True))
    assert all(a.verdict is not b.verdict and a.evidence_spans != b.evidence_spans for a, b in pairs)
    assert one.flags != two.flags
