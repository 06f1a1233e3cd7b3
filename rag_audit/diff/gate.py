"""Decides whether a build may pass; the printed verdict and the exit code come from the value made here."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.model import (
    Comparability,
    Gate,
    GateReason,
    MetricDelta,
    MetricVerdict,
    RunStatus,
    RunSummary,
)

REGRESSION, JUDGE_CHANGE, INCOMPLETE = "regression", "judge-change", "incomplete"
CONDITIONS = (REGRESSION, JUDGE_CHANGE, INCOMPLETE)


@dataclass(frozen=True, slots=True)
class GatedMetric:
    """What the gate looks at in one metric; unreviewed questions are already left out."""

    name: str
    delta: MetricDelta
    comparable: Comparability
    judged: bool
    """Whether a judge gives its values."""
    judge_changed: bool
    failed: int
    """Questions that lack it for a failed reason in either run."""


@dataclass(frozen=True, slots=True)
class GateRules:
    """What a build refuses."""

    fail_on: Sequence[str] = ()
    """regression | judge-change | incomplete."""
    allow_unverified: bool = False
    min_n: int = 1
    """Fewest shared scored questions of a gated metric."""


def check_gate(rules: GateRules, metrics: Sequence[GatedMetric], runs: tuple[RunSummary, RunSummary]) -> Gate:
    """Check the conditions a build names.

    `regression` trips on a gated metric whose verdict is *regressed*, that is not comparable (or only unverified,
    unless that is allowed), or that too few questions share; and where there is no metric to look at.
    `judge-change` trips on a judged metric whose judge differs or cannot be verified.
    `incomplete` trips where a gated score is missing for a failed reason in either run, or a run has not ended.
    """
    reasons: list[GateReason] = []
    if REGRESSION in rules.fail_on:
        if not metrics:
            reasons.append(GateReason("not_comparable", None, "the runs share no metric that could be compared"))
        reasons += [reason for metric in metrics if (reason := _regression(metric, rules))]
    if JUDGE_CHANGE in rules.fail_on:
        reasons += [reason for metric in metrics if metric.judged and (reason := _judge_change(metric, rules))]
    if INCOMPLETE in rules.fail_on:
        reasons += [reason for metric in metrics if (reason := _incomplete(metric))]
        reasons += [
            GateReason("incomplete", None, f"run {run.id} is {run.status.value}")
            for run in runs
            if run.status in (RunStatus.RUNNING, RunStatus.INTERRUPTED)
        ]
    reasons = list(dict.fromkeys(reasons))
    return Gate(bool(reasons), tuple(reasons))


def _not_comparable(metric: GatedMetric, rules: GateRules) -> GateReason | None:
    why = "; ".join(metric.comparable.reasons)
    if metric.comparable.ok is False:
        return GateReason("not_comparable", metric.name, why)
    if metric.comparable.ok is None and not rules.allow_unverified:
        return GateReason("not_comparable", metric.name, f"unverified: {why}")
    return None


def _regression(metric: GatedMetric, rules: GateRules) -> GateReason | None:
    blocked = _not_comparable(metric, rules)
    if blocked is not None:
        return blocked
    delta = metric.delta
    if delta.n_paired < rules.min_n:
        shared = f"{delta.n_paired} questions have a value in both runs; the gate needs {rules.min_n}"
        return GateReason("incomplete", metric.name, shared)
    if delta.verdict is MetricVerdict.REGRESSED:
        moved = f"{delta.before:.4g} → {delta.after:.4g} over {delta.n_paired} shared questions; {delta.reason}"
        return GateReason("regression", metric.name, moved)
    return None


def _judge_change(metric: GatedMetric, rules: GateRules) -> GateReason | None:
    if metric.judge_changed:
        return GateReason("judge_change", metric.name, "; ".join(metric.comparable.reasons))
    return _not_comparable(metric, rules)


def _incomplete(metric: GatedMetric) -> GateReason | None:
    if not metric.failed:
        return None
    verb = "lacks" if metric.failed == 1 else "lack"
    noun = "question" if metric.failed == 1 else "questions"
    return GateReason("incomplete", metric.name, f"{metric.failed} {noun} {verb} a score that was asked for")
