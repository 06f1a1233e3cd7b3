"""Paired tests and intervals: known values, order independence, and the fast paths against the plain one."""

import random
import tracemalloc

import numpy as np
import pytest

from rag_audit.statistics.paired import holm, mcnemar_exact, paired_bootstrap, sign_flip


def test_mcnemar_by_hand() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(0, 6) == mcnemar_exact(6, 0) == pytest.approx(2 / 2**6)
    assert mcnemar_exact(1, 5) == pytest.approx(2 * (1 + 6) / 2**6)


def test_mcnemar_of_many_is_finite() -> None:
    assert 0.0 < mcnemar_exact(50_000, 49_000) < 0.01
    assert mcnemar_exact(20_000, 0) == 0.0


def test_holm_leaves_out_what_was_not_tested() -> None:
    assert holm([None, None]).adjusted == [None, None]
    assert holm([None, 0.03]) == ([None, 0.03], [None, True])


def test_bootstrap_does_not_depend_on_the_order() -> None:
    chance = random.Random(3)
    values = [chance.random() for _ in range(200)]
    modules = [at % 17 for at in range(200)]
    order = list(range(200))
    random.Random(4).shuffle(order)
    assert paired_bootstrap(values, seed=5) == paired_bootstrap([values[at] for at in order], seed=5)
    shuffled = paired_bootstrap([values[at] for at in order], [modules[at] for at in order], seed=5)
    assert paired_bootstrap(values, modules, seed=5) == shuffled
    assert paired_bootstrap(values, seed=5) != paired_bootstrap(values, seed=6)


def test_bootstrap_of_many_different_values_agrees_with_drawing_each_item() -> None:
    values = np.random.default_rng(1).exponential(size=400) ** 2
    found = paired_bootstrap(values.tolist())
    means = values[np.random.default_rng(2).integers(0, 400, size=(10_000, 400))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    error = 0.12 * means.std()
    assert found.low == pytest.approx(low, abs=error)
    assert found.high == pytest.approx(high, abs=error)


def test_bootstrap_over_modules_is_wider_when_modules_hang_together() -> None:
    values = [float(at // 10 % 2) for at in range(200)]
    modules = [at // 10 for at in range(200)]
    alone, together = paired_bootstrap(values), paired_bootstrap(values, modules)
    assert alone.low is not None
    assert alone.high is not None
    assert together.low is not None
    assert together.high is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert together.method == "bootstrap over modules"
    assert together.n == 200


def test_bootstrap_leaves_out_incomplete_pairs_and_their_modules() -> None:
    found = paired_bootstrap([1.0, None, 0.0, None], ["a", "b", "b", "c"])
    assert (found.estimate, found.n) == (0.5, 2)


def test_bootstrap_of_one_module_has_no_interval() -> None:
    found = paired_bootstrap([0.0, 1.0, 1.0], ["m", "m", "m"])
    assert (found.low, found.high, found.note) == (None, None, "one module: no interval")


def test_bootstrap_of_equal_differences_says_so() -> None:
    found = paired_bootstrap([0.25, 0.25, 0.25])
    assert (found.estimate, found.low, found.high) == (0.25, 0.25, 0.25)
    assert found.note


@pytest.mark.parametrize("values", ["few", "many"])
def test_ten_thousand_questions_are_not_drawn_one_by_one(values: str) -> None:
    chance = random.Random(9)
    differences = [chance.choice([-1.0, 0.0, 1.0]) if values == "few" else chance.random() for _ in range(10_000)]
    tracemalloc.start()
    paired_bootstrap(differences)
    sign_flip(differences)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 10,000 resamples of 10,000 items are 100 million draws.
    assert peak < 32 << 20


def test_sign_flip_by_hand() -> None:
    assert sign_flip([]) is None
    assert sign_flip([None, None]) is None
    assert sign_flip([0.0, 0.0]) == 1.0
    assert sign_flip([1.0, 2.0, 3.0]) == 2 / 8
    assert sign_flip([1.0, 2.0, -3.0]) == 1.0


@pytest.mark.parametrize("n", [12, 13, 60, 500])
def test_sign_flip_agrees_with_the_exact_binomial_on_equal_sizes(n: int) -> None:
    wins = n * 2 // 3
    exact = mcnemar_exact(wins, n - wins)
    assert sign_flip([1.0] * wins + [-1.0] * (n - wins), seed=1) == pytest.approx(exact, abs=0.015)


def test_sign_flip_of_many_different_sizes_agrees_with_the_normal_limit() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(0.05, 1.0, size=900)
    z = abs(values.sum()) / np.sqrt((values**2).sum())
    from math import erfc, sqrt

    assert sign_flip(values.tolist()) == pytest.approx(erfc(z / sqrt(2)), abs=0.02)
