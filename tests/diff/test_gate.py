"""When a build must fail, and with which word."""

import pytest

from rag_audit.model import ArchivedRun, RunContext, RunStatus
from tests.diff.made import CONTEXT, diff, result, run


def _run(name: str, value: float, n: int = 12, context: RunContext = CONTEXT) -> ArchivedRun:
    return run(
        name, [result(f"q{at}", scores={"hit_at_1": value}, chunks=[f"{name}{at}"]) for at in range(n)], context=context
    )


def _kinds(before: ArchivedRun, after: ArchivedRun, **options: object) -> list[tuple[str, str | None]]:
    gate = diff(before, after, **options).gate
    assert gate.tripped == bool(gate.reasons)
    return [(reason.kind, reason.metric) for reason in gate.reasons]


def test_nothing_trips_unless_it_is_asked_for() -> None:
    assert _kinds(_run("b", 1.0), _run("a", 0.0)) == []


def test_regression() -> None:
    assert _kinds(_run("b", 1.0), _run("a", 0.0), fail_on=["regression"]) == [("regression", "hit_at_1")]
    assert _kinds(_run("b", 0.0), _run("a", 1.0), fail_on=["regression"]) == []
    assert _kinds(_run("b", 1.0), _run("a", 0.0), fail_on=["regression"], tolerance=1.0) == []


def test_a_regression_of_a_metric_that_is_not_listed_does_not_trip() -> None:
    before = run("b", [result(f"q{at}", scores={"hit_at_1": 1.0, "mrr": 1.0}, chunks=["x"]) for at in range(12)])
    after = run("a", [result(f"q{at}", scores={"hit_at_1": 0.0, "mrr": 1.0}, chunks=["y"]) for at in range(12)])
    assert _kinds(before, after, fail_on=["regression"], only=["mrr"]) == []


def test_unverified_trips_unless_it_is_allowed() -> None:
    before, after = _run("b", 1.0, context=RunContext()), _run("a", 0.0, context=RunContext())
    assert _kinds(before, after, fail_on=["regression"]) == [("not_comparable", "hit_at_1")]
    assert _kinds(before, after, fail_on=["regression"], allow_unverified=True) == [("regression", "hit_at_1")]
    assert _kinds(before, before, fail_on=["regression"], allow_unverified=True) == []


def test_a_changed_judge_trips_both_gates_with_their_words() -> None:
    before = run("b", [result("q", scores={"faithfulness": 8.0})])
    after = run("a", [result("q", scores={"faithfulness": 8.0}, score_judge=("other", "p2"))])
    assert _kinds(before, after, fail_on=["regression"]) == [("not_comparable", "faithfulness")]
    assert _kinds(before, after, fail_on=["judge-change"]) == [("judge_change", "faithfulness")]
    assert _kinds(before, before, fail_on=["judge-change"]) == []


def test_a_judge_nobody_recorded_cannot_be_shown_to_be_the_same() -> None:
    unknown = run("b", [result("q", scores={"faithfulness": 8.0}, score_judge=None)], context=RunContext())
    assert _kinds(unknown, unknown, fail_on=["judge-change"]) == [("not_comparable", "faithfulness")]
    assert _kinds(unknown, unknown, fail_on=["judge-change"], allow_unverified=True) == []


def test_a_metric_that_vanished_trips() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0, "faithfulness": 8.0})])
    after = run("a", [result("q", scores={"hit_at_1": 1.0}, missing={"faithfulness": "not_asked"})])
    assert _kinds(before, after, fail_on=["regression"]) == [("not_comparable", "faithfulness")]


def test_nothing_shared_trips() -> None:
    nothing = run("b", [result("q")])
    assert _kinds(nothing, nothing, fail_on=["regression"]) == [("not_comparable", None)]


def test_incomplete() -> None:
    failed = result("q1", scores={"hit_at_1": None}, missing={"hit_at_1": "timeout"})
    scored = [result("q1", scores={"hit_at_1": 1.0}), result("q2", scores={"hit_at_1": 1.0})]
    broken = [failed, scored[1]]
    assert _kinds(run("b", scored), run("a", broken), fail_on=["incomplete"]) == [("incomplete", "hit_at_1")]
    assert _kinds(run("b", broken), run("a", scored), fail_on=["incomplete"]) == [("incomplete", "hit_at_1")]
    assert _kinds(run("b", scored), run("a", scored), fail_on=["incomplete"]) == []
    interrupted = run("a", scored, status=RunStatus.INTERRUPTED)
    assert _kinds(run("b", scored), interrupted, fail_on=["incomplete"]) == [("incomplete", None)]


def test_too_few_shared_questions_trip() -> None:
    before, after = _run("b", 1.0, n=3), _run("a", 1.0, n=3)
    assert _kinds(before, after, fail_on=["regression"], min_n=3) == []
    assert _kinds(before, after, fail_on=["regression"], min_n=4) == [("incomplete", "hit_at_1")]


def test_all_scores_failed_does_not_pass() -> None:
    after = run("a", [result(f"q{at}", scores={"hit_at_1": None}, missing={"hit_at_1": "timeout"}) for at in range(12)])
    assert _kinds(_run("b", 1.0), after, fail_on=["regression"]) == [("incomplete", "hit_at_1")]


@pytest.mark.parametrize(("reviewed", "tripped"), [(False, False), (None, True), (True, True)])
def test_unreviewed_questions_never_trip(reviewed: bool | None, tripped: bool) -> None:
    good = [result(f"good{at}", scores={"hit_at_1": 1.0}) for at in range(12)]
    before = [result(f"q{at}", scores={"hit_at_1": 1.0}, chunks=["x"], reviewed=reviewed) for at in range(12)]
    after = [result(f"q{at}", scores={"hit_at_1": 0.0}, chunks=["y"], reviewed=reviewed) for at in range(12)]
    found = diff(run("b", good + before), run("a", good + after), fail_on=["regression"])
    assert found.gate.tripped is tripped
    assert found.metrics["hit_at_1"].verdict == "regressed"
