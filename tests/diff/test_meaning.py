"""Tests, intervals and verdicts over the shared scored set."""

from collections.abc import Sequence

import pytest

from rag_audit.model import ArchivedRun, Direction, MetricVerdict
from rag_audit.statistics.paired import holm, mcnemar_exact
from tests.diff.made import diff, result, run


def _run(name: str, metric: str, values: Sequence[float], docs: int | None = None) -> ArchivedRun:
    return run(
        name,
        [
            result(f"q{at:03}", scores={metric: value}, answer=f"{name}{at}", doc_id=f"d{at % docs}" if docs else None)
            for at, value in enumerate(values)
        ],
        declared={"t.loss": ((0.0, 1.0), Direction.DOWN), "t.size": ((None, None), Direction.NONE)},
    )


def test_binary_metrics_are_tested_with_mcnemar_and_others_by_sign_flips() -> None:
    binary = diff(_run("b", "hit_at_1", [1] * 20), _run("a", "hit_at_1", [0] * 8 + [1] * 12)).metrics["hit_at_1"]
    assert (binary.test, binary.p_value) == ("mcnemar_exact", mcnemar_exact(0, 8))
    graded = diff(_run("b", "mrr", [0.5] * 20), _run("a", "mrr", [0.4] * 8 + [0.5] * 12)).metrics["mrr"]
    assert graded.test == "sign_flip"
    assert graded.p_value == pytest.approx(2 / 2**8)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([1.0] * 20, [0.0] * 8 + [1.0] * 12, "regressed"),
        ([0.0] * 8 + [1.0] * 12, [1.0] * 20, "improved"),
        ([1.0] * 20, [1.0] * 20, "unchanged"),
        ([1.0] * 20, [0.0] * 2 + [1.0] * 18, "inconclusive"),
        ([1.0], [0.0], "inconclusive"),
    ],
)
def test_verdicts(before: list[float], after: list[float], verdict: str) -> None:
    found = diff(_run("b", "hit_at_1", before), _run("a", "hit_at_1", after)).metrics["hit_at_1"]
    assert found.verdict == verdict
    assert found.reason


def test_one_question_has_no_interval() -> None:
    found = diff(_run("b", "mrr", [0.5]), _run("a", "mrr", [0.25])).metrics["mrr"]
    assert (found.delta, found.ci_low, found.ci_high) == (-0.25, None, None)


def test_lower_is_better_regresses_when_it_rises() -> None:
    before, after = _run("b", "t.loss", [0.1] * 12), _run("a", "t.loss", [0.4] * 12)
    assert diff(before, after).metrics["t.loss"].verdict == "regressed"
    assert diff(after, before).metrics["t.loss"].verdict == "improved"


def test_unknown_direction_never_regresses() -> None:
    found = diff(_run("b", "t.size", [1.0] * 12), _run("a", "t.size", [9.0] * 12)).metrics["t.size"]
    assert found.verdict == "inconclusive"
    assert "which way is better is unknown" in found.reason


def test_tolerance_is_a_share_of_the_range() -> None:
    before, after = _run("b", "faithfulness", [8.0] * 12), _run("a", "faithfulness", [7.0] * 12)
    assert diff(before, after, tolerance=0.09).metrics["faithfulness"].verdict == "regressed"
    assert diff(before, after, tolerance=0.11).metrics["faithfulness"].verdict == "unchanged"
    exception = diff(before, after, tolerance=0.09, tolerances={"faithfulness": 0.2})
    assert exception.metrics["faithfulness"].verdict == "unchanged"


def test_holm_is_over_the_configured_metrics_whatever_is_listed() -> None:
    def made(name: str, hit: list[float], mrr: list[float], recall: list[float]) -> ArchivedRun:
        return run(
            name,
            [
                result(
                    f"q{at:02}",
                    scores={"hit_at_1": hit[at], "mrr": mrr[at], "keyword_recall": recall[at]},
                    chunks=[f"{name}{at}"],
                )
                for at in range(len(hit))
            ],
        )

    before = made("b", [1.0] * 20, [0.5] * 20, [1.0] * 20)
    after = made("a", [0.0] * 6 + [1.0] * 14, [0.4] * 9 + [0.5] * 11, [0.0] * 7 + [1.0] * 13)
    whole = diff(before, after)
    raw = [whole.metrics[name].p_value for name in ("hit_at_1", "mrr")]
    assert [whole.metrics[name].p_adjusted for name in ("hit_at_1", "mrr")] == holm(raw).adjusted
    alone = diff(before, after, only=["hit_at_1"])
    assert alone.metrics == {"hit_at_1": whole.metrics["hit_at_1"]}
    # Not configured: as if it alone had joined the family, which does not change the others.
    outside = whole.metrics["keyword_recall"].p_value
    assert whole.metrics["keyword_recall"].p_adjusted == holm([*raw, outside]).adjusted[-1]


def test_other_tools_metrics_are_the_family_where_no_configured_one_is_shared() -> None:
    before, after = _run("b", "t.loss", [0.1] * 12), _run("a", "t.loss", [0.4] * 12)
    found = diff(before, after).metrics["t.loss"]
    assert found.p_adjusted == found.p_value


def test_modules_are_resampled_where_ten_have_two_questions() -> None:
    values = [0.5] * 20
    for docs, unit in ((10, "module"), (9, "question")):
        moved = [0.5 - 0.01 * (at % docs) for at in range(20)]
        found = diff(_run("b", "mrr", values, docs), _run("a", "mrr", moved, docs)).metrics["mrr"]
        assert found.unit == unit


def test_a_judge_that_varies_on_identical_answers_is_no_regression() -> None:
    before = run("b", [result(f"q{at}", scores={"faithfulness": 8.0}) for at in range(12)])
    after = run("a", [result(f"q{at}", scores={"faithfulness": 5.0}) for at in range(12)])
    found = diff(before, after, fail_on=["regression"])
    assert found.metrics["faithfulness"].verdict is MetricVerdict.INCONCLUSIVE
    assert "identical answers" in found.metrics["faithfulness"].reason
    assert not found.questions.regressed
    assert not found.gate.tripped


def test_own_means_stand_beside_the_shared_set() -> None:
    before = run("b", [result("q", scores={"mrr": 1.0}), result("gone", scores={"mrr": 0.0})])
    after = run("a", [result("q", scores={"mrr": 1.0})])
    found = diff(before, after)
    assert found.own_means["mrr"] == (0.5, 2, 1.0, 1)
    assert found.metrics["mrr"].before == 1.0


def test_balanced_wins_and_losses_mirror_over_modules() -> None:
    before = _run("b", "mrr", [1.0] * 5 + [0.0] * 35, docs=12)
    after = _run("a", "mrr", [0.0] * 15 + [1.0] * 3 + [0.0] * 9 + [1.0] + [0.0] * 11 + [1.0], docs=12)
    there, back = diff(before, after).metrics["mrr"], diff(after, before).metrics["mrr"]
    assert (there.unit, there.delta) == ("module", 0)
    assert there.ci_low is not None
    assert there.ci_high is not None
    assert (back.ci_low, back.ci_high) == (-there.ci_high, -there.ci_low)
