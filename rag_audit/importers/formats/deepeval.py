"""DeepEval: test runs with a score a metric and case; claims come out of the verbose log of Faithfulness."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rag_audit.importers.format import Format, refuse
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.listing import chunks_of
from rag_audit.importers.record import UNKNOWN_KIND, ForeignRun, ImportedClaim, ImportedRow, LeftOut, MetricKind, Record
from rag_audit.importers.source import Source, list_entries, parse_json
from rag_audit.importers.values import (
    is_blank,
    list_of,
    map_of,
    maps_of,
    metric_names,
    missing_reason,
    name_of,
    number_of,
    text_of,
    verdict_of,
)
from rag_audit.model import UNKNOWN, Direction, JudgeCall, RunContext, Verdict

_FAITHFULNESS = "Faithfulness"
_WORDS = {"yes": Verdict.VERIFIED, "no": Verdict.CONTRADICTED, "idk": Verdict.ABSENT}
_SECTION = re.compile(r"^(Truths \(limit=[^)\n]*\)|Claims|Verdicts):[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"test_case_\d+")
_RUN_KEYS = frozenset({"metricsScores", "conversationalTestCases", "testPassed", "testFailed", "runDuration"})


def recognises(source: Source) -> bool:
    """A test run, bare or wrapped in testRunData, a link to one, or the cache beside it."""
    document = source.document_map
    wrapped = map_of(document.get("testRunData"))
    return (
        bool(wrapped)
        or "testRunLink" in document
        or "test_cases_lookup_map" in document
        or ("testCases" in document and not _RUN_KEYS.isdisjoint(document))
    )


def read(source: Source) -> tuple[ForeignRun, ...]:
    """One run; conversational cases are left out and say so."""
    document = source.document_map
    run = map_of(document.get("testRunData")) or document
    cases = list_of(run.get("testCases"))
    conversations = list_of(run.get("conversationalTestCases"))
    if not cases:
        raise _no_cases(source, document, len(conversations))
    measured = [metric for case in maps_of(cases) for metric in _metrics(case).values()]
    names = metric_names("deepeval", dict.fromkeys(name for case in maps_of(cases) for name in _metrics(case)))
    case_names = Counter(name_of(case.get("name")) for case in maps_of(cases))
    own_ids = {name for name, count in case_names.items() if name and count == 1 and not _NUMBERED.fullmatch(name)}
    several_turns: list[Any] = ["a conversational case"] * len(conversations)
    entries = list_entries([*cases, *several_turns])
    return (
        ForeignRun(
            format="deepeval",
            entries=entries,
            convert=lambda record: _row(record, names, own_ids),
            label=name_of(run.get("identifier")),
            context=_context(run, measured),
            duration_s=number_of(run.get("runDuration")),
            kinds={metric: _kind(name, metric, cases) for name, metric in names.items()},
            claim_scores=frozenset({"deepeval.faithfulness"}),
            unfinished=None
            if list_of(run.get("metricsScores"))
            else "DeepEval did not finish the run (no metricsScores)",
            file_rows=len(cases) + len(conversations),
        ),
    )


def _no_cases(source: Source, document: Mapping[str, Any], conversations: int) -> Exception:
    full = "Open .latest_run_full.json or test_run_*.json instead."
    if "test_cases_lookup_map" in document:
        return refuse(source, "DeepEval's cache, not a run", "Open .latest_run_full.json or .latest_test_run.json.")
    if conversations:
        why = f"only conversational test cases ({conversations}), no single-turn cases"
        return refuse(source, why, "Conversations are not read; import a run of single-turn cases.")
    if "testRunLink" in document and "testRunData" not in document:
        return refuse(source, "holds only testRunLink: the run was uploaded and nothing is fetched", full)
    return refuse(source, "the run holds no test cases", full)


def _metrics(case: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A case's own metrics by name; those of its trace's spans are others. A second one of a name is numbered."""
    found: dict[str, dict[str, Any]] = {}
    for metric in maps_of(case.get("metricsData")):
        name = name_of(metric.get("name")) or "unnamed"
        number = 2
        unique = name
        while unique in found:
            unique, number = f"{name} ({number})", number + 1
        found[unique] = metric
    return found


