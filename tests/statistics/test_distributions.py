"""Quantiles against printed tables."""

import pytest

from rag_audit.statistics.distributions import incomplete_beta, t95, t_quantile


@pytest.mark.parametrize(
    ("df", "expected"),
    [
        (1, 12.706204736432095),
        (2, 4.302652729911275),
        (5, 2.5705818356363146),
        (25, 2.059538552753294),
        (254, 1.9693475402191845),
        (1_000_000, 1.959966),
    ],
)
def test_t_quantile_of_two_sided_95(df: int, expected: float) -> None:
    assert t95(df) == pytest.approx(expected, rel=1e-6 if df > 1000 else 1e-9)


def test_t_quantile_is_symmetric() -> None:
    assert t_quantile(0.95, 10) == pytest.approx(1.8124611228107335, rel=1e-9)
    assert t_quantile(0.05, 10) == -t_quantile(0.95, 10)
    assert t_quantile(0.5, 3) == pytest.approx(0.0, abs=1e-9)


def test_incomplete_beta_of_known_values() -> None:
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert incomplete_beta(2, 3, 0.4) == pytest.approx(0.5248)
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)
