"""Inspect AI logs: JSON, or .eval archives with one member a sample, which are read one at a time."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rag_audit.errors import InputError
from rag_audit.importers.archive import open_archive, read_member
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import UNIT_UP, known_kind
from rag_audit.importers.record import Entries, ForeignRun, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, list_entries, parse_json
from rag_audit.importers.values import (
    clean,
    count_of,
    is_blank,
    list_of,
    map_of,
    maps_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    repeat_of,
    text_of,
    utc_time,
)
from rag_audit.model import UNKNOWN, JudgeCall, RunContext, Usage

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_ATTACHMENT = "attachment://"


def recognises(source: Source) -> bool:
    """A log with its eval section; every zip, because nothing else is read from one."""
    document = source.document_map
    if source.kind == "archive":
        return True
    return isinstance(document.get("eval"), dict) and ("status" in document or "samples" in document)


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run; any status but success makes it incomplete."""
    if source.kind == "archive":
        header, entries, samples = _open_log(source)
    else:
        header = source.document_map
        listed = list_of(header.get("samples"))
        entries, samples = list_entries(listed), len(listed)
    status = name_of(header.get("status")) or UNKNOWN
    if not samples:
        raise _no_samples(source, header, status)
    evaluation = map_of(header.get("eval"))
    found = _survey(entries)
    names = metric_names("inspect", found.values)
    planned = number_of(map_of(header.get("results")).get("total_samples"))
    stats = map_of(header.get("stats"))
    return (
        ForeignRun(
            format="inspect",
            entries=entries,
            convert=lambda record: _row(record, names, several=found.several_epochs),
            label=name_of(evaluation.get("task")),
            context=_context(header, evaluation),
            started_at=utc_time(evaluation.get("created")) or utc_time(stats.get("started_at")),
            duration_s=_seconds(stats.get("started_at"), stats.get("completed_at")),
            kinds={
                names[name]: UNIT_UP if graded else known_kind(names[name]) for name, graded in found.values.items()
            },
            unfinished=_unfinished(header, status, samples, planned),
            file_rows=samples,
            warnings=(f"the log's header says {planned:g} samples, it holds {samples}",)
            if status == "success" and planned is not None and planned < samples
            else (),
        ),
    )


def _unfinished(header: Mapping[str, Any], status: str, samples: int, planned: float | None) -> str | None:
    if header.get("invalidated") is True:
        return "Inspect says that the log was invalidated"
    if status == "success":
        lacking = planned is not None and planned > samples
        return f"the log's header says {planned:g} samples, it holds {samples}" if lacking else None
    of = f" of {planned:g}" if planned is not None else ""
    error = text_of(map_of(header.get("error")).get("message"))
    return f"Inspect says {status}: {samples}{of} samples" + (f" ({error})" if error else "")


def _no_samples(source: Source, header: Mapping[str, Any], status: str) -> InputError:
    reduced = sum(len(maps_of(reduction.get("samples"))) for reduction in maps_of(header.get("reductions")))
    only = f", only {reduced} reduced scores without questions or answers" if reduced else ""
    return refuse(source, f"the log (status {status}) holds no samples{only}", "Import the log with its samples.")


def _open_log(source: Source) -> tuple[Mapping[str, Any], Entries, int]:
    """Header, samples and their number; a killed run has no header but the beginning of its journal."""
    path = source.path
    with open_archive(path) as archive:
        members = archive.namelist()
        name = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
        if name is None:
            why = "a zip without header.json or _journal/start.json: not an Inspect log"
            is_office = "[Content_Types].xml" in members
            hint = "Save the sheet as CSV." if is_office else "Import the .eval file that Inspect wrote."
            raise refuse(source, why, hint)
        parsed = parse_json(read_member(archive, name))
    header = map_of(parsed)
    if not isinstance(header.get("eval"), dict):
        raise refuse(source, f"{name} holds no eval section: not an Inspect log", "Copy the log again.")
    if name != "header.json":
        header = {**header, "status": "started"}
    named = {name for name in members if name.startswith("samples/") and name.endswith(".json")}
    samples = sorted(named, key=_by_number)
    return header, lambda: _archived_samples(path, samples), len(samples)


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sorts `2_epoch_1` before `10_epoch_1`."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d{1,18})", name)]


def _archived_samples(path: Path, names: Iterable[str]) -> Iterator[Record | LeftOut]:
    with open_archive(path) as archive:
        for at, name in enumerate(names, start=1):
            try:
                sample = parse_json(read_member(archive, name))
            except InputError as error:
                if "zstd" in error.message and "decoder" in error.message:
                    raise
                yield LeftOut(at, error.message, damaged=True)
                continue
            damaged = LeftOut(at, f"{clean(name)} is no JSON object", damaged=True)
            yield Record(at, sample) if isinstance(sample, dict) else damaged


class _Found:
    """What all samples have: score names (and whether every value is a grade), and whether there are epochs."""

    def __init__(self) -> None:
        self.values: dict[str, bool] = {}
        self.several_epochs = False


def _survey(entries: Entries) -> _Found:
    found = _Found()
    for entry in entries():
        if not isinstance(entry, Record):
            continue
        found.several_epochs |= (number_of(entry.values.get("epoch")) or 1) > 1
        for name, value in _values(entry.values):
            is_grade = isinstance(value, bool) or value is None or isinstance(value, str)
            found.values[name] = found.values.get(name, True) and is_grade and number_text(value) is None
    return found