def _context(run: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> RunContext:
    settings = {
        key: run[key] for key in ("hyperparameters", "testFile", "identifier", "prompts", "official") if run.get(key)
    }
    claim_judges = [metric for metric in measured if metric.get("name") == _FAITHFULNESS]
    return RunContext(
        generator=name_of(map_of(run.get("hyperparameters")).get("model")) or UNKNOWN,
        judges={"claims": _judges(claim_judges) or UNKNOWN, "scores": _judges(measured) or UNKNOWN},
        settings=settings,
    )


def _judges(metrics: Sequence[Mapping[str, Any]]) -> str:
    names = {name for metric in metrics if (name := name_of(metric.get("evaluationModel")))}
    return ", ".join(sorted(names))


def _kind(name: str, metric: str, cases: Sequence[Any]) -> MetricKind:
    """What is documented; for a metric of one's own, which side of its threshold passed."""
    known = known_kind(metric)
    if known != UNKNOWN_KIND:
        return known
    ups: set[bool] = set()
    for case in maps_of(cases):
        said = _metrics(case).get(name, {})
        score, threshold = number_of(said.get("score")), number_of(said.get("threshold"))
        passed = said.get("success")
        if score is not None and threshold is not None and score != threshold and isinstance(passed, bool):
            ups.add((score > threshold) == passed)
    if len(ups) != 1:
        return UNKNOWN_KIND
    return (0.0, 1.0), Direction.UP if ups.pop() else Direction.DOWN


def _row(record: Record, names: Mapping[str, str], own_ids: set[str]) -> ImportedRow | LeftOut:
    case = record.values
    question = text_of(case.get("input"))
    if question is None or is_blank(question):
        return LeftOut(record.line, "no input")
    metrics = _metrics(case)
    name = name_of(case.get("name"))
    scores: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    errors = []
    for metric_name, metric in metrics.items():
        full_name = names[metric_name]
        scores[full_name] = number_of(metric.get("score"))
        error = text_of(metric.get("error"))
        if error and not is_blank(error):
            errors.append(f"{metric_name}: {error}")
        if scores[full_name] is None:
            missing[full_name] = "judge_error" if error else missing_reason(metric.get("score"))
    faithfulness = metrics.get(_FAITHFULNESS, {})
    claims, note = read_claims(faithfulness.get("verboseLogs"))
    chunks, problem = chunks_of(case.get("retrievalContext"))
    gold = tuple(text for member in list_of(case.get("context")) if (text := text_of(member)) is not None)
    return ImportedRow(
        question=question,
        line=record.line,
        id=name if name in own_ids else None,
        answer=text_of(case.get("actualOutput")),
        reference=text_of(case.get("expectedOutput")),
        contexts=chunks,
        scores=scores,
        missing=missing,
        claims=claims,
        claims_missing=_why_no_claims(faithfulness, note) if claims is None else None,
        claims_listed=len(claims or ()),
        claims_against=chunks or () if claims is not None else (),
        claim_judge=name_of(faithfulness.get("evaluationModel")),
        score_judge=_judges(list(metrics.values())) or None,
        judge_calls=tuple(call for name, metric in metrics.items() if (call := _call(name, metric)) is not None),
        error="; ".join(errors) or None,
        notes=tuple(text for text in (note, problem) if text),
        details={"gold": gold} if gold else {},
    )


def _why_no_claims(faithfulness: Mapping[str, Any], note: str | None) -> str | None:
    if faithfulness.get("error"):
        return "judge_error"
    return "unparsed" if note else None


def _call(name: str, metric: Mapping[str, Any]) -> JudgeCall | None:
    texts = [text for key in ("reason", "verboseLogs") if (text := text_of(metric.get(key)))]
    error = text_of(metric.get("error"))
    if not texts and not error:
        return None
    return JudgeCall(
        judge="claims" if name == _FAITHFULNESS else "scores",
        prompt="",
        reply=f"{name}\n\n" + "\n\n".join(texts),
        model=name_of(metric.get("evaluationModel")),
        error=error,
        cost_usd=number_of(metric.get("evaluationCost")),
    )


def read_claims(log: Any) -> tuple[tuple[ImportedClaim, ...] | None, str | None]:
    """The claims in a verbose log, with their verdicts where both lists are as long; and what is odd about them."""
    if not isinstance(log, str):
        return None, None
    parts = _SECTION.split(log)
    sections = {parts[at].partition(" ")[0]: parts[at + 1] for at in range(1, len(parts) - 1, 2)}
    if "Claims" not in sections:
        return None, None
    texts = _leading_list(sections["Claims"])
    if not isinstance(texts, list):
        return None, "the claims in the log are unreadable"
    verdicts = _leading_list(sections.get("Verdicts", ""))
    note = None
    if not isinstance(verdicts, list):
        verdicts, note = [None] * len(texts), "the verdicts in the log are unreadable"
    elif len(verdicts) != len(texts):
        note = f"{len(texts)} claims but {len(verdicts)} verdicts: they cannot be aligned"
        verdicts = [None] * len(texts)
    return tuple(
        ImportedClaim(
            text=text_of(text) or "",
            verdict=verdict_of(map_of(verdict).get("verdict"), _WORDS),
            reason=text_of(map_of(verdict).get("reason")),
        )
        for text, verdict in zip(texts, verdicts, strict=True)
    ), note


def _leading_list(section: str) -> list[Any] | None:
    """The JSON list that a section begins with; newer logs go on behind the last one."""
    text = section.strip()
    whole = parse_json(text)
    if whole is None:
        cut = text.find("\n]")
        whole = parse_json(text[: cut + 2]) if cut >= 0 else None
    return whole if isinstance(whole, list) else None


FORMAT = Format("deepeval", "DeepEval", recognises, read)
