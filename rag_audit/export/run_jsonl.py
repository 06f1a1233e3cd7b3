"""A run as a plain results file: importing it gives the same questions, scores, claims, verdicts and metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TextIO

import orjson

from rag_audit.export.run_report import RunReport
from rag_audit.model import Chunk, ClaimJudgment, Passage, QuestionResult, RetrievedChunk, Verdict


def write_jsonl(report: RunReport, out: TextIO) -> None:
    """Write the run line, then one line a question (of a repeat)."""
    for document in _documents(report):
        out.write(orjson.dumps(document, default=_plain).decode() + "\n")


def _documents(report: RunReport) -> Iterator[dict[str, Any]]:
    summary = report.summary
    yield {
        "run": {
            "id": summary.id,
            "label": summary.label,
            "status": summary.status.value,
            "started_at": summary.started_at,
            "duration_s": summary.duration_s,
            "context": asdict(summary.context),
            "reported_models": summary.reported_models,
            "metrics": {
                name: {"range": list(metric.range), "direction": metric.direction.value}
                for name, metric in summary.metrics.items()
            },
            "history_head": report.head,
        }
    }
    for question in report.questions():
        yield question_line(question.result)


def question_line(result: QuestionResult) -> dict[str, Any]:
    """One question of a plain results file; what there is none of is left out."""
    question = result.question
    line: dict[str, Any] = {
        "id": question.id,
        "repeat": result.repeat,
        "question": question.question,
        "answer": result.generation.answer if result.generation else None,
        "reference_answer": question.reference_answer,
        "doc_id": question.doc_id,
        "keywords": question.keywords,
        "also_docs": question.also_docs,
        "gold": question.gold,
        "corpora": question.corpora,
        "tags": question.tags,
        "cross_corpus": question.cross_corpus,
        "context": question.context,
        "source": question.source,
        "answerable": None if question.answerable else False,
        "origin": question.origin,
        "drafted_by": question.drafted_by,
        "reviewed": question.reviewed,
        "route": {"corpora": result.route.corpora, "rule": result.route.rule, "home": result.route.home},
        "contexts": [_context(found) for found in result.retrieved],
        "measurements": result.measurements,
        "missing": result.missing,
        "notes": result.notes,
        "error": result.error,
        **_judged(result.claim_judgment, result.retrieved),
    }
    kept = {key: value for key, value in line.items() if value is not None and value not in ((), {})}
    return {**kept, "scores": result.scores}


def _context(found: RetrievedChunk) -> dict[str, Any]:
    chunk = _text(found.chunk)
    told = {"score": found.score, "relevant": found.relevant}
    return {**chunk, **{key: value for key, value in told.items() if value is not None}}


def _text(part: Chunk | Passage) -> dict[str, Any]:
    return {"text": part.text, "doc_id": part.doc_id, "corpus": part.corpus}


def _judged(judgment: ClaimJudgment | None, retrieved: Sequence[RetrievedChunk]) -> dict[str, Any]:
    """The claims, unless the judge failed before it listed any; a verdict that could not be read is null."""
    if judgment is None:
        return {}
    found: dict[str, Any] = {"excerpt": judgment.excerpt.text("reference") or None}
    if judgment.excerpt.context:
        # Mostly what the generator had, word for word, which need not be written twice.
        seen = [_text(passage) for passage in judgment.excerpt.context]
        found["judged_contexts"] = True if seen == [_text(item.chunk) for item in retrieved] else seen
    if judgment.identity is not None:
        found["judge"] = {"model": judgment.identity.model, "prompt_hash": judgment.identity.prompt_hash}
    if judgment.claims or judgment.error is None:
        found["claims"] = [
            {
                "text": claim.text,
                "verdict": None if claim.verdict is Verdict.UNPARSED else claim.verdict.value,
                **({"evidence": claim.evidence, "support": claim.support.value} if claim.evidence else {}),
                **({"reason": claim.reason} if claim.reason else {}),
            }
            for claim in judgment.claims
        ]
    return found


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    raise TypeError(type(value).__name__)
