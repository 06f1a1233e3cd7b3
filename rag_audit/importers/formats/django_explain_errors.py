"""django-explain-errors: explanations with and without retrieval, judged pairwise and blinded; un-blinded here."""

from collections.abc import Mapping, Sequence
from typing import Any

from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.record import ForeignRun, ImportedClaim, ImportedRow, LeftOut, Record
from rag_audit.importers.source import Source, list_entries
from rag_audit.importers.values import (
    count_of,
    is_blank,
    list_of,
    map_of,
    maps_of,
    metric_names,
    name_of,
    number_of,
    text_of,
    utc_time,
    verdict_of,
)
from rag_audit.model import UNKNOWN, JudgeCall, RunContext, Usage, Verdict

_TOOL = "django_explain_errors"
_MARKS = frozenset({"generator_model", "judge_model"})
_STATED = ("identifies_cause", "points_to_fix_location", "fix_would_work", "written_for_learner")
_NAMES = metric_names(_TOOL, (*_STATED, "no_fabrication"))
_ARMS = {True: "rag_on", False: "rag_off"}
_MOST_FAILURES = 1 / 3
"""Share of failed comparisons from which no tally may be shown."""

Key = tuple[str | None, Any]
"""Fixture and run index: one comparison."""


def recognises(source: Source) -> bool:
    """The models, the calls and the judgments of one evaluation."""
    document = source.document_map
    return document.keys() >= _MARKS and ("calls" in document or "judgments" in document)


def read(source: Source) -> tuple[ForeignRun, ...]:
    """Two runs: with retrieval and without it."""
    document = source.document_map
    calls = list_of(document.get("calls"))
    judgments = maps_of(document.get("judgments"))
    if not calls:
        raise refuse(source, "no calls" + ("" if judgments else " and no judgments"), "Run the evaluation again.")
    compared = {_key(judgment): judgment for judgment in reversed(judgments)}
    known = {_key(call) for call in maps_of(calls)}
    several = len({_key(call)[1] for call in maps_of(calls)}) > 1
    warnings = _tally(judgments)
    orphans = sum(_key(judgment) not in known for judgment in judgments)
    if orphans:
        warnings.append(f"{orphans} judgments belong to no call and were left out")
    if len(compared) < len(judgments):
        warnings.append(f"{len(judgments) - len(compared)} judgments of a pair that was judged before were left out")
    return tuple(
        _arm(document, rag, members, compared, several=several, warnings=warnings)
        for rag, members in _arms(calls).items()
        if members
    )


def _key(entry: Mapping[str, Any]) -> Key:
    index = entry.get("run_index")
    return name_of(entry.get("fixture")), index if isinstance(index, int) else None


def _arms(calls: Sequence[Any]) -> dict[bool, list[Any]]:
    """The calls by arm; one that names no arm is left out of the first."""
    arms: dict[bool, list[Any]] = {True: [], False: []}
    for call in calls:
        rag = map_of(call).get("rag_enabled")
        arms[rag if isinstance(rag, bool) else True].append(call)
    return arms


def _arm(
    document: Mapping[str, Any],
    rag: bool,
    calls: Sequence[Any],
    compared: Mapping[Key, Mapping[str, Any]],
    *,
    several: bool,
    warnings: Sequence[str],
) -> ForeignRun:
    judge = name_of(document.get("judge_model"))
    settings = {key: document[key] for key in ("git_sha", "runs") if document.get(key) is not None}
    return ForeignRun(
        format="django-explain-errors",
        entries=list_entries(calls),
        convert=lambda record: _row(record, rag, compared, judge, several=several),
        system=_ARMS[rag],
        context=RunContext(
            generator=name_of(document.get("generator_model")) or UNKNOWN,
            judges={"claims": judge or UNKNOWN, "scores": judge or UNKNOWN},
            retriever={"enabled": rag},
            settings=settings,
        ),
        started_at=utc_time(document.get("timestamp")),
        kinds={metric: known_kind(metric) for metric in _NAMES.values()},
        claim_scores=frozenset({_NAMES["no_fabrication"]}),
        file_rows=len(calls),
        warnings=tuple(warnings),
    )


def _tally(judgments: Sequence[Mapping[str, Any]]) -> list[str]:
    """Who won how often, un-blinded; no tally where too many comparisons failed."""
    failures = [judgment for judgment in judgments if judgment.get("judge_failure") is True]
    warnings = []
    if failures:
        warnings.append(f"{len(failures)} of {len(judgments)} comparisons failed; their scores are missing")
    sides = [side for judgment in judgments if (side := winner_side(judgment)) is not None]
    if len(failures) > _MOST_FAILURES * len(judgments):
        warnings.append("more than a third of the comparisons failed: no tally of wins can be shown")
    elif sides:
        wins = ", ".join(f"{side} {sides.count(side)}" for side in ("rag_on", "rag_off", "tie"))
        warnings.append(f"wins in {len(sides)} comparisons: {wins}")
    wrong = sum(
        (side := winner_side(judgment)) is not None and judgment.get("winner_side") not in (None, side)
        for judgment in judgments
    )
    if wrong:
        warnings.append(f"{wrong} stored winner_side do not fit winner and rag_on_is_a; the derived one counts")
    return warnings


