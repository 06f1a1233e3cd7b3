"""Two runs on the same questions: is the difference more than noise?

Every function is seeded and independent of the order of its input.
"""

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_audit.model import Interval

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[float64]

RESAMPLES = 10_000
_FEW_VALUES = 64
"""Up to so many distinct values, resampling draws how often each occurs instead of which item comes."""
_FEW_ITEMS = 500
"""Up to so many items, resampling draws the items themselves."""
_FEW_FLIPS = 300
"""The same for sign patterns."""
_BINS = 48
_EXACT_FLIPS = 12
"""Up to so many differences, all sign patterns are looked at (4096)."""


class Holm(NamedTuple):
    """Adjusted p-values and decisions in the order of the input; both None where the p-value was."""

    adjusted: list[float | None]
    reject: list[bool | None]


def mcnemar_exact(b: int, c: int) -> float:
    """Exact two-sided McNemar test: p-value (0-1) for b questions lost and c won; 1 when nothing differs.

    McNemar 1947: min(1, 2 P(Binomial(b + c, 1/2) <= min(b, c))), no mid-p.
    """
    n, fewer = b + c, min(b, c)
    if b == c:
        return 1.0
    # The largest term exactly, then the terms below it as ratios: no sum of huge integers.
    term = series = 1.0
    for k in range(fewer, 0, -1):
        term *= k / (n - k + 1)
        series += term
        if term < series * 1e-18:
            break
    largest: float = math.comb(n, fewer) / 2**n
    return min(1.0, 2 * largest * series)


def holm(p_values: Sequence[float | None], alpha: float = 0.05) -> Holm:
    """Holm's step-down correction over the p-values that exist (Holm 1979); a None stays None and is not counted."""
    order = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, at) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - step) * p))
        adjusted[at] = highest
    return Holm(adjusted, [None if p is None else p <= alpha for p in adjusted])


