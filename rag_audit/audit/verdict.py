"""The release verdict: one sentence for a manager, with the figures an auditor can check it by."""

from dataclasses import dataclass

from rag_audit.audit.estimates import HALF_WIDTH
from rag_audit.audit.report import AuditedMetric, AuditReport

METRIC = "no_fabrication"


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """What may be said of a run's answers after the audit."""

    standing: str
    """established | provisional | open | unchecked."""
    sentence: str
    judge_inside: bool | None
    """Whether the judge's own figure lies in the corrected interval; None without one."""


def release_verdict(report: AuditReport) -> ReleaseVerdict:
    """Say what the audit found of `no_fabrication`, how sure that is, and whether the judge can be quoted."""
    metric = report.metrics.get(METRIC)
    if metric is None or metric.judge.mean is None:
        return ReleaseVerdict("unchecked", "No verdict: no answer of this run has claims that a judge decided.", None)
    judge = f"the judge alone says {percent(metric.judge.mean)}"
    interval = metric.correction.interval
    if interval.low is None or interval.high is None:
        needed = metric.correction.needed
        advice = f" At worst {counted(needed, 'checked question')} give ±10 points." if needed is not None else ""
        return ReleaseVerdict("unchecked", f"No verdict: {_why_unchecked(report)}; {judge}, unchecked.{advice}", None)
    inside = interval.low <= metric.judge.mean <= interval.high
    span = f"95 % interval {percent(interval.low)} to {percent(interval.high)}"
    basis = f"{interval.n} of {counted(metric.correction.judged, 'judged question')} checked blind by {_who(report)}"
    if interval.estimate is None:
        start = f"Between {percent(interval.low)} and {percent(interval.high)} of the answers are free of contradicted"
        sentence = (
            f"{start} claims; undecided: {counted(metric.correction.n_open, 'checked question')} ({basis}; {judge})."
        )
        return ReleaseVerdict("open", sentence, inside)
    sentence = (
        f"{percent(interval.estimate)} of the answers are free of contradicted claims ({span}; {basis}; {judge}). "
        f"{_on_the_judge(metric, inside)}{_on_the_width(metric)}"
    )
    provisional = report.sample is None or report.sample.provisional
    if provisional and report.sample is not None:
        state = report.sample
        done = f"{state.blind_questions} of {counted(len(state.sample.questions), 'drawn question')} decided"
        sentence = f"Provisional, {done}: {sentence}"
    return ReleaseVerdict("provisional" if provisional else "established", sentence, inside)


def counted(count: float, noun: str) -> str:
    """A number with its noun: 1 claim, 2 claims; a share of a claim that several people decided stays one."""
    return f"{count:g} {noun}" + ("" if count == 1 else "s")


def percent(value: float) -> str:
    """A share as a percentage; never rounded to 0 or 100 where it is neither."""
    shown = round(100 * value)
    if shown in (0, 100) and value not in (0.0, 1.0):
        return "over 99 %" if shown else "under 1 %"
    return f"{shown} %"


def _why_unchecked(report: AuditReport) -> str:
    if report.sample is None:
        return "no random sample was drawn"
    if "claims" not in report.sample.sample.target:
        return "the draw does not target claims"
    return "fewer than 2 drawn questions with a judge's value were checked blind"


def _who(report: AuditReport) -> str:
    names = [name for name, reviewer in report.by_reviewer.items() if reviewer.blind]
    return ", ".join(names)


def _on_the_judge(metric: AuditedMetric, inside: bool) -> str:
    if inside:
        return "The judge's figure lies inside the interval: this audit does not speak against it."
    estimate, judge = metric.correction.interval.estimate, metric.judge.mean
    lenient = estimate is not None and judge is not None and judge > estimate
    return f"The judge is too {'lenient' if lenient else 'strict'}: do not quote its figure."


def _on_the_width(metric: AuditedMetric) -> str:
    interval, needed = metric.correction.interval, metric.correction.needed
    if interval.low is None or interval.high is None:
        return ""
    half = (interval.high - interval.low) / 2
    if half <= HALF_WIDTH:
        return ""
    more = (
        f"{counted(needed - interval.n, 'more question')} would give ±10"
        if needed is not None
        else "this run has too few for ±10"
    )
    return f" Differences under {round(100 * half)} points cannot be told at this size; {more}."
