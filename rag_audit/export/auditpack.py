"""The audit pack: the same decisions as CSV, JSONL and one HTML page, with all that is needed to recompute them."""

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import orjson

from rag_audit import __version__
from rag_audit.audit.effective import AuditedQuestion, Decisions, EffectiveClaim, effective_claims
from rag_audit.audit.estimates import BlindDecisions
from rag_audit.audit.recording import excerpt_hash
from rag_audit.audit.report import AuditReport
from rag_audit.audit.report_json import report_json
from rag_audit.audit.standing import added_key, claim_key
from rag_audit.auditing import audited_questions, report_run
from rag_audit.errors import UsageError
from rag_audit.export.run_csv import Cell, safe_cell
from rag_audit.export.writing import written
from rag_audit.history import History
from rag_audit.model import Claim, Decision, QuestionResult

BOM = "\ufeff"
_LONGEST_CELL = 32_000
"""Spreadsheets cut a cell at 32,767 characters without a word; we cut it and say so."""

Place = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class AuditPack:
    """An audit as it leaves the project."""

    report: AuditReport
    questions: tuple[AuditedQuestion, ...]
    """Every answer of the run, reduced to its figures: corrected values need those nobody checked as well."""
    evidence: dict[Place, QuestionResult]
    """The answers that were drawn or decided, in full."""
    decisions: Decisions
    counted: frozenset[str]
    """Decisions that enter agreement and corrected values: each reviewer's first blind ones in the draw."""
    head: str | None
    """Head of the history when the pack was written."""

    def claims_of(self, place: Place) -> tuple[EffectiveClaim, ...]:
        """The claims of one audited answer with their effective verdicts."""
        return effective_claims(*place, judged_claims(self.evidence.get(place)), self.decisions)


def write_audit_pack(history: History, run_id: str, directory: Path, *, bom: bool = False) -> tuple[Path, ...]:
    """Write audit.csv, audit.jsonl and audit.html into a folder, which is made if need be; returns their paths.

    `bom` starts the CSV with a byte order mark, which some spreadsheets want. The history itself is no place for it.
    """
    from rag_audit.export.audit_html import write_audit_html

    project = history.project
    _make_folder(directory, project)
    pack = build_pack(history, run_id)
    paths = tuple(directory / f"audit.{form}" for form in ("csv", "jsonl", "html"))
    for path, write in zip(paths, (write_audit_csv, write_audit_jsonl, write_audit_html), strict=True):
        with written(path, project) as out:
            if bom and path.suffix == ".csv":
                out.write(BOM)
            write(pack, out)
    return paths


def _make_folder(directory: Path, project: Path) -> None:
    if directory.resolve().is_relative_to((project / "history").resolve()):
        raise UsageError(f"{directory} lies inside the history, which is never rewritten", "Name another folder.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {directory}: {error.strerror}", "Name a folder that can be written.") from error


def build_pack(history: History, run_id: str) -> AuditPack:
    """Gather one run's audit."""
    run = history.archived(history.resolve(run_id).id).summary
    report = report_run(history, run)
    decisions = Decisions(history.decisions(run.id))
    sample = report.sample.sample if report.sample else None
    wanted = {decision.question_id for decision in decisions.standing.ordered} | set(sample.questions if sample else ())
    return AuditPack(
        report=report,
        questions=tuple(audited_questions(history, run.id)),
        evidence={
            (result.question.id, result.repeat): result
            for result in history.results(run.id)
            if result.question.id in wanted
        },
        decisions=decisions,
        counted=frozenset(decision.id for decision in BlindDecisions(sample, decisions).listed),
        head=history.head(),
    )


def judged_claims(result: QuestionResult | None) -> tuple[Claim, ...]:
    """The judge's claims of an answer."""
    return result.claim_judgment.claims if result and result.claim_judgment else ()


def write_audit_jsonl(pack: AuditPack, out: TextIO) -> None:
    """One object a line: the design, every answer of the run, every decision, and the report they give."""
    for document in _documents(pack):
        out.write(orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS).decode() + "\n")


def _documents(pack: AuditPack) -> Iterator[dict[str, Any]]:
    run, sample = pack.report.run, pack.report.sample
    yield {
        "kind": "audit",
        "run": run.id,
        "label": run.label,
        "started_at": run.started_at,
        "context": asdict(run.context),
        "reported_models": run.reported_models,
        "metrics": {name: {"mean": m.mean, "n": m.n, "range": m.range} for name, m in run.metrics.items()},
        "sample": asdict(sample.sample) if sample else None,
        "history_head": pack.head,
        "version": __version__,
    }
    drawn = set(sample.sample.questions) if sample else set()
    for question in pack.questions:
        yield _answer(pack, question, question.id in drawn)
    for decision in pack.decisions.standing.ordered:
        yield {"kind": "decision", **standing_of(pack, decision), **_renamed(decision)}
    yield {"kind": "report", **report_json(pack.report)}


def _renamed(decision: Decision) -> dict[str, Any]:
    fields = asdict(decision)
    return {"decision": fields.pop("kind"), **fields}


def standing_of(pack: AuditPack, decision: Decision) -> dict[str, bool]:
    """Whether a decision holds now, and whether it enters agreement and corrected values."""
    standing = pack.decisions.standing
    in_force = decision.kind != "undo" and decision.id not in standing.undone | standing.replaced
    return {"in_force": in_force, "counted": decision.id in pack.counted}