def winner_side(judgment: Mapping[str, Any]) -> str | None:
    """Which arm won: derived from the blinded winner and from which side was the arm with retrieval."""
    winner, on_is_a = judgment.get("winner"), judgment.get("rag_on_is_a")
    if judgment.get("judge_failure") is True or not isinstance(on_is_a, bool):
        return None
    if winner == "tie":
        return "tie"
    return _ARMS[(winner == "A") == on_is_a] if winner in ("A", "B") else None


def _row(
    record: Record, rag: bool, compared: Mapping[Key, Mapping[str, Any]], judge: str | None, *, several: bool
) -> ImportedRow | LeftOut:
    call = record.values
    fixture, index = _key(call)
    if fixture is None:
        return LeftOut(record.line, "no fixture")
    if call.get("rag_enabled") is not rag:
        return LeftOut(record.line, "rag_enabled is neither true nor false")
    judgment = compared.get((fixture, index), {})
    side = _side(judgment, rag)
    scores, missing, notes = _scores(judgment, side)
    explanation = text_of(call.get("explanation"))
    status = number_of(call.get("status_code"))
    failed = explanation is None or (status is not None and status >= 400)
    claims = _claims(side)
    reply = text_of(judgment.get("reasoning")) or text_of(judgment.get("error"))
    return ImportedRow(
        question=fixture,
        line=record.line,
        id=fixture,
        repeat=index + 1 if several and isinstance(index, int) and index >= 0 else None,
        answer=explanation,
        scores=scores,
        missing=missing,
        claims=claims,
        claims_missing="judge_error" if judgment.get("judge_failure") is True else None,
        claims_listed=len(claims or ()),
        usage=Usage(count_of(call.get("prompt_tokens")), None, count_of(call.get("completion_tokens"))),
        latency_s=number_of(call.get("latency_seconds")),
        claim_judge=judge if side else None,
        score_judge=judge if side else None,
        judge_calls=(JudgeCall("claims", "", reply, judge, error=text_of(judgment.get("error"))),) if reply else (),
        error=f"the call failed with status {status:g}" if failed and status else "no explanation" if failed else None,
        notes=tuple(notes),
        details=_details(call),
    )


def _side(judgment: Mapping[str, Any], rag: bool) -> dict[str, Any]:
    """What the judge said of this arm; nothing where the comparison failed."""
    on_is_a = judgment.get("rag_on_is_a")
    if judgment.get("judge_failure") is True or not isinstance(on_is_a, bool):
        return {}
    return map_of(judgment.get("a" if on_is_a == rag else "b"))


def _scores(
    judgment: Mapping[str, Any], side: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str], list[str]]:
    """The stated booleans, and no_fabrication as the claims have it: false only if one is contradicted."""
    scores: dict[str, float | None] = {_NAMES[name]: _truth(side.get(name)) for name in _STATED}
    notes = []
    claims = _claims(side)
    derived = None if claims is None else float(all(claim.verdict is not Verdict.CONTRADICTED for claim in claims))
    scores[_NAMES["no_fabrication"]] = derived
    stored = _truth(side.get("no_fabrication"))
    if stored is not None and derived is not None and stored != derived:
        notes.append(f"stored no_fabrication {bool(stored)} contradicts the claims; {bool(derived)} counts")
    reason = "no_score" if judgment else "not_asked"
    if judgment.get("judge_failure") is True:
        reason = "judge_error"
    return scores, {name: reason for name, score in scores.items() if score is None}, notes


def _truth(value: Any) -> float | None:
    return float(value) if isinstance(value, bool) else None


def _claims(side: Mapping[str, Any]) -> tuple[ImportedClaim, ...] | None:
    if not isinstance(side.get("claims"), list):
        return None
    return tuple(
        ImportedClaim(text_of(map_of(claim).get("claim")) or "", verdict_of(map_of(claim).get("status")))
        for claim in side["claims"]
    )


def _details(call: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    traceback = text_of(call.get("traceback"))
    if traceback and not is_blank(traceback):
        details["context"] = traceback
    group = name_of(call.get("group"))
    if group:
        details["tags"] = (f"group {group}",)
    return details


FORMAT = Format("django-explain-errors", "django-explain-errors", recognises, read)
