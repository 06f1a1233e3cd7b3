"""TruLens: tables of records with one column a feedback; groundedness reasons carry the claims."""

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_audit.importers.columns import survey_columns
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.formats.ragas import sample_entries
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import parse_listing
from rag_audit.importers.record import UNKNOWN_KIND, Entries, ForeignRun, ImportedClaim, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source
from rag_audit.importers.values import (
    is_blank,
    list_of,
    map_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    snake_name,
    text_of,
    utc_time,
)
from rag_audit.model import UNKNOWN, JudgeCall, RunContext, Verdict

_RECORD = ("app_name", "app_version", "app_id", "record_id", "record_json", "cost_json", "perf_json", "app_json")
_SCHEMA = frozenset({*_RECORD, "type", "tags", "ts", ""})
_MEASURED = ("latency", "total_tokens", "total_cost")
_SPANS = frozenset({"record_attributes", "resource_attributes"})
_QUESTION = ("question", "input", "query", "prompt")
_ANSWER = ("output", "answer", "response")
_REASONED = ("groundedness", "context_relevance", "ctxrelevance", "answer_relevance", "relevance")
_EVIDENCE = "Supporting Evidence:"
_NOTHING = "NOTHING FOUND"


def recognises(source: Source) -> bool:
    """The tool's own tables, a table of questions with reasons, spans, or a single feedback result."""
    if "feedback_result_id" in source.document_map or "feedback_definition_id" in source.document_map:
        return True
    header = _columns(source)
    if header >= _SPANS or header >= {"record_id", "input", "output"}:
        return True
    if source.kind != "table":
        return False
    reasons = any(is_reason(name) and name.lower().startswith(_REASONED) for name in header)
    question = _column(header, _QUESTION)
    if question is None:
        return not header.isdisjoint(_RECORD[:3])
    return reasons or (question == "input" and not header.isdisjoint(_RECORD[:3]))


def _columns(source: Source) -> KeysView[str]:
    """The columns of a table, or the keys of the first entry."""
    entries = sample_entries(source)
    first = next((entry.values for entry in entries() if isinstance(entry, Record)), {}) if entries else {}
    return dict.fromkeys(source.header or first).keys()


def _column(header: Iterable[str], names: Sequence[str]) -> str | None:
    """The column called by the first of the names that there is, whatever its case."""
    columns = {name.lower(): name for name in header}
    return next((columns[name] for name in names if name in columns), None)


