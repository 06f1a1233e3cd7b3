"""Tables and JSON of one's own, read with a mapping; without one a mapping is guessed and has to be confirmed."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from rag_audit.errors import InputError
from rag_audit.importers.columns import is_summary_row, survey_columns
from rag_audit.importers.format import refuse
from rag_audit.importers.formats.ragas import sample_entries
from rag_audit.importers.listing import chunk_of, chunks_of, parse_listing
from rag_audit.importers.mapping import FieldMap, has_path, look_up
from rag_audit.importers.record import Entries, ForeignRun, ImportedChunk, ImportedClaim, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source
from rag_audit.importers.values import (
    is_blank,
    list_of,
    maps_of,
    missing_reason,
    name_of,
    number_of,
    repeat_of,
    text_of,
    verdict_of,
)

_GUESSES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "query", "user_input", "input", "prompt", "q", "frage", "pregunta"),
    "answer": ("answer", "response", "output", "prediction", "generated_answer", "actual_output", "a", "antwort"),
    "reference": ("reference", "reference_answer", "ground_truth", "expected_answer", "expected", "expected_output"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "context", "chunks", "documents", "sources"),
    "id": ("id", "question_id", "query_id", "qid"),
    "doc_id": ("doc_id", "document_id"),
    "error": ("error", "exception"),
    "claims": ("claims",),
}
_NEVER_SCORES = frozenset(name for names in _GUESSES.values() for name in names)
_INSIDE = ("text", "doc_id", "score")
"""Fields of a retrieved object that a mapping may name."""
_ROWS_READ = 200
"""Entries looked at to find out whether a mapped path is in the file."""


def read(source: Source, mapping: FieldMap) -> tuple[ForeignRun, ...]:
    """One run of a table, JSON lines or a JSON list, as the mapping says."""
    entries = _entries(source, mapping)
    _check_columns(source, entries, mapping)
    return (
        ForeignRun(
            format="generic",
            entries=entries,
            convert=lambda record: _row(record, mapping),
            kinds={metric: mapping.kind(metric) for metric in mapping.scores},
            claim_scores=frozenset({"no_fabrication", "claim_precision"}),
        ),
    )


def _entries(source: Source, mapping: FieldMap) -> Entries:
    path = mapping.paths.get("rows")
    if path is not None:
        listed = maps_of(look_up(source.document, path))
        if not listed:
            raise refuse(source, f"there is no list of objects at {path}", "Give --map rows=PATH of the list.")
        return lambda: (Record(at, values) for at, values in enumerate(listed, start=1))
    entries = sample_entries(source) or source.entries
    if entries is None:
        raise refuse(source, "no list of questions found", "Say where it is: --map rows=PATH.")
    return entries


def _check_columns(source: Source, entries: Entries, mapping: FieldMap) -> None:
    """Refuse a mapping that names what the file has nowhere in its first entries."""
    wanted = dict(mapping.columns)
    present: dict[str, None] = dict.fromkeys(source.header)
    rows = 0
    for entry in entries():
        if not isinstance(entry, Record):
            continue
        rows += 1
        present.update(dict.fromkeys(entry.values))
        wanted = {name: path for name, path in wanted.items() if not has_path(entry.values, path)}
        if not wanted or rows >= _ROWS_READ:
            break
    if not rows:
        raise refuse(source, "no rows", "Import a file with at least one question.")
    if wanted:
        first = next(iter(wanted.values()))
        near = get_close_matches(first, list(present), 1)
        raise refuse(
            source,
            "mapped columns are not in the file: " + ", ".join(f"{path} (for {name})" for name, path in wanted.items()),
            (f"Did you mean {near[0]}? " if near else "") + "The file has: " + ", ".join(list(present)[:20]),
        )


def _row(record: Record, mapping: FieldMap) -> ImportedRow | LeftOut:
    values = record.values
    summary = is_summary_row(values)
    if summary is not None:
        return LeftOut(record.line, f"a summary row ({summary}), not a question")

    def at(field: str) -> Any:
        path = mapping.paths.get(field)
        return None if path is None else look_up(values, path)

    question = text_of(at("question"))
    if question is None or is_blank(question):
        return LeftOut(record.line, "no question")
    scores = {metric: number_of(look_up(values, path)) for metric, path in mapping.scores.items()}
    error = text_of(at("error"))
    error = None if is_blank(error) or number_of(error) == 0 else error
    chunks, problem = _chunks(at("contexts"), mapping)
    claims, unread = _claims(at("claims"), mapping)
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(at("id")),
        repeat=repeat_of(at("repeat")),
        answer=text_of(at("answer")),
        reference=text_of(at("reference")),
        doc_id=name_of(at("doc_id")),
        contexts=chunks,
        scores=scores,
        missing={
            metric: _reason(look_up(values, mapping.scores[metric]), error)
            for metric, score in scores.items()
            if score is None
        },
        claims=claims,
        claims_missing="unparsed" if unread else None,
        claims_listed=len(claims or ()),
        error=error,
        notes=tuple(note for note in (problem, unread, record.problem) if note),
        details=_details(at("keywords")),
    )


def _reason(value: Any, error: str | None) -> str:
    if error is not None:
        return "error"
    return missing_reason(value)


def _chunks(value: Any, mapping: FieldMap) -> tuple[tuple[ImportedChunk, ...] | None, str | None]:
    separator = mapping.paths.get("contexts.separator")
    if separator and isinstance(value, str):
        return tuple(ImportedChunk(part) for part in value.split(separator) if part.strip()), None
    if isinstance(value, str) and (parsed := parse_listing(value)) is not None:
        value = parsed
    inside = {name: mapping.paths[f"contexts.{name}"] for name in _INSIDE if f"contexts.{name}" in mapping.paths}
    if not inside or not isinstance(value, list):
        return chunks_of(value)
    chunks = (_mapped_chunk(member, inside) for member in value)
    return tuple(chunk for chunk in chunks if chunk is not None), None


def _mapped_chunk(member: Any, inside: Mapping[str, str]) -> ImportedChunk | None:
    plain = chunk_of(member)
    if plain is None or not isinstance(member, dict):
        return plain
    found = {name: look_up(member, path) for name, path in inside.items()}
    return ImportedChunk(
        text=text_of(found.get("text")) or ("" if "text" in inside else plain.text),
        doc_id=name_of(found["doc_id"]) if "doc_id" in inside else plain.doc_id,
        score=number_of(found["score"]) if "score" in inside else plain.score,
    )


def _claims(value: Any, mapping: FieldMap) -> tuple[tuple[ImportedClaim, ...] | None, str | None]:
    """The claims, None where the row has none; and what could not be read."""
    if is_blank(value):
        return None, None
    listed = parse_listing(value) if isinstance(value, str) else value
    if not isinstance(listed, list):
        return None, "the claims are no list, or the list is cut off"
    paths = {name: mapping.paths.get(f"claims.{name}", name) for name in ("text", "verdict", "evidence")}
    claims = []
    for member in listed:
        found = member if isinstance(member, dict) else {paths["text"]: member}
        claims.append(
            ImportedClaim(
                text=text_of(look_up(found, paths["text"])) or "",
                verdict=verdict_of(look_up(found, paths["verdict"]), mapping.words),
                evidence=text_of(look_up(found, paths["evidence"])) or None,
            )
        )
    return tuple(claims), None


def _details(keywords: Any) -> dict[str, Any]:
    if isinstance(keywords, str):
        keywords = parse_listing(keywords) or keywords.split(",")
    words = tuple(word.strip() for word in list_of(keywords) if isinstance(word, str) and word.strip())
    return {"keywords": words} if words else {}


def guess(source: Source) -> FieldMap:
    """A mapping read off the names and cells of the file; refuses what cannot be a run of questions."""
    if source.kind == "archive":
        raise refuse(source, "a zip that is no Inspect log: it holds neither header.json nor _journal/", "Unpack it.")
    entries = sample_entries(source) or source.entries
    names = _names(source, entries)
    if not names:
        raise refuse(source, f"{_what(source)} of no known tool", "`rag-audit import --help` lists the formats.")
    paths = {
        field: next(name for name in names if _plain(name) in words)
        for field, words in _GUESSES.items()
        if any(_plain(name) in words for name in names)
    }
    survey = survey_columns(entries) if entries is not None else None
    scores = {_plain(name): name for name in (survey.scores() if survey else ()) if _plain(name) not in _NEVER_SCORES}
    if "question" not in paths:
        raise _no_questions(source, names, numbers=bool(scores))
    if source.kind == "table" and survey is not None and not survey.rows:
        raise refuse(source, "header only, no rows", "Evaluate at least one question.")
    if "answer" not in paths and not scores:
        raise refuse(
            source, "a question set: no answers and no scores", "Import results; questions belong in questions.yml."
        )
    return FieldMap(paths=paths, scores=scores)


def _names(source: Source, entries: Entries | None) -> list[str]:
    """The columns, or the paths to every value of the first entry."""
    if source.kind == "table":
        return [name for name in source.header if name]
    first = next((entry.values for entry in entries() if isinstance(entry, Record)), {}) if entries else {}
    return list(_paths(first))


def _paths(values: Mapping[str, Any], before: str = "", depth: int = 3) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict) and value and depth:
            yield from _paths(value, f"{before}{name}.", depth - 1)
        else:
            yield f"{before}{name}"


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.rpartition(".")[2].strip().lower())


def _what(source: Source) -> str:
    if source.kind == "table":
        return "a table"
    if isinstance(source.document, list):
        return "a JSON list"
    keys = ", ".join(sorted(source.document_map)[:12])
    return f"JSON (top-level keys: {keys})" if keys else "JSON"


def _no_questions(source: Source, names: list[str], *, numbers: bool) -> InputError:
    columns = ", ".join(names[:20])
    if source.kind == "table":
        why = f"{'aggregates only: ' if numbers else ''}no question column (columns: {columns})"
    elif source.kind == "lines":
        why = f"{'aggregates only: ' if numbers else ''}no question in the lines (keys: {columns})"
    elif numbers and not any(isinstance(value, list) for value in source.document_map.values()):
        why = "aggregates only: a map of metric to number, no rows"
    else:
        why = f"{_what(source)} of no known tool"
    return refuse(source, why, "Import the file with one row a question; --map question=COLUMN names its column.")