def paired_bootstrap(
    differences: "Sequence[float | None] | Floats",
    clusters: "Sequence[Hashable] | NDArray[int64] | None" = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Mean of paired differences with the 95 % percentile interval of the bootstrap (Efron & Tibshirani 1993).

    `clusters` names the group of each difference (its module): whole groups are then resampled. A None (one side is
    missing) is left out. No interval for fewer than two differences or groups; a point interval, with a note, where
    all are equal.
    """
    import numpy as np

    every = np.array(differences, dtype=float)
    present = ~np.isnan(every)
    values = every[present]
    method = "bootstrap over questions" if clusters is None else "bootstrap over modules"
    if not values.size:
        return Interval(None, None, None, method, 0, "no pair with both values")
    n, lowest = len(values), float(values.min())
    if lowest == values.max():
        equal = n > 1
        note = "all differences are equal: the interval has no width" if equal else "one pair: no interval"
        bound = lowest if equal else None
        return Interval(lowest, bound, bound, method, n, note)
    estimate = math.fsum(values.tolist()) / n
    if clusters is None:
        sums, sizes = np.sort(values), np.ones(n)
    else:
        if not isinstance(clusters, np.ndarray):
            numbers: dict[Hashable, int] = {}
            clusters = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.int64)
        sums, sizes = _group_totals(values, clusters[present])
    if len(sums) < 2:
        return Interval(estimate, None, None, method, n, "one module: no interval")
    means = _resampled_means(sums, sizes, estimate, seed, resamples)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(estimate, float(low), float(high), method, n)


def _group_totals(values: "Floats", codes: "NDArray[int64]") -> "tuple[Floats, Floats]":
    """Sum and size of each cluster, in an order that does not depend on that of the input."""
    import numpy as np

    order = np.lexsort((values, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(values[order], starts)
    sizes = np.diff(starts, append=len(values)).astype(float)
    by_total = np.lexsort((sizes, sums))
    return sums[by_total], sizes[by_total]


def _resampled_means(sums: "Floats", sizes: "Floats", mean: float, seed: int, resamples: int) -> "Floats":
    """Means of bootstrap resamples of items that each bring a sum and a size.

    Works on each item's pull z = sum - mean * size, because a resample's mean is mean + sum(z) / sum(size).
    """
    import numpy as np

    pull = sums - mean * sizes
    n = len(pull)
    if n <= _FEW_ITEMS:
        draws = _draws(n, seed, resamples)
        # Not `@`: over so few items the threads of a matrix product cost several times what they save.
        return np.asarray(mean + np.einsum("ij,j->i", draws, pull) / np.einsum("ij,j->i", draws, sizes))
    # Complex numbers sort and compare as pairs, several times faster than rows of a table.
    distinct, counts = np.unique(pull + 1j * sizes, return_counts=True)
    if len(distinct) <= _FEW_VALUES:
        rng = np.random.default_rng(seed)
        values = np.stack([distinct.real, distinct.imag], axis=1)
        drawn = rng.multinomial(n, counts / n, size=resamples) @ values
    else:
        items = np.stack([pull, sizes], axis=1)[np.argsort(pull, kind="stable")]
        drawn = _binned_totals(items, np.random.default_rng(seed), resamples)
    means: Floats = mean + drawn[:, 0] / drawn[:, 1]
    return means


@lru_cache(maxsize=1)
def _draws(n: int, seed: int, resamples: int) -> "Floats":
    """How often each of n items is drawn in each resample; the metrics of one diff share it."""
    import numpy as np

    drawn = np.random.default_rng(seed).integers(0, n, size=(resamples, n), dtype=np.int32)
    places = (drawn + n * np.arange(resamples, dtype=np.int32)[:, None]).ravel()
    counts: Floats = np.bincount(places, minlength=n * resamples).reshape(resamples, n).astype(np.float64)
    return counts


def _binned_totals(items: "Floats", rng: "Generator", resamples: int) -> "Floats":
    """Bootstrap totals of many sorted items: draw bins, add what varies within them as one normal term.

    Mean and variance are those of drawing the items; the normal term is a sum of hundreds of small deviations.
    """
    import numpy as np

    bins = np.array_split(items, _BINS)
    shares = np.array([len(part) for part in bins]) / len(items)
    counts = rng.multinomial(len(items), shares, size=resamples)
    totals: Floats = counts @ np.array([part.mean(axis=0) for part in bins])
    spread = counts @ np.array([part[:, 0].var() for part in bins])
    totals[:, 0] += np.sqrt(spread) * rng.standard_normal(resamples)
    return totals


def sign_flip(differences: Sequence[float | None], seed: int = 0, resamples: int = RESAMPLES) -> float | None:
    """Two-sided paired sign-flip test of "no difference": p-value (0-1), None without a pair.

    All sign patterns where at most 12 differences are not zero, else so many random ones, the observed one counted
    among them (Phipson & Smyth 2010), so that p is never 0.
    """
    present = [value for value in differences if value is not None]
    if not present:
        return None
    moved = sorted(abs(value) for value in present if value != 0)
    if not moved:
        return 1.0

    import numpy as np

    observed = abs(math.fsum(present)) * (1 - 1e-12)
    sizes: Any = np.array(moved)
    if len(moved) <= _EXACT_FLIPS:
        patterns = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ sizes) >= observed))
    rng = np.random.default_rng(seed)
    # 3/7 - 2/7 and 1/7 are one size, though not to the last bit.
    _, first, counts = np.unique(np.round(sizes / sizes[-1], 9), return_index=True, return_counts=True)
    distinct = sizes[first]
    residual = 0.0
    if len(distinct) > _FEW_VALUES:
        if len(moved) <= _FEW_FLIPS:
            counts = np.ones_like(sizes, dtype=int)
            distinct = sizes
        else:
            bins = np.array_split(sizes, _BINS)
            counts = np.array([len(part) for part in bins])
            distinct = np.array([part.mean() for part in bins])
            residual = math.sqrt(sum(float(part.var()) * len(part) for part in bins))
    flipped = (2 * rng.binomial(counts, 0.5, size=(resamples, len(counts))) - counts) @ distinct
    if residual:
        flipped = flipped + residual * rng.standard_normal(resamples)
    return float((1 + np.count_nonzero(np.abs(flipped) >= observed)) / (resamples + 1))
