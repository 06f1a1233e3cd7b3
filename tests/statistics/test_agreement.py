"""Agreement over claims that hang together within questions."""

import pytest

from rag_audit.statistics.agreement import cohen_kappa, gwet_ac1, weighted_kappa, wilson
from rag_audit.statistics.clustered import clustered_agreement

SAME = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
OTHER = [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
REJECTED = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def _times(table: list[list[float]], times: float) -> list[list[float]]:
    return [[value * times for value in row] for row in table]


def test_one_claim_a_question_gives_the_textbook_values() -> None:
    found = clustered_agreement([SAME] * 14 + [OTHER] * 3 + [REJECTED] * 5)
    kappa = cohen_kappa([[14, 3, 0], [0, 5, 0], [0, 0, 0]])
    judge = ["verified"] * 17 + ["contradicted"] * 5
    human = ["verified"] * 14 + ["contradicted"] * 8
    ac1 = gwet_ac1([judge, human])
    assert (found.n, found.n_questions) == (22, 22)
    assert found.raw == pytest.approx(19 / 22)
    assert found.raw_bounds == wilson(19, 22)
    assert (found.kappa, found.kappa_bounds) == (kappa.value, (kappa.low, kappa.high))
    assert found.ac1 == pytest.approx(ac1.value)
    assert found.ac1_bounds == (ac1.low, ac1.high)
    assert found.table["verified"]["contradicted"] == 3


def test_many_claims_of_few_questions_are_not_many_observations() -> None:
    found = clustered_agreement([_times(SAME, 10)] * 4 + [_times(OTHER, 10)] * 2 + [_times(REJECTED, 10)] * 2)
    low, high = wilson(60, 80)
    assert found.n == 80
    assert found.raw_bounds[0] is not None
    assert found.raw_bounds[1] is not None
    assert low is not None
    assert high is not None
    assert found.raw_bounds[1] - found.raw_bounds[0] > 2 * (high - low)


def test_raw_agreement_without_an_error_is_not_certain() -> None:
    found = clustered_agreement([_times(SAME, 2)] * 5 + [_times(REJECTED, 3)] * 5)
    assert found.raw_bounds == wilson(10, 10)
    assert found.kappa_bounds == (1.0, 1.0)
    assert any(note.startswith("kappa: the interval has no width") for note in found.notes)
    assert any("nominal 95 %" in note for note in found.notes)
    assert not any("nominal 95 %" in note for note in clustered_agreement([SAME] * 9 + [REJECTED] * 9).notes)


def test_kappa_has_no_interval_where_resamples_leave_it_undefined() -> None:
    found = clustered_agreement([_times(SAME, 2)] * 6 + [_times(REJECTED, 2)])
    assert found.kappa == 1.0
    assert found.kappa_bounds == (None, None)
    assert any(note.startswith("kappa") for note in found.notes)


def test_nothing_decided_is_undefined() -> None:
    found = clustered_agreement([])
    assert (found.n, found.raw, found.kappa, found.ac1) == (0, None, None, None)
    assert found.raw_bounds == (None, None)


def test_shared_claims_count_once() -> None:
    half = [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    found = clustered_agreement([SAME, SAME, REJECTED, half])
    assert (found.n, found.raw) == (4, 3.5 / 4)


def test_weighted_kappa_by_hand() -> None:
    assert weighted_kappa([1, 2, 3], [1, 2, 3]) == 1.0
    assert weighted_kappa([0, 10], [10, 0]) == -1.0
    assert weighted_kappa([5, 5], [5, 5]) is None
    assert weighted_kappa([], []) is None
    assert weighted_kappa([8, 6, None], [6, 6, 4]) == pytest.approx(1 - 2.0 / 2.0)
