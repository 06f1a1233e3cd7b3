"""The audit report in words and columns, for a terminal or a mail."""

from collections.abc import Iterable, Mapping, Sequence

from rag_audit.audit.report import AuditedMetric, AuditReport, SampleState
from rag_audit.audit.verdict import counted, release_verdict
from rag_audit.statistics.agreement import CLASSES, Bounds
from rag_audit.statistics.clustered import ClaimAgreement
from rag_audit.text.table import table
from rag_audit.text.visible import visible_line


def report_text(report: AuditReport) -> str:
    """The report, one section after the other; sections without content are left out."""
    name = f"{report.run.id} ({report.run.label})" if report.run.label else report.run.id
    sections = [
        [f"Audit of run {visible_line(name)}", "", visible_line(release_verdict(report).sentence)],
        _sample(report.sample),
        _metrics(report.metrics),
        _agreement("Judge and people (blind decisions of the draw)", report.agreement),
        _bias(report),
        _parts("By corpus", report.by_corpus),
        _parts("By judge", report.by_judge),
        _parts("By flag (drawn claims only)", report.by_flag),
        _agreement("Unblinded decisions (describe, estimate nothing)", report.unblinded),
        _reviewers(report),
        _queues(report),
        _over_time(report),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _sample(state: SampleState | None) -> list[str]:
    if state is None:
        return ["Sample: none drawn. `audit sample RUN` draws one; corrected values need it."]
    sample = state.sample
    size = len(sample.questions)
    spread = ", ".join(f"{name} {drawn} of {count}" for name, (drawn, count) in sample.strata.items())
    lines = [
        f"Sample {sample.id}: {size} of {counted(sample.population, 'question')}, {counted(state.claims, 'claim')}, "
        f"for {' and '.join(sample.target)} (seed {sample.seed}, {sample.stratify}: {spread})",
        f"  decided: {state.decided_questions} of {counted(size, 'question')}, {state.blind_questions} of them blind; "
        f"{state.decided_claims} of {counted(state.claims, 'claim')} blind",
    ]
    if state.nothing_to_decide:
        lines.append(f"  nothing to decide in {counted(state.nothing_to_decide, 'drawn question')}")
    if state.provisional:
        lines.append("  PROVISIONAL: drawn questions are still to be decided blind; every estimate below may move")
    return lines


def _metrics(metrics: Mapping[str, AuditedMetric]) -> list[str]:
    rows = [["metric", "judge's", "adjusted", "corrected", "95 % interval", "Wilson", "checked", "method"]]
    notes = []
    for name, metric in metrics.items():
        correction, interval = metric.correction, metric.correction.interval
        estimate = figure(interval.estimate)
        if correction.bounds:
            estimate = f"{figure(correction.bounds[0])} to {figure(correction.bounds[1])}"
        rows.append(
            [
                name,
                f"{figure(metric.judge.mean)} (n {metric.judge.n} of {metric.judge.total})",
                f"{figure(metric.adjusted.mean)} ({metric.adjusted_questions} changed)",
                estimate,
                span((interval.low, interval.high)),
                span(correction.wilson),
                str(interval.n),
                interval.method if interval.method != "none" else "–",
            ]
        )
        notes += [f"  {name}: {text}" for text in metric_notes(metric)]
    if len(rows) == 1:
        return []
    return ["Metrics: as judged, with decisions applied, and estimated from the random sample", *_columns(rows), *notes]


def metric_notes(metric: AuditedMetric) -> Iterable[str]:
    """What must be said beside the figures of a metric."""
    correction = metric.correction
    if correction.interval.note:
        yield correction.interval.note
    if correction.without_judge_value:
        yield f"left out for want of a judge's value: {counted(correction.without_judge_value, 'checked question')}"
    if correction.needed is not None and correction.needed > correction.interval.n:
        more = correction.needed - correction.interval.n
        yield f"±0.10 needs about {correction.needed} checked questions ({more} more)"
    if metric.scores:
        gap = metric.scores.difference
        yield (
            f"judge minus people {figure(gap.estimate)} ({span((gap.low, gap.high))}) "
            f"over {metric.scores.n} answers, weighted kappa {figure(metric.scores.weighted_kappa)}"
        )


def _agreement(title: str, found: ClaimAgreement | None) -> list[str]:
    if found is None:
        return []
    lines = [
        f"{title}: {counted(found.n, 'claim')} of {counted(found.n_questions, 'question')}",
        f"  raw agreement {figure(found.raw)} ({span(found.raw_bounds)})   "
        f"kappa {figure(found.kappa)} ({span(found.kappa_bounds)})   "
        f"AC1 {figure(found.ac1)} ({span(found.ac1_bounds)})",
    ]
    header = ["judge \\ people", *CLASSES]
    rows = [[judge, *(f"{found.table[judge][human]:g}" for human in CLASSES)] for judge in CLASSES]
    return [*lines, *_columns([header, *rows]), *(f"  {note}" for note in found.notes)]


def _bias(report: AuditReport) -> list[str]:
    if not report.leanings:
        return []
    lines = ["Direction of the judge's errors"]
    for leaning in report.leanings:
        against = f"{leaning.judge:g} times, people {leaning.people:g} times"
        if leaning.direction == "unclear":
            lines.append(f"  {leaning.verdict}: judge {against}; no direction can be told")
        else:
            p_value = "" if leaning.p_value is None else f", p {leaning.p_value:.3g}"
            lines.append(f"  the judge says {leaning.verdict} {leaning.direction}: {against}{p_value}")
    return lines


def _parts(title: str, parts: Mapping[str, ClaimAgreement]) -> list[str]:
    if not parts:
        return []
    rows = [
        [
            name,
            counted(found.n, "claim"),
            counted(found.n_questions, "question"),
            figure(found.raw),
            span(found.raw_bounds),
        ]
        for name, found in parts.items()
    ]
    return [title, *_columns(rows)]


def _reviewers(report: AuditReport) -> list[str]:
    if not report.by_reviewer:
        return []
    rows = [["reviewer", "decisions", "questions", "blind", "cannot judge", "agreement with the judge", "seconds"]]
    for name, reviewer in report.by_reviewer.items():
        raw = f"{figure(reviewer.agreement.raw)} (n {reviewer.agreement.n:g})" if reviewer.agreement else "–"
        counts = (reviewer.decisions, reviewer.questions, reviewer.blind, reviewer.skipped)
        rows.append([name, *map(str, counts), raw, figure(reviewer.seconds, 1)])
    lines = ["Reviewers", *_columns(rows)]
    if report.between.claims:
        lines.append(
            f"  between reviewers: alpha {figure(report.between.alpha)} "
            f"over {counted(report.between.claims, 'claim')}, {len(report.between.differences)} decided differently"
        )
    lines += [
        f"  {visible_line(found.question_id)} {found.claim_id}: "
        + ", ".join(f"{visible_line(reviewer)} {verdict}" for reviewer, verdict in found.said.items())
        for found in report.between.differences
    ]
    return lines


def _queues(report: AuditReport) -> list[str]:
    lines = []
    if report.flagged[0]:
        lines.append(
            f"Flagged queue: {counted(report.flagged[0], 'claim')} decided, {report.flagged[1]} overturned "
            "(a targeted sample: in no estimate)"
        )
    if report.disputed:
        lines.append(f"Disputed, as judged until adjudicated: {counted(len(report.disputed), 'claim')}")
    if report.missed:
        lines.append(f"Missed by the judge, added by reviewers: {counted(report.missed, 'claim')}")
    if report.carried:
        lines.append(f"Carried from an earlier run (same claim, same excerpt): {counted(report.carried, 'decision')}")
    if report.cannot_judge:
        lines.append(f"Cannot judge: {counted(report.cannot_judge, 'claim')}")
    return lines


def _over_time(report: AuditReport) -> list[str]:
    if len(report.over_time) < 2:
        return []
    rows = [
        [
            run.started_at[:10],
            run.label or run.id,
            str(run.context.judges.get("claims", "unknown")),
            counted(found.n, "claim"),
            figure(found.raw),
            span(found.raw_bounds),
        ]
        for run, found in report.over_time
    ]
    return ["Agreement over time, oldest first", *_columns(rows)]


def figure(value: float | None, digits: int = 3) -> str:
    """A number for a person; – where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def span(bounds: Bounds) -> str:
    """An interval for a person; – where there is none."""
    return "–" if bounds[0] is None or bounds[1] is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    return table(rows[0], rows[1:], indent=2).split("\n")
