"""What a diff must know of a metric: its scale, which way is better, and who gives its values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_audit.metrics import METRICS
from rag_audit.model import Direction, MetricSummary, RunSummary, is_failed

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]
    Mask = NDArray[bool_]

CLAIMS, SCORES = "claims", "scores"


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """Scale, direction and judge of one metric."""

    name: str
    low: float | None = 0.0
    high: float | None = 1.0
    direction: Direction = Direction.UP
    roles: tuple[str, ...] = ()
    """The judges whose change moves it; for other tools' metrics any judge the run names."""
    retrieval: bool = False
    own: bool = True
    binary: bool = False
    """Whether every value is 0 or 1."""

    @property
    def span(self) -> float | None:
        """Width of its range; None where that is unknown."""
        return None if self.low is None or self.high is None or self.high <= self.low else self.high - self.low

    def gain(self, before: float, after: float) -> float | None:
        """How much better it got, as a share of its range (of the larger value where that is unknown).

        Negative: worse. None where nobody knows which way is better.
        """
        if self.direction is Direction.NONE:
            return None
        scale = self.span or max(abs(before), abs(after), 1.0)
        return (after - before if self.direction is Direction.UP else before - after) / scale


def differs(before: float, after: float) -> bool:
    """Whether two values differ by more than rounding."""
    return abs(after - before) > 1e-9 * max(1.0, abs(before), abs(after))


def differing(before: "Floats", after: "Floats") -> "Mask":
    """Where the values of two columns differ by more than rounding; False where either value is NaN."""
    import numpy as np

    scale = np.maximum(1.0, np.maximum(np.abs(before), np.abs(after)))
    return np.asarray(np.abs(after - before) > 1e-9 * scale)


def metric_facts(name: str, summary: MetricSummary) -> MetricFacts:
    """The facts of an own metric from its record, of another tool's metric from the run's summary."""
    own = METRICS.get(name)
    if own is not None:
        roles = (own.judged_by,) if own.judged_by else ()
        return MetricFacts(name, *own.range, own.direction, roles, own.retrieval, binary=own.binary)
    return MetricFacts(name, *summary.range, summary.direction, (CLAIMS, SCORES), own=False)


def is_measured(summary: MetricSummary | None) -> bool:
    """Whether a run asked for this metric: it has a value, or lacks one for a failed reason."""
    return summary is not None and (summary.n > 0 or any(is_failed(reason) for reason in summary.missing))


def metric_names(before: RunSummary, after: RunSummary) -> list[str]:
    """Every metric that either run measured: own ones in their order, then the others by name."""
    names = {name for run in (before, after) for name, summary in run.metrics.items() if is_measured(summary)}
    return [name for name in METRICS if name in names] + sorted(names - METRICS.keys())


def shared_metrics(before: RunSummary, after: RunSummary) -> list[str]:
    """The metrics that both runs measured, in the same order."""
    return [
        name
        for name in metric_names(before, after)
        if is_measured(before.metrics.get(name)) and is_measured(after.metrics.get(name))
    ]


def tested_family(configured: Sequence[str], shared: Sequence[str], facts: Mapping[str, MetricFacts]) -> list[str]:
    """The metrics that are tested together, and that a gate looks at.

    The configured ones that both runs measured; where that leaves none (two runs of another tool), every shared metric
    whose better direction is known, else every shared one.
    """
    family = [name for name in shared if name in configured]
    directed = [name for name in shared if facts[name].direction is not Direction.NONE]
    return family or directed or list(shared)
