"""A short run of the coverage simulation: the printed intervals hold the truth about as often as they say."""

import numpy as np
import pytest

from benchmarks.audit_coverage import LENIENT, TABLE_JUDGES, Judge, precision, scores, yes_no

RUNS = 200
LEAST = 0.88
"""93 % less nearly three standard errors of so few simulations."""


@pytest.mark.parametrize("judge", [TABLE_JUDGES[1], TABLE_JUDGES[3], LENIENT[0]], ids=lambda judge: judge.name)
def test_the_guarded_split_covers(judge: Judge) -> None:
    row = yes_no(0.8 if judge in LENIENT else 0.95, judge, 26, RUNS, np.random.default_rng(5))
    assert row.coverage >= LEAST
    assert row.width < 0.3


def test_corrected_means_cover() -> None:
    rng = np.random.default_rng(6)
    assert scores("noise 1", 0.0, 1.0, 26, RUNS, rng).coverage >= LEAST
    assert precision(0.95, 4.0, 0.15, 26, RUNS, rng).coverage >= LEAST
