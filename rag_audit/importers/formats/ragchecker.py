"""RAGChecker: every claim of a response checked against every retrieved chunk."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunks_of
from rag_audit.importers.record import ForeignRun, ImportedChunk, ImportedClaim, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, list_entries
from rag_audit.importers.values import (
    is_blank,
    json_text,
    list_of,
    map_of,
    maps_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    text_of,
)
from rag_audit.model import JudgeCall, RunContext, Verdict

_GROUPS = frozenset({"overall", "retriever", "generator"})
_CHECKS = ("answer2response", "response2answer", "retrieved2response", "retrieved2answer")
_LABELS = {"entailment": Verdict.VERIFIED, "contradiction": Verdict.CONTRADICTED, "neutral": Verdict.ABSENT}


def recognises(source: Source) -> bool:
    """Results with queries and retrieved contexts, or the metrics of such a file."""
    document = source.document_map
    if "results" not in document:
        return False
    if not _GROUPS.isdisjoint(map_of(document.get("metrics"))):
        return True
    return any(
        "query" in result and not {"query_id", "gt_answer", "retrieved_context"}.isdisjoint(result)
        for result in maps_of(document["results"])[:20]
    )


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run; a file of inputs gives answers and chunks without scores."""
    results = list_of(source.document_map.get("results"))
    if not results:
        raise refuse(source, "aggregates only: metrics without results", "Import the file with the results.")
    measured = dict.fromkeys(name for result in maps_of(results) for name in map_of(result.get("metrics")))
    names = metric_names("ragchecker", measured)
    checked = any(result.get("response_claims") is not None for result in maps_of(results))
    return (
        ForeignRun(
            format="ragchecker",
            entries=list_entries(results),
            convert=lambda record: _row(record, names),
            context=RunContext(),
            kinds={metric: known_kind(metric) for metric in names.values()},
            claim_scores=frozenset({"ragchecker.faithfulness"}),
            file_rows=len(results),
            warnings=(
                "the file does not name the judge; --judge NAME makes runs comparable"
                if checked
                else "nothing is judged yet in this file",
            ),
        ),
    )


def _row(record: Record, names: Mapping[str, str]) -> ImportedRow | LeftOut:
    result = record.values
    question = text_of(result.get("query"))
    if question is None or is_blank(question):
        return LeftOut(record.line, "no query")
    stated = map_of(result.get("metrics"))
    scores = {metric: number_of(stated.get(name)) for name, metric in names.items()}
    chunks, problem = chunks_of(result.get("retrieved_context"))
    claims, note = _claims(result, chunks or ())
    checks = {name: result[name] for name in _CHECKS if result.get(name) is not None}
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(result.get("query_id")),
        answer=text_of(result.get("response")),
        reference=text_of(result.get("gt_answer")),
        contexts=chunks,
        scores=scores,
        missing={
            metric: missing_reason(stated.get(name)) if name in stated or not stated else "not_asked"
            for name, metric in names.items()
            if scores[metric] is None
        },
        claims=claims,
        claims_missing="unparsed" if note and claims is None else None,
        claims_listed=len(list_of(result.get("response_claims"))),
        claims_against=chunks or () if claims is not None else (),
        judge_calls=(JudgeCall("claims", "", json_text(checks)),) if checks else (),
        notes=tuple(text for text in (note, problem) if text),
    )


def _claims(
    result: Mapping[str, Any], chunks: Sequence[ImportedChunk]
) -> tuple[tuple[ImportedClaim, ...] | None, str | None]:
    """The response's claims; their verdicts come from the retrieved chunks, never from the reference answer."""
    if not isinstance(result.get("response_claims"), list):
        return None, None if result.get("response_claims") is None else "response_claims is no list"
    texts = [_claim_text(claim) for claim in result["response_claims"]]
    matrix = result.get("retrieved2response")
    if not isinstance(matrix, list) or len(matrix) != len(texts):
        note = (
            f"{len(texts)} claims but {len(matrix)} checks" if isinstance(matrix, list) else "claims were not checked"
        )
        return tuple(ImportedClaim(text, Verdict.UNPARSED) for text in texts), note if texts else None
    return tuple(_checked(text, labels, chunks) for text, labels in zip(texts, matrix, strict=True)), None


def _claim_text(claim: Any) -> str:
    """A claim is a text or a triple of subject, predicate and object."""
    if isinstance(claim, list):
        return " ".join(text for part in claim if (text := text_of(part)) is not None)
    return text_of(claim) or ""


def _checked(text: str, labels: Any, chunks: Sequence[ImportedChunk]) -> ImportedClaim:
    """Entailed by any chunk: verified; else contradicted by any: contradicted; else absent."""
    verdicts = [
        _LABELS.get(label.strip().lower(), Verdict.UNPARSED) if isinstance(label, str) else Verdict.UNPARSED
        for label in list_of(labels)
    ]
    if not verdicts:
        return ImportedClaim(text, Verdict.UNPARSED)
    for verdict in (Verdict.VERIFIED, Verdict.CONTRADICTED, Verdict.UNPARSED):
        if verdict in verdicts:
            break
    else:
        return ImportedClaim(text, Verdict.ABSENT)
    at = verdicts.index(verdict)
    conflicting = verdict is Verdict.VERIFIED and Verdict.CONTRADICTED in verdicts
    other = verdicts.index(Verdict.CONTRADICTED) + 1 if conflicting else 0
    return ImportedClaim(
        text,
        verdict,
        evidence=chunks[at].text if at < len(chunks) and verdict is not Verdict.UNPARSED else None,
        reason=f"chunk {at + 1} entails it, chunk {other} contradicts it" if conflicting else None,
        conflicting=conflicting,
    )


FORMAT = Format("ragchecker", "RAGChecker", recognises, read)
