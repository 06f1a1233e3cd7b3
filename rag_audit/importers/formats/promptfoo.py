"""promptfoo version 3: one row a test, prompt and provider; each provider and prompt is a system of its own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rag_audit.fingerprint import fingerprint
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunks_of
from rag_audit.importers.record import ForeignRun, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, list_entries
from rag_audit.importers.values import (
    count_of,
    is_blank,
    list_of,
    map_of,
    maps_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    text_of,
    utc_time,
)
from rag_audit.model import UNKNOWN, JudgeCall, RunContext, Usage

_QUESTION = ("question", "query", "input", "user_input", "prompt")
_CONTEXT = ("context", "contexts", "retrieved_contexts")
_REFERENCE = ("reference", "reference_answer", "ground_truth", "expected_answer", "expected")
_TARGET_FAILED = 2
_GRADED = ("llm-rubric", "model-graded", "factuality", "answer-relevance", "context-", "g-eval", "select-best")
"""Beginnings of the assertion types that a model judges."""

System = tuple[str, Any]
"""Provider and prompt index."""


def recognises(source: Source) -> bool:
    """An eval with its results, or the configuration of one."""
    document = source.document_map
    results = document.get("results")
    is_eval = "evalId" in document or (isinstance(results, dict) and "results" in results and "prompts" in results)
    return is_eval or ("prompts" in document and "providers" in document)


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run a provider and prompt."""
    document = source.document_map
    results = map_of(document.get("results"))
    if not isinstance(results.get("results"), list):
        raise refuse(
            source, "no results.results list (a promptfoo config or another file)", "promptfoo eval -o results.json"
        )
    rows = list_of(results["results"])
    if not rows:
        raise refuse(source, "the eval holds no results", "Run the eval again.")
    version = number_of(results.get("version"))
    if version is not None and version != 3:
        raise refuse(source, f"promptfoo results of version {version:g}; version 3 is read", "Export it again.")
    named = dict.fromkeys(name for row in maps_of(rows) for name in map_of(row.get("namedScores")))
    names = metric_names("promptfoo", ("score", "pass", *named))
    systems: dict[System, list[Any]] = {}
    first: System = next((_system(row) for row in maps_of(rows)), ("", None))
    for row in rows:
        systems.setdefault(_system(row) if isinstance(row, dict) else first, []).append(row)
    titles = _titles(systems, maps_of(results.get("prompts")))
    return tuple(_run(document, results, system, members, names, titles[system]) for system, members in systems.items())


def _system(row: Mapping[str, Any]) -> System:
    provider = row.get("provider")
    index = row.get("promptIdx")
    title = map_of(provider).get("label") or map_of(provider).get("id") or provider
    return name_of(title) or UNKNOWN, index if isinstance(index, int) else None


def _titles(systems: Mapping[System, Sequence[Any]], prompts: Sequence[Mapping[str, Any]]) -> dict[System, str]:
    """A provider's name; with the prompt's label where a provider has several prompts."""
    providers = Counter(provider for provider, _ in systems)
    titles = {}
    for provider, index in systems:
        label = name_of(_prompt(prompts, index).get("label")) or f"prompt {index}"
        titles[provider, index] = provider if providers[provider] == 1 else f"{provider} · {label[:60]}"
    doubled = Counter(titles.values())
    return {system: title if doubled[title] == 1 else f"{title} ({system[1]})" for system, title in titles.items()}


def _prompt(prompts: Sequence[Mapping[str, Any]], index: Any) -> Mapping[str, Any]:
    return prompts[index] if isinstance(index, int) and 0 <= index < len(prompts) else {}


