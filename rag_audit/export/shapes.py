"""The JSON shapes of runs and questions that scripts rely on."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rag_audit.model import Claim, Cost, MetricSummary, QuestionResult, RunContext, RunSummary, Tokens


def summary_json(summary: RunSummary) -> dict[str, Any]:
    """A run's summary."""
    return {
        "id": summary.id,
        "label": summary.label,
        "status": summary.status.value,
        "origin": summary.origin.value,
        "parent": summary.parent,
        "started_at": summary.started_at,
        "duration_s": summary.duration_s,
        "total": summary.questions,
        "context": _fields(summary.context),
        "reported_models": {role: list(models) for role, models in summary.reported_models.items()},
        "metrics": {name: metric_json(metric) for name, metric in summary.metrics.items()},
        "by_corpus": {
            corpus: {name: metric_json(metric) for name, metric in metrics.items()}
            for corpus, metrics in summary.by_corpus.items()
        },
        "claims": dict(summary.claims),
        "flags": dict(summary.flags),
        "cost": _fields(summary.cost),
        "tokens": _fields(summary.tokens),
        "context_parity": summary.context_parity,
        "overlap": summary.overlap,
        "source": summary.source,
        "overrides": list(summary.overrides),
        "notes": list(summary.notes),
    }


def _fields(record: RunContext | Cost | Tokens) -> dict[str, Any]:
    """A record's fields by name; `asdict` copies them deeply, which a list of a thousand runs feels."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def metric_json(metric: MetricSummary) -> dict[str, Any]:
    """One metric's mean with its balance."""
    return {
        "mean": metric.mean,
        "n": metric.n,
        "total": metric.total,
        "missing": dict(metric.missing),
        "range": list(metric.range),
        "direction": metric.direction.value,
    }


def result_json(
    result: QuestionResult,
    effective: Mapping[str, str] | None = None,
    *,
    in_full: bool = False,
) -> dict[str, Any]:
    """One question's result; `effective` maps claim ids to effective verdicts; `in_full` adds what each layer saw."""
    generation = result.generation
    judgment = result.claim_judgment
    shape: dict[str, Any] = {
        "id": result.question.id,
        "repeat": result.repeat,
        "question": result.question.question,
        "doc_id": result.question.doc_id,
        "route": {
            "corpora": list(result.route.corpora),
            "rule": result.route.rule,
            "home": list(result.route.home),
            "misrouted": result.route.misrouted,
        },
        "retrieved": [
            {
                "doc_id": found.chunk.doc_id,
                "corpus": found.chunk.corpus,
                "rank": found.rank,
                "score": found.score,
                "relevant": found.relevant,
                **(
                    {
                        "text": found.chunk.text,
                        "heading": list(found.chunk.heading),
                        "start": found.chunk.start,
                        "score_parts": dict(found.score_parts),
                    }
                    if in_full
                    else {}
                ),
            }
            for found in result.retrieved
        ],
        "answer": generation.answer if generation else None,
        "reference_answer": result.question.reference_answer,
        "scores": dict(result.scores),
        "missing": dict(result.missing),
        "claims": [_claim_json(claim, result, effective or {}) for claim in (judgment.claims if judgment else ())],
        "flags": sorted({flag.flag.value for flag in result.flags if flag.claim_id is None}),
        "measurements": dict(result.measurements),
        "notes": list(result.notes),
        "error": result.error,
    }
    return {**shape, **_what_each_layer_saw(result)} if in_full else shape


def _claim_json(claim: Claim, result: QuestionResult, effective: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": claim.id,
        "text": claim.text,
        "verdict": claim.verdict.value,
        "effective_verdict": effective.get(claim.id, claim.verdict.value),
        "evidence": claim.evidence,
        "evidence_found": _evidence_found(claim, result),
        "support": claim.support.value,
        "reason": claim.reason,
        "flags": [flag.flag.value for flag in result.flags if flag.claim_id == claim.id],
    }


def _evidence_found(claim: Claim, result: QuestionResult) -> bool | None:
    """Whether the quote stands in the excerpt; None without a quote, or where no excerpt was kept to look in."""
    excerpt = result.claim_judgment.excerpt if result.claim_judgment else None
    if not claim.evidence or excerpt is None or not (excerpt.reference or excerpt.context):
        return None
    return bool(claim.evidence_spans)


def _what_each_layer_saw(result: QuestionResult) -> dict[str, Any]:
    generation = result.generation
    excerpt = result.claim_judgment.excerpt if result.claim_judgment else None
    return {
        "generator_prompt": generation.prompt if generation else None,
        "generator_cut": list(generation.cut) if generation else [],
        "stop_reason": generation.stop_reason if generation else None,
        "judge_calls": [
            {
                "judge": call.judge,
                "prompt": call.prompt,
                "reply": call.reply,
                "model": call.model,
                "error": call.error,
                "cached": call.cached,
            }
            for call in result.judge_calls
        ],
        "excerpt": {
            "reference": excerpt.text("reference") if excerpt else "",
            "context": excerpt.text("context") if excerpt else "",
            "cut": list(excerpt.cut) if excerpt else [],
        },
        "justification": result.score_judgment.justification if result.score_judgment else None,
        "context_parity": result.context_parity,
        "overlap": result.overlap,
    }
