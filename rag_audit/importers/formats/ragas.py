"""Ragas: tables and JSON of samples, one column a metric; claims and judge are never in the file."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rag_audit.importers.columns import flat_cells, is_summary_row, survey_columns
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunks_of, parse_listing
from rag_audit.importers.record import UNKNOWN_KIND, Entries, ForeignRun, ImportedChunk, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, list_entries
from rag_audit.importers.values import (
    is_blank,
    list_of,
    map_of,
    maps_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    snake_name,
    text_of,
)

_QUESTION = ("user_input", "question")
_ANSWER = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths", "reference_answer", "expected_answer")
_OWN = frozenset({"user_input", "retrieved_contexts", "contexts", "ground_truth", "ground_truths"})
_SCHEMA = frozenset(
    {
        *(*_QUESTION, *_ANSWER, *_CONTEXTS, *_REFERENCE),
        *("reference_contexts", "retrieved_context_ids", "reference_context_ids", "multi_responses", "rubrics"),
        *("id", "doc_id"),
    }
)
_MEANS = ("aggregate", "averages", "aggregates", "summary", "means", "mean")


def recognises(source: Source) -> bool:
    """A question column beside a column of Ragas' schema or one of its metrics."""
    entries = sample_entries(source)
    if entries is None:
        return False
    if source.kind == "table":
        return _is_sample(dict.fromkeys(source.header))
    return any(_is_sample(entry.values) for entry in entries() if isinstance(entry, Record))


def _is_sample(values: Mapping[str, Any]) -> bool:
    if not any(name in values for name in _QUESTION):
        return False
    return not _OWN.isdisjoint(values) or any(_is_metric(name) for name, _ in flat_cells(values))


def _is_metric(column: str) -> bool:
    return known_kind(f"ragas.{snake_name(column.removeprefix('ragas.'))}") != UNKNOWN_KIND


def sample_entries(source: Source) -> Entries | None:
    """The samples of any of the layouts: lines, a table, a list, a list inside an object, pandas' columns."""
    document = source.document
    if source.kind in ("lines", "table"):
        return source.entries
    listed = document if isinstance(document, list) else _listed(map_of(document))
    if maps_of(listed):
        return list_entries(listed)
    columns = map_of(document)
    if columns and all(isinstance(column, dict) for column in columns.values()):
        return lambda: _pandas_rows(columns)
    return None


def _listed(document: Mapping[str, Any], depth: int = 3) -> list[Any]:
    """The one list of objects in an object; of several, the one whose members have questions, also further inside."""
    lists = [value for value in document.values() if maps_of(value)]
    asked = [value for value in lists if any(name in maps_of(value)[0] for name in _QUESTION)]
    if lists or not depth:
        return next((only[0] for only in (lists, asked) if len(only) == 1), [])
    inside = [found for value in document.values() if (found := _listed(map_of(value), depth - 1))]
    return inside[0] if len(inside) == 1 and any(name in maps_of(inside[0])[0] for name in _QUESTION) else []


def _pandas_rows(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Record]:
    rows = dict.fromkeys(row for column in columns.values() for row in column)
    for at, row in enumerate(rows, start=1):
        yield Record(at, {name: column.get(row) for name, column in columns.items()})


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run; every column of numbers is a metric."""
    entries = sample_entries(source)
    if entries is None:
        raise refuse(source, "no samples in the file", "Write one with result.to_pandas().to_csv(PATH).")
    survey = survey_columns(entries, leave=_SCHEMA)
    if not survey.rows:
        raise refuse(source, "header only, no rows", "Evaluate at least one sample.")
    names = metric_names("ragas", survey.scores(_is_metric))
    measured = survey.measurements()
    answered = any(any(name in entry.values for name in _ANSWER) for entry in entries() if isinstance(entry, Record))
    if not names and not answered:
        raise refuse(
            source, "a question set: no answers and no scores", "Import results; questions belong in questions.yml."
        )
    means = {
        metric: mean
        for block in _MEANS
        for name, value in flat_cells(map_of(source.document_map.get(block)))
        if (metric := names.get(name)) is not None and (mean := number_of(value)) is not None
    }
    return (
        ForeignRun(
            format="ragas",
            entries=entries,
            convert=lambda record: _row(record, names, measured),
            kinds={metric: known_kind(metric) for metric in names.values()},
            file_means=means,
            warnings=(
                *survey.unread(names, _is_metric),
                "the file does not name the judge; --judge NAME makes runs comparable",
            ),
        ),
    )


def _row(record: Record, names: Mapping[str, str], measured: list[str]) -> ImportedRow | LeftOut:
    values = record.values
    summary = is_summary_row(values)
    if summary is not None:
        return LeftOut(record.line, f"a summary row ({summary}), not a question")
    asked = _first(values, _QUESTION)
    if isinstance(asked, list):
        return LeftOut(record.line, "a sample of several turns")
    question = text_of(asked)
    if question is None or is_blank(question):
        return LeftOut(record.line, "no question")
    cells = dict(flat_cells(values, leave=_SCHEMA))
    scores = {metric: number_of(cells.get(name)) for name, metric in names.items()}
    chunks, problem = chunks_of(_first(values, _CONTEXTS))
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(values.get("id")),
        answer=text_of(_first(values, _ANSWER)),
        reference=_reference(_first(values, _REFERENCE)),
        doc_id=name_of(values.get("doc_id")),
        contexts=_with_ids(chunks, values.get("retrieved_context_ids")),
        scores=scores,
        missing={metric: missing_reason(cells.get(name)) for name, metric in names.items() if scores[metric] is None},
        measurements={name: number for name in measured if (number := number_of(cells.get(name))) is not None},
        notes=tuple(note for note in (problem, record.problem) if note),
    )


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if name in values), None)


def _reference(value: Any) -> str | None:
    """The reference answer; older versions write a list of them."""
    listed = parse_listing(value) if isinstance(value, str) and value.lstrip()[:1] == "[" else value
    if isinstance(listed, list):
        return "\n".join(text for member in listed if (text := text_of(member)) is not None) or None
    text = text_of(value)
    return None if is_blank(text) else text


def _with_ids(chunks: tuple[ImportedChunk, ...] | None, ids: Any) -> tuple[ImportedChunk, ...] | None:
    listed = parse_listing(ids) if isinstance(ids, str) else ids
    names = [name_of(member) for member in list_of(listed)]
    if chunks is None or len(names) != len(chunks):
        return chunks
    return tuple(replace(chunk, doc_id=chunk.doc_id or name) for chunk, name in zip(chunks, names, strict=True))


FORMAT = Format("ragas", "Ragas", recognises, read)
