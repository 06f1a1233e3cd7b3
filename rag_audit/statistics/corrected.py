"""What the rate or mean really is, from all judge values and a few human ones.

The headline intervals are `split_guarded` for yes/no values and `corrected_mean` for the rest: the ones that hold
their nominal 95 % at 26 of 255 questions (docs/design.md, "Measured: audit coverage"). `prediction_powered` and
`classical_mean` follow the literature for comparison; at such sizes they are too narrow and must gate nothing.
The unit of every function is the question.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.model import Interval
from rag_audit.statistics.agreement import wilson
from rag_audit.statistics.distributions import Z95, t95

DRAWS = 20_000
_FEW_DIFFERENCES = 5
TOO_FEW = "fewer than 2 questions checked: no interval"
NO_WIDTH = "the interval has no width: every value is the same, which is not certainty"
CUT = "cut to the possible range"


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """Yes/no verdicts of a random sample by what the judge said; shares of a question are allowed."""

    judged_good: float
    """Questions of the whole run that the judge passed."""
    judged: float
    """Questions of the whole run with a judge value."""
    tp: float
    """Checked: judge passed, human passed."""
    fp: float
    """Checked: judge passed, human failed."""
    fn: float
    """Checked: judge failed, human passed."""
    tn: float
    """Checked: judge failed, human failed."""

    @property
    def n(self) -> float:
        """Questions a person checked."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def human_good(self) -> float:
        """Checked questions that the person passed."""
        return self.tp + self.fn


