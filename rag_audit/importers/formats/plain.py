"""The plain results file: JSON lines, one question a line; the first line may describe the run."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_type_hints

import msgspec

from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunks_of
from rag_audit.importers.record import (
    UNKNOWN_KIND,
    Entries,
    ForeignRun,
    ImportedChunk,
    ImportedClaim,
    ImportedRow,
    LeftOut,
    MetricKind,
    Record,
)
from rag_audit.importers.source import Source
from rag_audit.importers.values import (
    is_blank,
    list_of,
    map_of,
    name_of,
    number_of,
    repeat_of,
    text_of,
    utc_time,
    verdict_of,
)
from rag_audit.model import UNKNOWN, Direction, Route, RunContext, Support

_QUESTION_DETAILS = ("keywords", "also_docs", "gold", "corpora", "tags")
_KEYS = frozenset(
    {
        *("id", "repeat", "question", "answer", "reference_answer", "doc_id", "contexts", "scores", "excerpt"),
        *(
            "claims",
            "judge",
            "judged_contexts",
            "error",
            "missing",
            "measurements",
            "notes",
            "context",
            "answerable",
            "source",
            "route",
        ),
        *("cross_corpus", "origin", "drafted_by", "reviewed"),
        *_QUESTION_DETAILS,
    }
)
_SUPPORT = {support.value: support for support in Support}
_RESULTS = ("answer", "scores", "claims", "error")
"""Keys of which a line has at least one if anything was evaluated."""
_JUDGED = frozenset({"faithfulness", "completeness"})
_OWN_FROM_CLAIMS = frozenset({"no_fabrication", "claim_precision"})


def recognises(source: Source) -> bool:
    """A run line first, or lines with the keys of a plain results file."""
    first = _first(source)
    if first is None:
        return False
    if set(first) == {"run"} and isinstance(first["run"], dict):
        return True
    if "question" not in first or not ("answer" in first or "scores" in first or "error" in first):
        return False
    if not (isinstance(first.get("scores") or {}, dict) and isinstance(first.get("claims") or [], list)):
        return False
    if _KEYS.issuperset(first) or "scores" in first or "claims" in first:
        return True
    foreign = any(_is_ragas(name) for name in first.keys() - _KEYS)
    return "id" in first and not foreign and ("contexts" in first or "reference_answer" in first)


def _is_ragas(name: str) -> bool:
    return name.startswith(("ground_truth", "retrieved_")) or known_kind(f"ragas.{name}") != UNKNOWN_KIND


def _entries(source: Source) -> Entries | None:
    """The lines, or the members of a JSON list of such objects."""
    return source.entries if source.kind in ("lines", "document") else None


def _first(source: Source) -> Mapping[str, Any] | None:
    entries = _entries(source)
    return next((entry.values for entry in entries() if isinstance(entry, Record)), None) if entries else None


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run; the metrics are those the lines name."""
    entries = _entries(source)
    first = _first(source)
    if entries is None or first is None:
        raise refuse(source, "no line of JSON lines holds an object", "A plain results file has one object a line.")
    described = "question" not in first and isinstance(first.get("run"), dict)
    head = map_of(first.get("run")) if described else {}

    def questions() -> Iterator[Record | LeftOut]:
        beginning = described
        for entry in entries():
            if beginning and isinstance(entry, Record):
                beginning = False
                continue
            yield entry

    names = _names(source, questions())
    context = context_of(map_of(head.get("context")))
    kinds = {name: _kind(name, map_of(head.get("metrics")).get(name)) for name in names}
    started = utc_time(head.get("started_at"))
    return (
        ForeignRun(
            format="plain",
            entries=questions,
            convert=lambda record: _row(record, names, context),
            label=name_of(head.get("label")),
            context=context,
            started_at=started,
            duration_s=number_of(head.get("duration_s")),
            kinds=kinds,
            claim_scores=frozenset({"no_fabrication", "claim_precision"}),
            unfinished="the file says that the run was not finished"
            if head.get("status") in ("running", "interrupted")
            else None,
            warnings=() if started or not head else ("the run line has no readable started_at",),
        ),
    )


def _names(source: Source, entries: Iterator[Record | LeftOut]) -> list[str]:
    """The metrics that the lines name; refuses a file without results."""
    names: dict[str, None] = {}
    rows = results = 0
    for entry in entries:
        if isinstance(entry, Record):
            rows += 1
            results += any(entry.values.get(key) is not None for key in _RESULTS)
            names.update(dict.fromkeys(map_of(entry.values.get("scores"))))
    if not rows:
        raise refuse(source, "no questions in the file", "Every line after the run line is one question.")
    if not results:
        raise refuse(
            source, "a question set: no answers and no scores", "Import results; questions belong in questions.yml."
        )
    return list(names)


def _kind(name: str, stated: Any) -> MetricKind:
    """What the run line says of a metric, else what is known of its name."""
    range_, direction = known_kind(name)
    says = map_of(stated)
    ends = list_of(says.get("range"))
    if len(ends) == 2:
        low, high = number_of(ends[0]), number_of(ends[1])
        range_ = (low, high) if low is None or high is None or low < high else (None, None)
    if says.get("direction") in list(Direction):
        direction = Direction(says["direction"])
    return range_, direction