def is_reason(name: str) -> bool:
    """Whether a column holds the reasons of a feedback."""
    return name.lower().endswith(("_reason", "_reasons", " reason", " reasons"))


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run an app and version."""
    header = _columns(source)
    entries = sample_entries(source)
    export = "Export get_records_and_feedback() as CSV."
    if header >= _SPANS:
        raise refuse(source, "raw OTEL spans, no records", export)
    if "feedback_result_id" in source.document_map:
        raise refuse(source, "one feedback result, no record", export)
    question, answer = _column(header, _QUESTION), _column(header, _ANSWER)
    if question is None or entries is None:
        raise refuse(source, "aggregates only (a leaderboard): no record rows", export)
    aside = {name for name in header if is_reason(name) or name.endswith("_calls")}
    survey = survey_columns(entries, leave={*_SCHEMA, *aside, question, answer or question})
    if not survey.rows:
        raise refuse(source, "header only, no rows", "Record at least one question.")
    names = metric_names("trulens", survey.scores(_is_metric))
    warnings = (
        *survey.unread(names, _is_metric, leave=_MEASURED),
        "the file does not name the judge; --judge NAME makes runs comparable",
    )

    def convert(record: Record) -> ImportedRow | LeftOut:
        return _row(record, names, question, answer)

    systems = dict.fromkeys(_system(entry.values) for entry in entries() if isinstance(entry, Record))
    runs = (_run(_rows_of(entries, system), system, names, convert, alone=len(systems) == 1) for system in systems)
    return tuple(replace(run, warnings=warnings) for run in runs)


def _is_metric(column: str) -> bool:
    return known_kind(f"trulens.{snake_name(column)}") != UNKNOWN_KIND


def _system(values: Mapping[str, Any]) -> tuple[str | None, str | None]:
    app = name_of(values.get("app_name")) or name_of(values.get("app_id"))
    return app, name_of(values.get("app_version"))


def _rows_of(entries: Entries, system: tuple[str | None, str | None]) -> Entries:
    def rows() -> Iterator[Record | LeftOut]:
        return (entry for entry in entries() if isinstance(entry, LeftOut) or _system(entry.values) == system)

    return rows


def _run(
    entries: Entries,
    system: tuple[str | None, str | None],
    names: Mapping[str, str],
    convert: Callable[[Record], ImportedRow | LeftOut],
    *,
    alone: bool,
) -> ForeignRun:
    app, version = system
    title = " ".join(part for part in system if part) or None
    first = next((entry.values for entry in entries() if isinstance(entry, Record)), {})
    settings = {key: value for key, value in (("app_name", app), ("app_version", version)) if value}
    return ForeignRun(
        format="trulens",
        entries=entries,
        convert=convert,
        system=None if alone else title or UNKNOWN,
        label=title,
        context=RunContext(settings=settings),
        started_at=utc_time(first.get("ts")),
        kinds={metric: known_kind(metric) for metric in names.values()},
        claim_scores=frozenset(metric for metric in names.values() if "groundedness" in metric),
    )


def _row(record: Record, names: Mapping[str, str], asked: str, answered: str | None) -> ImportedRow | LeftOut:
    values = record.values
    question = text_of(values.get(asked))
    if question is None or is_blank(question):
        return LeftOut(record.line, "no question")
    scores = {metric: number_of(values.get(name)) for name, metric in names.items()}
    reasons = {name: cell for name, cell in values.items() if is_reason(name) and not is_blank(cell)}
    claims, note = _claims(reasons)
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(values.get("record_id")),
        answer=text_of(values.get(answered)) if answered else None,
        scores=scores,
        missing={metric: missing_reason(values.get(name)) for name, metric in names.items() if scores[metric] is None},
        claims=claims,
        claims_missing="unparsed" if note else None,
        claims_listed=len(claims or ()),
        judge_calls=tuple(
            JudgeCall("claims" if "groundedness" in name.lower() else "scores", "", f"{name}\n\n{cell}")
            for name, cell in reasons.items()
        ),
        measurements={name: number for name in _MEASURED if (number := number_of(values.get(name))) is not None},
        notes=tuple(text for text in (note, record.problem) if text),
    )


def _claims(reasons: Mapping[str, Any]) -> tuple[tuple[ImportedClaim, ...] | None, str | None]:
    """The statements of the groundedness reasons; TruLens never says that something is contradicted."""
    cell = next((cell for name, cell in reasons.items() if name.lower().startswith("groundedness")), None)
    if cell is None:
        return None, None
    listed = parse_listing(cell) if isinstance(cell, str) else cell
    if not isinstance(listed, list):
        return None, "the groundedness reasons are cut off or unreadable" if str(cell).lstrip()[:1] == "[" else None
    if not all("criteria" in map_of(member) for member in listed):
        return None, None
    return tuple(_claim(map_of(member)) for member in list_of(listed)), None


def _claim(member: Mapping[str, Any]) -> ImportedClaim:
    score = number_of(member.get("score"))
    verdict = {1.0: Verdict.VERIFIED, 0.0: Verdict.ABSENT}.get(-1.0 if score is None else score, Verdict.UNPARSED)
    evidence = (text_of(member.get("supporting_evidence")) or "").rpartition(_EVIDENCE)[2].strip()
    return ImportedClaim(
        text=text_of(member.get("criteria")) or "",
        verdict=verdict,
        evidence=None if not evidence or evidence.upper() == _NOTHING else evidence,
        reason=None if score is None else f"score {score:g}",
    )


FORMAT = Format("trulens", "TruLens", recognises, read)