def _answer(pack: AuditPack, question: AuditedQuestion, is_drawn: bool) -> dict[str, Any]:
    place = (question.id, question.repeat)
    result = pack.evidence.get(place)
    judged = {claim.id: claim for claim in question.claims}
    line: dict[str, Any] = {
        "kind": "answer",
        "question_id": question.id,
        "repeat": question.repeat,
        "corpus": question.corpus,
        "drawn": is_drawn,
        "judge": question.judge,
        "scores": question.scores,
        "missing": question.missing,
        "claims": [
            _claim(claim, judged.get(claim.id), question.claim_flags.get(claim.id, ()))
            for claim in effective_claims(*place, question.claims, pack.decisions)
        ],
    }
    if result is not None:
        excerpt = result.claim_judgment.excerpt if result.claim_judgment else None
        line |= {
            "question": result.question.question,
            "reference_answer": result.question.reference_answer,
            "answer": result.generation.answer if result.generation else None,
            "excerpt": {part: excerpt.text(part) for part in ("reference", "context")} if excerpt else None,
            "excerpt_hash": excerpt_hash(excerpt) if excerpt else None,
        }
    return line


def _claim(claim: EffectiveClaim, judged: Claim | None, flags: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": claim.id,
        "text": claim.text,
        "judge_verdict": claim.judge,
        "effective_verdict": claim.verdict,
        "basis": claim.basis,
        "evidence": judged.evidence if judged else None,
        "evidence_found": bool(judged.evidence_spans) if judged and judged.evidence else None,
        "support": judged.support if judged else None,
        "flags": flags,
    }


_COLUMNS = (
    *("run", "label", "question_id", "repeat", "claim_id", "claim", "kind", "judge_verdict", "reviewer_verdict"),
    *("metric", "score", "effective_verdict", "reason", "reviewer", "time", "seconds", "queue", "blind", "informed"),
    *("in_force", "counted", "evidence", "excerpt", "judge", "claim_hash", "excerpt_hash", "decision_id", "supersedes"),
    *("carried_from", "sample_id", "sample_seed", "sample_fraction", "sample_stratify", "version", "history_head"),
)


def write_audit_csv(pack: AuditPack, out: TextIO) -> None:
    """One line a decision, undone and replaced ones included; text that could be a formula gets an apostrophe."""
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for decision in pack.decisions.standing.ordered:
        cells = _cells(pack, decision)
        writer.writerow([safe_cell(cells[name]) for name in _COLUMNS])


def _cells(pack: AuditPack, decision: Decision) -> dict[str, Cell]:
    run, state = pack.report.run, pack.report.sample
    sample = state.sample if state else None
    result = pack.evidence.get((decision.question_id, decision.repeat))
    claim = find_claim(pack, decision)
    judged = next((c for c in judged_claims(result) if claim and c.id == claim.id), None)
    excerpt = result.claim_judgment.excerpt if result and result.claim_judgment else None
    parts = [excerpt.text(part) for part in ("reference", "context")] if excerpt else []
    return {
        "run": run.id,
        "label": run.label,
        "question_id": decision.question_id,
        "repeat": decision.repeat,
        "claim_id": decision.claim_id,
        "claim": decision.text or (claim.text if claim else None),
        "kind": decision.kind,
        "judge_verdict": decision.judge_verdict,
        "reviewer_verdict": decision.verdict,
        "metric": decision.metric,
        "score": decision.value,
        "effective_verdict": claim.verdict.value if claim and claim.verdict else None,
        "reason": decision.reason,
        "reviewer": decision.reviewer,
        "time": decision.time,
        "seconds": decision.seconds,
        "queue": decision.queue.value,
        "blind": _word(decision.blind),
        "informed": _word(decision.informed),
        **{name: _word(value) for name, value in standing_of(pack, decision).items()},
        "evidence": judged.evidence if judged else None,
        "excerpt": _cut("\n\n".join(filter(None, parts))),
        "judge": decision.judge,
        "claim_hash": decision.claim_hash,
        "excerpt_hash": decision.excerpt_hash,
        "decision_id": decision.id,
        "supersedes": " ".join(decision.supersedes),
        "carried_from": decision.carried_from,
        "sample_id": decision.sample_id,
        "sample_seed": sample.seed if sample else None,
        "sample_fraction": sample.fraction if sample else None,
        "sample_stratify": sample.stratify if sample else None,
        "version": __version__,
        "history_head": pack.head,
    }


def _word(value: bool) -> str:
    return "true" if value else "false"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_CELL:
        return text
    return f"{text[:_LONGEST_CELL]}… (cut; audit.jsonl has all {len(text):,} characters)"


def find_claim(pack: AuditPack, decision: Decision) -> EffectiveClaim | None:
    """The claim a decision is about; None for scores."""
    if decision.claim_id is None:
        return None
    place = (decision.question_id, decision.repeat)
    for claim in pack.claims_of(place):
        key = (*place, claim.id)
        if claim.missed and claim.decisions:
            key = added_key(*place, claim.decisions[0].claim_hash)
        if key == claim_key(decision):
            return claim
    return None
