"""Says what the difference of one metric means: paired test, interval, and a verdict with its reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_audit.diff.columns import Column
from rag_audit.diff.facts import MetricFacts
from rag_audit.metrics import mean
from rag_audit.model import Comparability, Direction, MetricDelta, MetricVerdict

if TYPE_CHECKING:
    from rag_audit.diff.columns import Places
    from rag_audit.diff.facts import Floats

ALPHA = 0.05
SEED = 0
"""Fixed, so that the same two runs always give the same numbers."""
MODULES_NEEDED = 10
"""Modules with two questions or more from which on modules are resampled instead of questions."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The change of a metric that does not matter."""

    share: float = 0.02
    """Of the metric's range."""
    by_metric: Mapping[str, float] | None = None

    def of(self, facts: MetricFacts) -> float:
        """In the metric's own units; where its range is unknown the number is taken as such a difference."""
        share = (self.by_metric or {}).get(facts.name, self.share)
        return share * (facts.span or 1.0)


def measure(column: Column, modules: "Places", *, tested: bool) -> MetricDelta:
    """Both means over the usable pairs, their difference with its 95 % interval, and the raw p-value if `tested`.

    `modules`: the module of each pair as a number, -1 for none.
    """
    earlier, later = column.before[column.usable], column.after[column.usable]
    before, after = mean(earlier.tolist()), mean(later.tolist())
    if before is None or after is None:
        return MetricDelta(None, None, None, 0, None, None, None, None, "question", MetricVerdict.INCONCLUSIVE)
    differences = later - earlier
    clusters = _clusters(modules[column.usable])
    low, high = _interval(differences, clusters)
    p_value, test = _test(earlier, later) if tested else (None, "none")
    return MetricDelta(
        before=before,
        after=after,
        delta=after - before,
        n_paired=len(differences),
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        p_adjusted=None,
        unit="question" if clusters is None else "module",
        verdict=MetricVerdict.INCONCLUSIVE,
        test=test,
    )


def _interval(differences: "Floats", clusters: "Places | None") -> tuple[float | None, float | None]:
    """The bootstrap interval, resampled to the same side whichever run comes first: the directions are mirror images.

    Where wins and losses balance there is no such side: the hull of both is taken.
    """
    import numpy as np

    from rag_audit.statistics.paired import paired_bootstrap

    ordered = np.sort(differences)
    won, lost = ordered.tolist(), (-ordered[::-1]).tolist()
    bounds: list[tuple[float, float]] = []
    for sign in (1.0, -1.0) if won == lost else (1.0,) if won > lost else (-1.0,):
        found = paired_bootstrap(sign * differences, clusters, seed=SEED)
        if found.low is None or found.high is None:
            return None, None
        bounds.append((found.low, found.high) if sign > 0 else (0.0 - found.high, 0.0 - found.low))
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _clusters(modules: "Places") -> "Places | None":
    """The module of each question where enough modules have several; a question without one is its own."""
    import numpy as np

    if np.count_nonzero(np.bincount(modules[modules >= 0]) >= 2) < MODULES_NEEDED:
        return None
    own = -1 - np.arange(len(modules))
    return np.where(modules >= 0, modules, own)


def _test(before: "Floats", after: "Floats") -> tuple[float | None, str]:
    import numpy as np

    from rag_audit.statistics.paired import mcnemar_exact, sign_flip

    differences = after - before
    if np.isin(before, (0.0, 1.0)).all() and np.isin(after, (0.0, 1.0)).all():
        return mcnemar_exact(int((differences > 0).sum()), int((differences < 0).sum())), "mcnemar_exact"
    return sign_flip(differences.tolist(), SEED), "sign_flip"


def adjust(deltas: Mapping[str, MetricDelta], family: Sequence[str]) -> dict[str, MetricDelta]:
    """Add Holm-adjusted p-values over the family; a metric outside it is adjusted as if it alone had joined."""
    from rag_audit.statistics.paired import holm

    inside = {name: deltas[name].p_value for name in family if name in deltas}
    adjusted = dict(zip(inside, holm(list(inside.values()), ALPHA).adjusted, strict=True))
    for name, delta in deltas.items():
        if name not in inside:
            adjusted[name] = holm([*inside.values(), delta.p_value], ALPHA).adjusted[-1]
    return {name: replace(delta, p_adjusted=adjusted[name]) for name, delta in deltas.items()}


def judge_difference(
    facts: MetricFacts,
    delta: MetricDelta,
    comparable: Comparability,
    tolerance: float,
    *,
    noise_only: Callable[[], bool] = lambda: False,
) -> MetricDelta:
    """Give a measured difference its verdict and the reason for it.

    `noise_only`: whether every value that moved belongs to an answer that did not change, so that the system cannot
    have moved it; asked only where it matters.
    """
    verdict, reason = _verdict(facts, delta, comparable, tolerance)
    if verdict in (MetricVerdict.REGRESSED, MetricVerdict.IMPROVED) and noise_only():
        verdict, reason = MetricVerdict.INCONCLUSIVE, "only identical answers were scored differently: the judge varies"
    if delta.delta and delta.ci_low is not None and delta.ci_low == delta.ci_high:
        reason += "; every shared question moved alike, so the interval has no width"
    return replace(delta, verdict=verdict, reason=reason)


def _verdict(
    facts: MetricFacts, delta: MetricDelta, comparable: Comparability, tolerance: float
) -> tuple[MetricVerdict, str]:
    if comparable.ok is False:
        return MetricVerdict.NOT_COMPARABLE, "; ".join(comparable.reasons)
    if delta.delta is None:
        return MetricVerdict.INCONCLUSIVE, "no question has a value on both sides"
    beyond = abs(delta.delta) > tolerance + 1e-12
    p = delta.p_adjusted
    if p is not None and p < ALPHA and beyond:
        if facts.direction is Direction.NONE:
            return MetricVerdict.INCONCLUSIVE, f"it moved (adjusted p = {p:.3g}), but which way is better is unknown"
        better = (delta.delta > 0) == (facts.direction is Direction.UP)
        verdict = MetricVerdict.IMPROVED if better else MetricVerdict.REGRESSED
        return verdict, f"adjusted p = {p:.3g}, beyond the tolerance of ±{tolerance:.3g}"
    if delta.ci_low is None or delta.ci_high is None:
        return MetricVerdict.INCONCLUSIVE, f"{delta.n_paired} shared question is too few for an interval"
    if delta.ci_low >= -tolerance - 1e-12 and delta.ci_high <= tolerance + 1e-12:
        still = delta.ci_low == delta.ci_high == 0
        why = f"none of the {delta.n_paired} shared questions moved" if still else "the interval lies within"
        return MetricVerdict.UNCHANGED, f"{why} the tolerance of ±{tolerance:.3g}" if not still else why
    if not beyond:
        why = f"the difference is within ±{tolerance:.3g}, but its interval reaches beyond"
    elif p is None:
        why = "it could not be tested"
    else:
        why = f"adjusted p = {p:.3g}: chance alone often gives as much over {delta.n_paired} questions"
    return MetricVerdict.INCONCLUSIVE, why