def split_guarded(counts: SplitCounts, *, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Corrected rate (0-1) of a yes/no metric: posterior mean and quantiles, split by the judge's verdict.

    Double sampling (Tenenbein 1970) with Jeffreys priors: q of the judge's rate over the run, r1 and r0 of the human
    rate where the judge passed and failed; rate = q r1 + (1 - q) r0. Guard: where the rarer human verdict occurs at
    most once, the hull with Wilson on the checked questions.
    """
    if counts.n < 2:
        return Interval(None, None, None, "split_guarded", round(counts.n), TOO_FEW)

    import numpy as np

    rng = np.random.default_rng(seed)
    passed = _jeffreys(counts.judged_good, counts.judged - counts.judged_good)
    human_if_passed, human_if_failed = _jeffreys(counts.tp, counts.fp), _jeffreys(counts.fn, counts.tn)
    q, r1, r0 = (rng.beta(a, b, size=draws) for a, b in (passed, human_if_passed, human_if_failed))
    low, high = (float(bound) for bound in np.quantile(q * r1 + (1 - q) * r0, [0.025, 0.975]))
    share, if_passed, if_failed = (a / (a + b) for a, b in (passed, human_if_passed, human_if_failed))
    note = None
    if min(counts.human_good, counts.n - counts.human_good) <= 1:
        wilson_low, wilson_high = wilson(counts.human_good, counts.n)
        if wilson_low is not None and wilson_high is not None:
            low, high = min(low, wilson_low), max(high, wilson_high)
        note = "nearly all checked questions have the same verdict: widened to hold Wilson's interval"
    estimate = share * if_passed + (1 - share) * if_failed
    return Interval(estimate, low, high, "split_guarded", round(counts.n), note)


def _jeffreys(yes: float, no: float) -> tuple[float, float]:
    return yes + 0.5, no + 0.5


def questions_needed(counts: SplitCounts, half_width: float) -> int | None:
    """Checked questions at which `split_guarded` would be about so narrow if the rates stay; None: more than there are.

    At least as many as are checked already. Before 2 are checked nothing is known of the rates: then it is the number
    that suffices at worst, Wilson's at a rate of one half.
    """
    if counts.n < 2:
        at_worst = next(n for n in range(2, 10**9) if _half_width(wilson(n / 2, n)) <= half_width)
        return at_worst if at_worst <= counts.judged else None
    share = counts.judged_good / counts.judged
    if_passed = (counts.tp + 0.5) / (counts.tp + counts.fp + 1)
    if_failed = (counts.fn + 0.5) / (counts.fn + counts.tn + 1)

    def is_enough(n: int) -> bool:
        passed, failed = n * share, n * (1 - share)
        tp, fn = passed * if_passed, failed * if_failed
        expected = SplitCounts(counts.judged_good, counts.judged, tp, passed - tp, fn, failed - fn)
        found = split_guarded(expected) if n > counts.n else split_guarded(counts)
        return _half_width((found.low, found.high)) <= half_width

    low, high = max(2, math.ceil(counts.n)), math.floor(counts.judged)
    if is_enough(low):
        return low
    if high <= low or not is_enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _half_width(bounds: tuple[float | None, float | None]) -> float:
    low, high = bounds
    return math.inf if low is None or high is None else (high - low) / 2


def corrected_mean(
    judge: Sequence[float | None], human: Sequence[float | None], bounds: tuple[float | None, float | None]
) -> Interval:
    """Corrected mean of a score or share, cut to `bounds` (lowest and highest possible value).

    Prediction-powered with lam = 1 (Angelopoulos et al. 2023), variances with n - 1, Student's t with n - 1. Where
    fewer than 5 checked questions differ, the hull with the t interval of the human values alone, because a
    correction without observed errors has no variance. Human values alone where nothing else was judged.
    """
    checked = [(h, j) for j, h in zip(judge, human, strict=True) if j is not None and h is not None]
    others = [j for j, h in zip(judge, human, strict=True) if j is not None and h is None]
    n = len(checked)
    if n < 2:
        return Interval(None, None, None, "ppi_lam1_t", n, TOO_FEW)
    t = t95(n - 1)
    values = [h for h, _ in checked]
    human_mean, human_half = _mean(values), t * math.sqrt(_variance(values) / n)
    if len(others) < 2:
        return _within(human_mean, human_mean - human_half, human_mean + human_half, "human_t", n, bounds)
    corrections = [h - j for h, j in checked]
    estimate = _mean(others) + _mean(corrections)
    half = t * math.sqrt(_variance(others) / len(others) + _variance(corrections) / n)
    low, high, method = estimate - half, estimate + half, "ppi_lam1_t"
    if sum(difference != 0 for difference in corrections) < _FEW_DIFFERENCES:
        low, high = min(low, human_mean - human_half), max(high, human_mean + human_half)
        method = "ppi_lam1_t_hull"
    return _within(estimate, low, high, method, n, bounds)


def _within(
    estimate: float, low: float, high: float, method: str, n: int, bounds: tuple[float | None, float | None]
) -> Interval:
    """The interval cut to what is possible, with a note where it was cut or has no width."""
    lowest = -math.inf if bounds[0] is None else bounds[0]
    highest = math.inf if bounds[1] is None else bounds[1]
    cut = low < lowest or high > highest
    estimate, low, high = (min(max(value, lowest), highest) for value in (estimate, low, high))
    notes = [text for text, holds in ((CUT, cut), (NO_WIDTH, low == high)) if holds]
    return Interval(estimate, low, high, method, n, "; ".join(notes) or None)


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """An estimate of ppi-python: normal quantile, population variances, not cut to the range."""

    lam: float | None
    estimate: float | None
    low: float | None
    high: float | None
    n_labelled: int
    n_unlabelled: int


def prediction_powered(
    judge: Sequence[float | None], human: Sequence[float | None], *, tuned: bool
) -> PredictionPowered:
    """Prediction-powered mean as ppi-python computes it, with lam = 1 or tuned (PPI++, arXiv:2311.01453).

    Items without a judge value are left out. No interval for one human value; nothing where every item has one.
    """
    pairs = [(h, j) for j, h in zip(judge, human, strict=True) if j is not None and h is not None]
    u = [j for j, h in zip(judge, human, strict=True) if j is not None and h is None]
    n, m = len(pairs), len(u)
    nothing = PredictionPowered(None if tuned else 1.0, None, None, None, n, m)
    if n == 0 or m == 0 or (tuned and n == 1):
        return nothing
    y, f = [h for h, _ in pairs], [j for _, j in pairs]
    lam = _tuned_lam(y, f, u) if tuned else 1.0
    corrections = [h - lam * j for h, j in pairs]
    estimate = lam * _mean(u) + _mean(corrections)
    if n == 1:
        return PredictionPowered(lam, estimate, None, None, n, m)
    half = Z95 * math.sqrt(lam * lam * _variance(u, 0) / m + _variance(corrections, 0) / n)
    return PredictionPowered(lam, estimate, estimate - half, estimate + half, n, m)


def _tuned_lam(y: Sequence[float], f: Sequence[float], u: Sequence[float]) -> float:
    """The package's lam, its mixed divisors included; 0 for a judge that always says the same."""
    n, m = len(y), len(u)
    together = [*f, *u]
    if min(together) == max(together):
        return 0.0
    mean_y, mean_f = _mean(y), _mean(f)
    covariance = math.fsum((a - mean_y) * (b - mean_f) for a, b in zip(y, f, strict=True)) / n
    return min(1.0, max(0.0, covariance / ((1 + n / m) * _variance(together))))


def classical_mean(values: Sequence[float]) -> Interval:
    """Mean of the human values alone with the normal (Wald) interval, divisor n, not cut; as ppi-python."""
    n = len(values)
    if n == 0:
        return Interval(None, None, None, "classical", 0, "no human value")
    if n == 1:
        return Interval(values[0], None, None, "classical", 1, TOO_FEW)
    half = Z95 * math.sqrt(_variance(values, 0) / n)
    estimate = _mean(values)
    return Interval(estimate, estimate - half, estimate + half, "classical", n, NO_WIDTH if half == 0 else None)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float], less: int = 1) -> float:
    """Variance with divisor n - less; exactly 0 where all values are equal."""
    if min(values) == max(values):
        return 0.0
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - less)
