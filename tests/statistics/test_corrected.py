"""Corrected estimates: marks on what cannot be believed, and the rules for small samples."""

import pytest

from rag_audit.statistics.agreement import wilson
from rag_audit.statistics.corrected import (
    CUT,
    NO_WIDTH,
    TOO_FEW,
    SplitCounts,
    corrected_mean,
    questions_needed,
    split_guarded,
)
from rag_audit.statistics.distributions import t95


def test_split_is_the_posterior_mean_inside_the_range() -> None:
    found = split_guarded(SplitCounts(204, 255, tp=18, fp=2, fn=2, tn=4))
    share, if_passed, if_failed = 204.5 / 256, 18.5 / 21, 2.5 / 7
    assert found.estimate == pytest.approx(share * if_passed + (1 - share) * if_failed)
    assert found.low is not None
    assert found.high is not None
    assert found.estimate is not None
    assert 0 < found.low < found.estimate < found.high < 1
    low, high = wilson(20, 26)
    assert low is not None
    assert high is not None
    assert found.high - found.low < high - low
    assert found.note is None


def test_split_is_seeded() -> None:
    counts = SplitCounts(204, 255, 18, 2, 2, 4)
    assert split_guarded(counts, seed=1) == split_guarded(counts, seed=1)
    assert split_guarded(counts, seed=1) != split_guarded(counts, seed=2)


@pytest.mark.parametrize("failed", [0, 1])
def test_split_holds_wilson_where_one_verdict_is_rare(failed: int) -> None:
    found = split_guarded(SplitCounts(250, 255, tp=26 - failed, fp=failed, fn=0, tn=0))
    low, high = wilson(26 - failed, 26)
    assert found.low is not None
    assert found.high is not None
    assert low is not None
    assert high is not None
    assert found.low <= low
    assert found.high >= high
    assert found.note


def test_one_checked_question_gives_no_interval() -> None:
    assert split_guarded(SplitCounts(5, 6, 1, 0, 0, 0)).note == TOO_FEW
    found = corrected_mean([1.0, 0.5, 0.5], [1.0, None, None], (0, 1))
    assert (found.estimate, found.low, found.high, found.note) == (None, None, None, TOO_FEW)


def test_mean_by_hand() -> None:
    judge = [8.0, 6.0, 7.0, 9.0, 5.0, 6.0, 8.0, 7.0]
    human = [7.0, 5.0, 8.0, 7.0, 4.0, None, None, None]
    found = corrected_mean(judge, human, (0, 10))
    corrections = [-1, -1, 1, -2, -1]
    variance = sum((c + 0.8) ** 2 for c in corrections) / 4
    half = t95(4) * (1.0 / 3 + variance / 5) ** 0.5
    assert found.method == "ppi_lam1_t"
    assert found.estimate == pytest.approx(7.0 - 0.8)
    assert found.low == pytest.approx(6.2 - half)
    assert found.high == pytest.approx(6.2 + half)


def test_mean_holds_the_human_interval_where_few_differ() -> None:
    judge: list[float | None] = [1.0, 0.5, 1.0, 0.0, *[1.0] * 20]
    human: list[float | None] = [1.0, 0.5, 1.0, 0.0, *[None] * 20]
    found = corrected_mean(judge, human, (0, 1))
    assert found.method == "ppi_lam1_t_hull"
    assert found.low is not None
    assert found.low < 0.2
    assert found.high == 1.0
    assert found.note == CUT


def test_mean_marks_an_interval_without_width() -> None:
    found = corrected_mean([1.0] * 5, [1.0, 1.0, None, None, None], (0, 1))
    assert (found.low, found.high) == (1.0, 1.0)
    assert found.note == NO_WIDTH


def test_mean_of_a_fully_checked_run_is_the_human_one() -> None:
    found = corrected_mean([1.0, 1.0, 1.0], [1.0, 0.0, 0.5], (0, 1))
    assert (found.estimate, found.method) == (0.5, "human_t")


def test_needed_questions_narrow_the_interval_to_what_was_asked() -> None:
    counts = SplitCounts(204, 255, tp=18, fp=2, fn=2, tn=4)
    needed = questions_needed(counts, 0.08)
    assert needed is not None
    assert 26 < needed < 255
    assert questions_needed(counts, 0.5) == 26
    assert questions_needed(counts, 0.001) is None


def test_before_anything_is_checked_the_worst_case_is_named() -> None:
    assert questions_needed(SplitCounts(200, 255, 1, 0, 0, 0), 0.1) == 93
    low, high = wilson(93 / 2, 93)
    assert low is not None
    assert high is not None
    assert (high - low) / 2 <= 0.1
    assert questions_needed(SplitCounts(2, 3, 1, 0, 0, 0), 0.1) is None
