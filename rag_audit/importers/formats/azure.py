"""Azure's ai-rag-chat-evaluator: a folder with eval_results.jsonl and the run's settings beside it."""

import re
from collections.abc import Mapping
from typing import Any

from rag_audit.errors import InputError
from rag_audit.importers.columns import survey_columns
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunk_of, parse_listing
from rag_audit.importers.record import UNKNOWN_KIND, ForeignRun, ImportedChunk, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, open_source
from rag_audit.importers.values import (
    is_blank,
    json_text,
    map_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    snake_name,
    text_of,
    utc_time,
)
from rag_audit.model import UNKNOWN, JudgeCall, RunContext

_TEXTS = frozenset({"question", "truth", "answer", "context"})
_MEASURED = ("latency", "answer_length")
_TARGET_FAILED = -1.0
_RESULTS = "eval_results.jsonl"
_RETRIEVAL = frozenset({"top", "retrieval_mode", "semantic_ranker", "semantic_captions"})
_AGGREGATES = frozenset({"mean_rating", "pass_rate", "pass_count", "mean", "max", "min", "total", "rate"})
_CHUNK_START = re.compile(
    r"^(?:(?P<name>[^\s:]+\.[A-Za-z][A-Za-z0-9]{1,4})(?:#(?P<part>page=\d+))?"
    r"|(?P<spaced>[^\s:][^\n:]{0,120}\.[A-Za-z][A-Za-z0-9]{1,4})#(?P<spaced_part>page=\d+)):(?=\s|$)",
    re.MULTILINE,
)
"""A line that begins with a file's name; a name with spaces only where its page follows."""


def recognises(source: Source) -> bool:
    """Lines with question, answer and one context text beside ratings; or the summary of such a run."""
    if _is_summary(source):
        return True
    if source.entries is None or source.kind == "table":
        return False
    row = next((entry.values for entry in source.entries() if isinstance(entry, Record)), {})
    if "question" not in row or "answer" not in row:
        return False
    ratings = any(key.startswith("gpt_") or key.endswith(("_result", "_threshold")) for key in row)
    return "contexts" not in row and (ratings or ("truth" in row and ("context" in row or "latency" in row)))


def _is_summary(source: Source) -> bool:
    groups = source.document_map
    return bool(groups) and all(
        isinstance(group, dict) and group and _AGGREGATES.issuperset(group) for group in groups.values()
    )


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run with the judge, the time and the target's parameters from the files beside it."""
    if _is_summary(source):
        raise refuse(
            source, f"aggregates only: a summary; the questions are in {_RESULTS}", f"Import {_RESULTS} beside it."
        )
    entries = source.entries
    if entries is None:
        raise refuse(source, "not JSON lines", f"Import {_RESULTS}.")
    survey = survey_columns(entries, leave=_TEXTS)
    aside = {name for name in survey.cells if name.endswith(("_reason", "_result", "_threshold"))}
    names = metric_names("azure", survey.scores(_is_metric, leave={*aside, *_MEASURED}))
    warnings = survey.unread(names, _is_metric, leave={*aside, *_MEASURED})
    config = _beside(source, "config.json", warnings)
    parameters = _beside(source, "evaluate_parameters.json", warnings)
    judge = name_of(parameters.get("evaluation_gpt_model"))
    return (
        ForeignRun(
            format="azure",
            entries=entries,
            convert=lambda record: _row(record, names, judge),
            label=name_of(source.path.resolve().parent.name),
            label_of_folder=True,
            context=_context(config, parameters, judge),
            started_at=utc_time(parameters.get("evaluation_timestamp")),
            kinds={metric: known_kind(metric) for metric in names.values()},
            warnings=tuple(warnings),
        ),
    )


def _is_metric(column: str) -> bool:
    return known_kind(f"azure.{snake_name(column)}") != UNKNOWN_KIND


def _beside(source: Source, name: str, warnings: list[str]) -> Mapping[str, Any]:
    path = source.path.parent / name
    if not path.is_file():
        return {}
    try:
        return open_source(path).document_map
    except (InputError, OSError) as error:
        warnings.append(f"{name} beside it cannot be read: {error}")
        return {}