def number_text(value: Any) -> float | None:
    """The number in a text that is no grade."""
    return number_of(value) if isinstance(value, str) and value.strip().lower() not in _WORDS else None


def _values(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every score by name; members of a score that is an object as `scorer/key`. Old logs have one nameless score."""
    for scorer, score in _scores(sample).items():
        value = map_of(score).get("value")
        if isinstance(value, dict):
            yield from ((f"{scorer}/{key}", inner) for key, inner in value.items())
        else:
            yield scorer, value


def _scores(sample: Mapping[str, Any]) -> dict[str, Any]:
    scores = map_of(sample.get("scores"))
    legacy = sample.get("score")
    return scores if scores or not isinstance(legacy, dict) else {"score": legacy}


def grade_of(value: Any) -> float | None:
    """A score as a number: grades C, P, I, N, yes and no, numbers and their texts; other words are no score."""
    if isinstance(value, str):
        word = value.strip()
        if word.upper() in _GRADES:
            return _GRADES[word.upper()]
        if word.lower() in _WORDS:
            return _WORDS[word.lower()]
    return number_of(value)


def _context(header: Mapping[str, Any], evaluation: Mapping[str, Any]) -> RunContext:
    keys = ("task", "task_version", "task_args", "dataset", "model_args", "config", "packages", "revision", "run_id")
    settings = {key: evaluation[key] for key in keys if evaluation.get(key) not in (None, {}, "")}
    plan = [name_of(step.get("solver")) for step in maps_of(map_of(header.get("plan")).get("steps"))]
    if any(plan):
        settings["solvers"] = [step for step in plan if step]
    judges = {
        name
        for score in maps_of(map_of(header.get("results")).get("scores"))
        if (name := name_of(map_of(score.get("params")).get("model")))
    }
    seed = map_of(evaluation.get("config")).get("seed")
    return RunContext(
        generator=name_of(evaluation.get("model")) or UNKNOWN,
        judges={"claims": UNKNOWN, "scores": ", ".join(sorted(judges)) or UNKNOWN},
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else UNKNOWN,
        settings=settings,
    )


def _seconds(started: Any, completed: Any) -> float | None:
    begin, end = utc_time(started), utc_time(completed)
    if begin is None or end is None:
        return None
    seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
    return seconds if seconds >= 0 else None


def _row(record: Record, names: Mapping[str, str], *, several: bool) -> ImportedRow | LeftOut:
    sample = record.values
    question = _question(sample)
    if question is None or is_blank(question):
        return LeftOut(record.line, "no input text")
    given = dict(_values(sample))
    scores = {names[name]: grade_of(value) for name, value in given.items()}
    error = sample.get("error")
    message = text_of(map_of(error).get("message")) or text_of(error or None)
    missing = {names[name]: missing_reason(value) for name, value in given.items() if grade_of(value) is None}
    if message is not None:
        missing.update({metric: "target_error" for name, metric in names.items() if name not in given})
    output = map_of(sample.get("output"))
    usage = map_of(output.get("usage"))
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(sample.get("id")),
        repeat=repeat_of(sample.get("epoch")) if several else None,
        answer=_answer(sample, output),
        reference=_target(sample.get("target")),
        scores=scores,
        missing=missing,
        answered_by=name_of(output.get("model")),
        usage=Usage(count_of(usage.get("input_tokens")), None, count_of(usage.get("output_tokens"))),
        latency_s=number_of(output.get("time")),
        judge_calls=tuple(
            JudgeCall("scores", "", f"{scorer}\n\n{explanation}")
            for scorer, score in _scores(sample).items()
            if (explanation := text_of(map_of(score).get("explanation")))
        ),
        error=message,
    )


def _question(sample: Mapping[str, Any]) -> str | None:
    """The input text, or the last message of the user."""
    given = sample.get("input")
    if isinstance(given, list):
        users = [message for message in maps_of(given) if message.get("role") == "user"] or maps_of(given)
        return _content(sample, users[-1].get("content")) if users else None
    return _attached(sample, given) if isinstance(given, str) else None


def _answer(sample: Mapping[str, Any], output: Mapping[str, Any]) -> str | None:
    completion = output.get("completion")
    if isinstance(completion, str):
        return _attached(sample, completion)
    choices = maps_of(output.get("choices"))
    return _content(sample, map_of(choices[0].get("message")).get("content")) if choices else None


def _content(sample: Mapping[str, Any], content: Any) -> str | None:
    """The text of a message: a text, or the text parts of a list."""
    if isinstance(content, str):
        return _attached(sample, content)
    if not isinstance(content, list):
        return None
    texts = [text for part in maps_of(content) if (text := text_of(part.get("text"))) is not None]
    return "\n".join(_attached(sample, text) for text in texts) if texts else None


def _attached(sample: Mapping[str, Any], text: str) -> str:
    """Long texts may be kept once, as attachments of the sample."""
    if not text.startswith(_ATTACHMENT):
        return text
    kept = map_of(sample.get("attachments")).get(text.removeprefix(_ATTACHMENT))
    return kept if isinstance(kept, str) else text


def _target(value: Any) -> str | None:
    texts = [text_of(member) for member in value] if isinstance(value, list) else [text_of(value)]
    joined = "\n".join(text for text in texts if text is not None)
    return joined if joined.strip() else None


FORMAT = Format("inspect", "Inspect AI", recognises, read)