def _run(
    document: Mapping[str, Any],
    results: Mapping[str, Any],
    system: System,
    rows: Sequence[Any],
    names: Mapping[str, str],
    title: str,
) -> ForeignRun:
    repeats = _repeats(rows)
    template = text_of(_prompt(maps_of(results.get("prompts")), system[1]).get("raw"))
    config = map_of(document.get("config"))
    metadata = map_of(document.get("metadata"))
    stated = {
        "evalId": document.get("evalId"),
        "description": config.get("description"),
        "prompt": template,
        "promptfooVersion": metadata.get("promptfooVersion"),
        "runtimeOptions": document.get("runtimeOptions"),
    }
    judge = _judge(config)
    return ForeignRun(
        format="promptfoo",
        entries=list_entries(rows),
        convert=lambda record: _row(record, names, repeats.get(record.line), judge),
        system=title,
        label=name_of(config.get("description")),
        context=RunContext(
            generator=system[0],
            judges={"claims": UNKNOWN, "scores": judge or UNKNOWN},
            prompts={"generator": fingerprint((template,))} if template else {},
            settings={key: value for key, value in stated.items() if value not in (None, "", {})},
        ),
        started_at=utc_time(results.get("timestamp")),
        kinds={metric: known_kind(metric) for metric in names.values()},
        file_rows=len(rows),
    )


def _judge(config: Mapping[str, Any]) -> str | None:
    """The grading provider, where the config names one for all tests."""
    options = map_of(map_of(config.get("defaultTest")).get("options"))
    provider = options.get("provider")
    return name_of(map_of(provider).get("id") or provider)


def _repeats(rows: Sequence[Any]) -> dict[int, int]:
    """Place in the list to repeat, where one system answered a test several times."""
    counts = Counter(map_of(row).get("testIdx") for row in rows if isinstance(map_of(row).get("testIdx"), int))
    if not counts or max(counts.values()) == 1:
        return {}
    seen: Counter[Any] = Counter()
    repeats = {}
    for at, row in enumerate(rows, start=1):
        test = map_of(row).get("testIdx")
        if isinstance(test, int):
            seen[test] += 1
            repeats[at] = seen[test]
    return repeats


def _row(record: Record, names: Mapping[str, str], repeat: int | None, judge: str | None) -> ImportedRow | LeftOut:
    row = record.values
    variables = map_of(row.get("vars"))
    question = next((text for key in _QUESTION if (text := text_of(variables.get(key)))), None)
    question = question or text_of(map_of(row.get("prompt")).get("raw"))
    if question is None or is_blank(question):
        return LeftOut(record.line, "neither a question variable nor a prompt")
    grading = map_of(row.get("gradingResult"))
    response = map_of(row.get("response"))
    error = text_of(row.get("error")) or text_of(response.get("error"))
    unanswered = error is not None and response.get("output") is None and not grading
    failed = number_of(row.get("failureReason")) == _TARGET_FAILED or unanswered
    values = {
        **map_of(row.get("namedScores")),
        "score": grading.get("score") if row.get("score") is None else row.get("score"),
        "pass": grading.get("pass") if row.get("success") is None else row.get("success"),
    }
    scores = {metric: None if failed else number_of(values.get(name)) for name, metric in names.items()}
    reason = "target_error" if failed else "not_asked"
    chunks, problem = chunks_of(next((variables[key] for key in _CONTEXT if variables.get(key)), None))
    tokens = map_of(response.get("tokenUsage"))
    latency = number_of(row.get("latencyMs"))
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(row.get("testIdx")),
        repeat=repeat,
        answer=text_of(response.get("output")),
        reference=next((text for key in _REFERENCE if (text := text_of(variables.get(key)))), None),
        contexts=chunks,
        scores=scores,
        missing={
            metric: missing_reason(values[name]) if name in values and not failed else reason
            for name, metric in names.items()
            if scores[metric] is None
        },
        usage=Usage(count_of(tokens.get("prompt")), count_of(tokens.get("cached")), count_of(tokens.get("completion"))),
        latency_s=None if latency is None else latency / 1000,
        score_judge=judge,
        judge_calls=tuple(_graded(grading, judge)),
        error=(error or "the provider failed") if failed else None,
        notes=(problem,) if problem else (),
    )


def _graded(grading: Mapping[str, Any], judge: str | None) -> list[JudgeCall]:
    """What a model said in the assertions that a model judges."""
    calls = []
    for component in maps_of(grading.get("componentResults")):
        kind = text_of(map_of(component.get("assertion")).get("type")) or ""
        reason = text_of(component.get("reason"))
        if reason and kind.startswith(_GRADED):
            calls.append(JudgeCall("scores", "", reason, judge))
    return calls


FORMAT = Format("promptfoo", "promptfoo", recognises, read)