def _context(config: Mapping[str, Any], parameters: Mapping[str, Any], judge: str | None) -> RunContext:
    target = map_of(parameters.get("target_parameters")) or map_of(config.get("target_parameters"))
    stated = {
        "target_url": parameters.get("target_url") or config.get("target_url"),
        "testdata_path": parameters.get("testdata_path") or config.get("testdata_path"),
        "num_questions": parameters.get("num_questions"),
        "requested_metrics": config.get("requested_metrics"),
        "target_parameters": target or None,
    }
    overrides = map_of(target.get("overrides"))
    retrieval: dict[str, Any] = {
        key: overrides[key] for key in ("top", "retrieval_mode", "semantic_ranker") if key in overrides
    }
    return RunContext(
        judges={"claims": UNKNOWN, "scores": judge or UNKNOWN},
        retriever=retrieval or UNKNOWN,
        settings={key: value for key, value in stated.items() if value is not None},
    )


def _row(record: Record, names: Mapping[str, str], judge: str | None) -> ImportedRow | LeftOut:
    values = record.values
    question = text_of(values.get("question"))
    if question is None or is_blank(question):
        return LeftOut(record.line, "no question")
    failed = number_of(values.get("latency")) == _TARGET_FAILED
    scores = {metric: None if failed else _rating(values.get(name)) for name, metric in names.items()}
    answer = text_of(values.get("answer"))
    error = (answer or "the target failed") if failed else None
    rated = ", ".join(f"{metric} {values[name]}" for name, metric in names.items() if values.get(name) is not None)
    return ImportedRow(
        question=question,
        line=record.line,
        answer=None if failed else answer,
        reference=text_of(values.get("truth")),
        contexts=None if failed else split_context(values.get("context")),
        scores=scores,
        missing={
            metric: "target_error" if failed else _reason(values.get(name))
            for name, metric in names.items()
            if scores[metric] is None
        },
        score_judge=judge,
        judge_calls=tuple(
            JudgeCall("scores", "", reply, judge)
            for name in names
            if (reply := text_of(values.get(f"{name}_reason"))) is not None and not is_blank(reply)
        ),
        measurements={
            name: number for name in _MEASURED if not failed and (number := _rating(values.get(name))) is not None
        },
        error=error,
        notes=(f"the judge rated the error text ({rated}); these ratings are left out",) if failed and rated else (),
    )


def _rating(value: Any) -> float | None:
    """A number; -1 is how the tool writes that there is none."""
    number = number_of(value)
    return None if number == _TARGET_FAILED else number


def _reason(value: Any) -> str:
    return "no_score" if number_of(value) == _TARGET_FAILED else missing_reason(value)


def split_context(value: Any) -> tuple[ImportedChunk, ...]:
    """Cut the one context text: members of JSON, else lines that begin with a file name, else paragraphs."""
    text = text_of(value)
    if text is None or is_blank(text):
        return ()
    parsed = parse_listing(text)
    if isinstance(parsed, dict):
        members = (_record_chunk(key, member) for key, member in parsed.items())
        return tuple(chunk for chunk in members if chunk is not None)
    if isinstance(parsed, list):
        return tuple(chunk for chunk in map(chunk_of, parsed) if chunk is not None)
    starts = list(_CHUNK_START.finditer(text))
    if not starts:
        return tuple(ImportedChunk(part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip())
    before = text[: starts[0].start()].strip()
    chunks = [ImportedChunk(before)] if before else []
    for at, start in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        part = start["part"] or start["spaced_part"]
        name = start["name"] or start["spaced"]
        chunks.append(ImportedChunk(text[start.end() : end].strip(), doc_id=name, heading=(part,) if part else ()))
    return tuple(chunks)


def _record_chunk(key: str, member: Any) -> ImportedChunk | None:
    """A record of a database keeps its key as the document and all its fields as the text."""
    chunk = chunk_of(member)
    if chunk is None or not isinstance(member, dict):
        return chunk
    return ImportedChunk(json_text(member), doc_id=name_of(member.get("id")) or key)


FORMAT = Format("azure", "Azure ai-rag-chat-evaluator", recognises, read)
