"""What changed between two runs, for which question, and because of what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_audit.model.vocabulary import Cause, MetricVerdict


@dataclass(frozen=True, slots=True)
class Comparability:
    """Whether one metric of two runs may be compared; ok None means unverified."""

    ok: bool | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextChange:
    """One part of the context that differs (dotted key)."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class MetricDelta:
    """One metric over the shared scored set; before, after, delta are None when n_paired is 0."""

    before: float | None
    after: float | None
    delta: float | None
    n_paired: int
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_adjusted: float | None
    unit: str
    """What was resampled: module | question."""
    verdict: MetricVerdict
    reason: str = ""
    """Why the verdict is what it is, in one readable clause."""
    test: str = ""
    """mcnemar_exact | sign_flip | none."""


@dataclass(frozen=True, slots=True)
class QuestionDelta:
    """One question whose result differs."""

    id: str
    metrics: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Metric name to (before, after), only those that differ."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    cause: Cause | None = None
    """The cause of the worst metric."""
    mixed: bool = False
    losses: tuple[str, ...] = ()
    """Metrics that got worse, where that can be said."""


@dataclass(frozen=True, slots=True)
class QuestionPartition:
    """Each common id in exactly one list, in order of precedence from edited to unchanged."""

    edited: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    regressed: tuple[QuestionDelta, ...] = ()
    improved: tuple[QuestionDelta, ...] = ()
    changed: tuple[QuestionDelta, ...] = ()
    unchanged: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimFlip:
    """Two aligned claims with different verdicts, or a claim that is new or gone."""

    question_id: str
    before_claim: str | None
    """Text of the claim in the earlier run; None: new."""
    after_claim: str | None
    before: str | None
    after: str | None
    before_id: str | None = None
    after_id: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleDelta:
    """One document's retrieval figures in both runs."""

    doc_id: str
    keyword_coverage: tuple[float | None, float | None]
    hit_at_1: tuple[float | None, float | None]
    collapse: bool
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateReason:
    """One reason why the gate tripped."""

    kind: str
    """regression | judge_change | not_comparable | incomplete."""
    metric: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The printed verdict and the exit code come from this one value."""

    tripped: bool = False
    reasons: tuple[GateReason, ...] = ()


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Everything a screen, a report or a gate says about two runs."""

    before: str
    after: str
    comparable: Mapping[str, Comparability]
    context_changes: tuple[ContextChange, ...]
    metrics: Mapping[str, MetricDelta]
    questions: QuestionPartition
    claim_flips: tuple[ClaimFlip, ...] = ()
    modules: tuple[ModuleDelta, ...] = ()
    gate: Gate = Gate()
    noise_floor: Mapping[str, float] = field(default_factory=dict)
    """Metric to the spread that repeats of the same question show; empty without repeats."""
    own_means: Mapping[str, tuple[float | None, int, float | None, int]] = field(default_factory=dict)
    """Metric to (mean, n) of each run on its own, to show beside the shared set."""
    by_corpus: Mapping[str, Mapping[str, tuple[float | None, float | None, int]]] = field(default_factory=dict)
    """Corpus to metric to (before, after, n_paired)."""
    still_failing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Question to the yes-or-no metrics in which it failed in both runs; those that were routed anew come first."""