def context_of(stated: Mapping[str, Any]) -> RunContext:
    """The run context as a file states it; what is no field of ours, or of another kind, goes to `settings`."""
    kinds = get_type_hints(RunContext)
    known: dict[str, Any] = {}
    settings = dict(map_of(stated.get("settings")))
    for key, value in stated.items():
        if key == "settings" or value is None:
            continue
        try:
            known[key] = msgspec.convert(value, kinds[key])
        except (KeyError, msgspec.ValidationError):
            settings[key] = value
    judges = {**RunContext().judges, **known.pop("judges", {})}
    return replace(RunContext(), **known, judges=judges, settings=settings)


def _row(record: Record, names: list[str], context: RunContext) -> ImportedRow | LeftOut:
    values = record.values
    question = text_of(values.get("question"))
    if is_blank(question) or question is None:
        return LeftOut(record.line, "no question")
    scores, missing = _scores(values, names)
    judge = map_of(values.get("judge"))
    # The line's judge gave its claims their verdicts; its scores too, unless the run line names another for them.
    named = _named(context, "scores")
    chunks, problem = chunks_of(values.get("contexts"))
    claims = _claims(values.get("claims"))
    unread = None if values.get("claims") is None or claims is not None else "claims is no list"
    unknown_keys = sorted(values.keys() - _KEYS)
    notes = [note for note in (problem, unread, record.problem) if note]
    if unknown_keys:
        notes.append("keys that were not read: " + ", ".join(unknown_keys))
    return ImportedRow(
        question=question,
        line=record.line,
        id=name_of(values.get("id")),
        repeat=repeat_of(values.get("repeat")),
        answer=text_of(values.get("answer")),
        reference=text_of(values.get("reference_answer")),
        doc_id=name_of(values.get("doc_id")),
        contexts=chunks,
        scores=scores,
        missing=missing,
        claims=claims,
        claims_missing="unparsed" if unread else None,
        claims_listed=len(list_of(values.get("claims"))),
        claims_against=_judged_contexts(values.get("judged_contexts"), chunks),
        excerpt=text_of(values.get("excerpt")),
        claim_judge=name_of(judge.get("model")) or (_named(context, "claims") if claims else None),
        claim_prompt=name_of(judge.get("prompt_hash")) or context.prompts.get("claims"),
        score_judge=(named or name_of(judge.get("model"))) if not _JUDGED.isdisjoint(scores) else None,
        score_prompt=context.prompts.get("scores") or (None if named else name_of(judge.get("prompt_hash"))),
        measurements={
            name: number
            for name, value in map_of(values.get("measurements")).items()
            if (number := number_of(value)) is not None
        },
        error=text_of(values.get("error")) or None,
        notes=(*notes, *(note for note in list_of(values.get("notes")) if isinstance(note, str))),
        route=_route(values.get("route")),
        details=_details(values),
    )


def _judged_contexts(value: Any, contexts: tuple[ImportedChunk, ...] | None) -> tuple[ImportedChunk, ...]:
    """What the claim judge had beside the excerpt: true for the contexts as they are, else a list like theirs."""
    seen = contexts if value is True else chunks_of(list_of(value))[0]
    return seen or ()


def _named(context: RunContext, role: str) -> str | None:
    """The judge that the run line names for a role."""
    name = context.judges.get(role, UNKNOWN)
    return None if name in (UNKNOWN, "none") else name


def _route(value: Any) -> Route | None:
    """Where an exported question was sent; the rule becomes `imported`."""
    stated = map_of(value)
    corpora, home = (tuple(c for c in list_of(stated.get(key)) if isinstance(c, str)) for key in ("corpora", "home"))
    return Route(corpora, "imported", home) if corpora or home else None


def _scores(values: Mapping[str, Any], names: list[str]) -> tuple[dict[str, float | None], dict[str, str]]:
    """What the line gives; a metric of the claims is left to be computed where there are claims."""
    given = map_of(values.get("scores"))
    reasons = map_of(values.get("missing"))
    scores: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    for name in names:
        if name in _OWN_FROM_CLAIMS and values.get("claims") is not None:
            continue
        scores[name] = number_of(given.get(name))
        if scores[name] is None:
            reason = name_of(reasons.get(name))
            missing[name] = reason or _reason(values, name, given)
    return scores, missing


def _reason(values: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> str:
    """Why a line gives no score that it gives no reason for."""
    if not is_blank(given.get(name)):
        return "unparsed"
    if not is_blank(values.get("error")):
        return "error"
    return "no_score" if name in given else "not_asked"


def _claims(value: Any) -> tuple[ImportedClaim, ...] | None:
    if not isinstance(value, list):
        return None
    claims = [claim if isinstance(claim, dict) else {"text": text_of(claim)} for claim in value]
    return tuple(
        ImportedClaim(
            text=text_of(claim.get("text")) or "",
            verdict=verdict_of(claim.get("verdict")),
            evidence=text_of(claim.get("evidence")) or None,
            support=_SUPPORT.get(str(claim.get("support"))),
            reason=text_of(claim.get("reason")) or None,
        )
        for claim in claims
    )


def _details(values: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for key in _QUESTION_DETAILS:
        listed = tuple(item for item in list_of(values.get(key)) if isinstance(item, str))
        if listed:
            details[key] = listed
    for key in ("context", "source", "origin", "drafted_by"):
        if isinstance(values.get(key), str):
            details[key] = values[key]
    for key in ("answerable", "cross_corpus", "reviewed"):
        if isinstance(values.get(key), bool):
            details[key] = values[key]
    return details


FORMAT = Format("plain", "plain results file", recognises, read)
