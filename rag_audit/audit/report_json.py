"""The JSON of `audit report`: a public contract."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rag_audit.audit.effective import AuditedQuestion, EffectiveClaim
from rag_audit.audit.report import AuditedMetric, AuditReport, ReviewerReport, SampleState
from rag_audit.audit.verdict import release_verdict
from rag_audit.model import Interval, JsonObject, RunSummary
from rag_audit.statistics.clustered import ClaimAgreement


def report_json(report: AuditReport) -> JsonObject:
    """Everything the report holds, as plain JSON."""
    return {
        "run": report.run.id,
        "label": report.run.label,
        "verdict": asdict(release_verdict(report)),
        "sample": _sample(report.sample) if report.sample else None,
        "agreement": agreement_json(report.agreement),
        "unblinded": agreement_json(report.unblinded),
        "by_reviewer": {name: _reviewer(reviewer) for name, reviewer in report.by_reviewer.items()},
        "between_reviewers": asdict(report.between),
        "metrics": {name: _metric(metric) for name, metric in report.metrics.items()},
        "flagged": {"decided": report.flagged[0], "overturned": report.flagged[1]},
        "disputed": len(report.disputed),
        "disputes": _disputes(report.disputed),
        "missed": report.missed,
        "cannot_judge": report.cannot_judge,
        "carried": report.carried,
        "needed": {"for_half_width_0.10": report.needed},
        "bias": [asdict(leaning) for leaning in report.leanings],
        "by_corpus": _parts(report.by_corpus),
        "by_judge": _parts(report.by_judge),
        "by_flag": _parts(report.by_flag),
        "over_time": [_moment(run, agreement) for run, agreement in report.over_time],
    }


def _sample(state: SampleState) -> JsonObject:
    sample = state.sample
    return {
        "id": sample.id,
        "questions": len(sample.questions),
        "claims": state.claims,
        "decided_questions": state.decided_questions,
        "blind_questions": state.blind_questions,
        "decided_claims": state.decided_claims,
        "nothing_to_decide": state.nothing_to_decide,
        "population": sample.population,
        "seed": sample.seed,
        "fraction": sample.fraction,
        "stratify": sample.stratify,
        "strata": {name: list(counts) for name, counts in sample.strata.items()},
        "target": list(sample.target),
        "provisional": state.provisional,
    }


def agreement_json(found: ClaimAgreement | None) -> JsonObject | None:
    """Agreement of judge and people; whole counts as whole numbers."""
    if found is None:
        return None
    return {
        **_short(found),
        "kappa": found.kappa,
        "kappa_low": found.kappa_bounds[0],
        "kappa_high": found.kappa_bounds[1],
        "ac1": found.ac1,
        "ac1_low": found.ac1_bounds[0],
        "ac1_high": found.ac1_bounds[1],
        "table": {judge: {human: _count(n) for human, n in row.items()} for judge, row in found.table.items()},
        "method": found.method,
        "notes": list(found.notes),
    }


def _short(found: ClaimAgreement) -> JsonObject:
    return {
        "n": _count(found.n),
        "n_questions": found.n_questions,
        "raw": found.raw,
        "raw_low": found.raw_bounds[0],
        "raw_high": found.raw_bounds[1],
    }


def _count(value: float) -> int | float:
    """A count as a whole number; a share of a claim that several people decided stays one."""
    return round(value) if abs(value - round(value)) < 1e-9 else value


def _parts(parts: Mapping[str, ClaimAgreement]) -> JsonObject:
    return {name: _short(found) for name, found in parts.items()}


def _reviewer(reviewer: ReviewerReport) -> JsonObject:
    return {
        "decisions": reviewer.decisions,
        "questions": reviewer.questions,
        "blind": reviewer.blind,
        "skipped": reviewer.skipped,
        "seconds": reviewer.seconds,
        "agreement": agreement_json(reviewer.agreement),
    }


def _metric(metric: AuditedMetric) -> JsonObject:
    correction = metric.correction
    interval = correction.interval
    return {
        "judge": metric.judge.mean,
        "judge_n": metric.judge.n,
        "total": metric.judge.total,
        "adjusted": metric.adjusted.mean,
        "adjusted_n": metric.adjusted.n,
        "adjusted_questions": metric.adjusted_questions,
        "corrected": interval.estimate,
        "corrected_low": interval.low,
        "corrected_high": interval.high,
        "corrected_bounds": list(correction.bounds) if correction.bounds else None,
        "method": None if interval.method == "none" else interval.method,
        "note": interval.note,
        "wilson_low": correction.wilson[0],
        "wilson_high": correction.wilson[1],
        "n_labelled": interval.n,
        "n_open": correction.n_open,
        "without_judge_value": correction.without_judge_value,
        "range": list(metric.judge.range),
        "options": {name: _option(option) for name, option in correction.options.items()},
        "scores": asdict(metric.scores) if metric.scores else None,
    }


def _option(option: Interval) -> JsonObject:
    return {"estimate": option.estimate, "low": option.low, "high": option.high, "warning": option.note}


def _disputes(disputed: Sequence[tuple[AuditedQuestion, EffectiveClaim]]) -> list[dict[str, Any]]:
    return [
        {
            "question_id": question.id,
            "repeat": question.repeat,
            "claim_id": claim.id,
            "judge": claim.judge,
            "said": {vote.reviewer: vote.verdict for vote in claim.decisions},
        }
        for question, claim in disputed
    ]


def _moment(run: RunSummary, agreement: ClaimAgreement) -> JsonObject:
    judge = run.context.judges.get("claims")
    return {"run": run.id, "label": run.label, "started_at": run.started_at, "judge": judge, **_short(agreement)}
