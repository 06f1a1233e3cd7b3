"""The audit over a project's history: who decides, what is drawn, what is on the desk, what the report says."""

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from rag_audit.audit.carried import carried_offers
from rag_audit.audit.effective import AuditedQuestion, Decisions, audited_question
from rag_audit.audit.recording import Act, Case, decide_claim
from rag_audit.audit.report import AuditReport, agreement_from_decisions, build_report
from rag_audit.errors import UsageError
from rag_audit.history import History
from rag_audit.model import AuditSample, Decision, QuestionResult, Queue, RunStatus, RunSummary
from rag_audit.sampling import draw_questions, sample_size, seed_of_run
from rag_audit.statistics.clustered import ClaimAgreement


def now() -> str:
    """The present time as decisions record it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def find_reviewer(project: Path, given: str | None = None, environ: Mapping[str, str] | None = None) -> str | None:
    """The reviewer's name: as given, RAG_AUDIT_REVIEWER, `audit.reviewer`, git's user.name; None: ask.

    A name given but empty (an unset variable of a script) is an error: nobody else's name stands in for it.
    """
    environ = os.environ if environ is None else environ
    if given is not None:
        return plain_name(given)
    if environ.get("RAG_AUDIT_REVIEWER", "").strip():
        return plain_name(environ["RAG_AUDIT_REVIEWER"])
    from rag_audit.config import load_settings

    name = load_settings(project, environ=environ).optional("audit.reviewer") or _git_user(project)
    return plain_name(name) if name and name.strip() else None


def require_reviewer(project: Path, given: str | None = None) -> str:
    """The reviewer's name, or an error that says where it can be given."""
    name = find_reviewer(project, given)
    if name is None:
        raise UsageError(
            "who is the reviewer?",
            "Give --reviewer NAME, set RAG_AUDIT_REVIEWER, or audit.reviewer in documents/config.yml.",
        )
    return name


def plain_name(name: str) -> str:
    """A reviewer's name as it is kept: without surplus blanks; refused if empty or with control characters."""
    name = " ".join(name.split())
    if not name:
        raise UsageError("the reviewer's name is empty", "Give a name, or leave --reviewer out.")
    if not name.isprintable():
        raise UsageError("the reviewer's name has control characters", "Give a plain name.")
    return name


def _git_user(project: Path) -> str | None:
    try:
        found = subprocess.run(
            ["git", "-C", str(project), "config", "user.name"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def current_sample(history: History, run_id: str) -> AuditSample | None:
    """The run's current draw: the latest recorded one."""
    samples = history.samples(run_id)
    return samples[-1] if samples else None


def draw_sample(
    history: History,
    run: RunSummary,
    *,
    fraction: float,
    seed: int | None = None,
    stratify: str = "corpus",
    target: tuple[str, ...] = ("claims",),
) -> tuple[AuditSample, bool]:
    """Draw questions of a finished run for the audit; returns the draw and whether it was recorded now.

    Rounded up to whole questions; without a seed the current draw's, else one from the run's id. The draw that is
    there already is returned as it is; a larger one of the same seed keeps it. A smaller or another one is refused
    once a drawn question was decided: which questions count must not depend on what was found in them.
    """
    if run.status in (RunStatus.RUNNING, RunStatus.INTERRUPTED):
        raise UsageError(f"run {run.id} is not finished", f"Finish it first: rag-audit run --resume {run.id}")
    current = current_sample(history, run.id)
    target = tuple(sorted(target))
    if seed is None:
        seed = current.seed if current else seed_of_run(run.id)
    rows = history.archived(run.id).rows
    strata = {row.id: row.corpus if stratify == "corpus" else "all" for row in rows}
    size = sample_size(fraction, len(strata))
    same = current is not None and (current.seed, current.stratify) == (seed, stratify)
    draw = draw_questions(strata, size, seed, earlier=current.strata if current and same else None)
    if current and same and len(draw.questions) == len(current.questions) and current.target == target:
        return current, False
    if current and not (set(current.questions) <= set(draw.questions) and set(current.target) <= set(target)):
        decided = any(decision.sample_id for decision in history.decisions(run.id))
        if decided:
            raise UsageError(
                f"the draw of {len(current.questions)} questions (seed {current.seed}) is being audited",
                "It can be enlarged with the same seed, stratification and targets; it cannot be exchanged.",
            )
    recorded = history.record_sample(
        AuditSample(
            id="",
            run_id=run.id,
            seed=seed,
            fraction=fraction,
            stratify=stratify,
            target=target,
            questions=draw.questions,
            time=now(),
            population=draw.population,
            strata=draw.strata,
            supersedes=current.id if current else None,
        )
    )
    return recorded, True


def open_case(
    history: History, run: RunSummary, question_id: str, repeat: int | None = None, *, claim_id: str | None = None
) -> Case:
    """Put one answer on the desk; `repeat` may be left out where only one of the repeats can be meant."""
    found = history.repeats(run.id, question_id)
    if repeat is not None:
        found = [result for result in found if result.repeat == repeat]
        if not found:
            raise UsageError(f"question {question_id} has no repeat {repeat}", f"`rag-audit show {run.id}` lists them.")
    elif len(found) > 1 and claim_id is not None:
        found = [result for result in found if _has_claim(result, claim_id)] or found
    if len(found) > 1:
        known = ", ".join(str(result.repeat) for result in found)
        raise UsageError(f"question {question_id} has repeats {known}", "Say which one: --repeat N.")
    decisions = Decisions(history.decisions(run.id))
    return Case(run, found[0], decisions, current_sample(history, run.id))


def _has_claim(result: QuestionResult, claim_id: str) -> bool:
    return result.claim_judgment is not None and any(claim.id == claim_id for claim in result.claim_judgment.claims)


def find_decision(history: History, ref: str) -> Decision:
    """A decision by its id or a unique prefix of it."""
    found = [decision for decision in history.decisions() if decision.id.startswith(ref)]
    exact = [decision for decision in found if decision.id == ref]
    if not found or not ref:
        raise UsageError(f"no decision {ref!r}", "`audit record` prints the id of each decision.")
    if len(found) > 1 and not exact:
        raise UsageError(f"{len(found)} decisions begin with {ref!r}", "Give more of the id.")
    return (exact or found)[0]


def audited_questions(history: History, run_id: str) -> list[AuditedQuestion]:
    """The run's evidence as the audit needs it."""
    return [audited_question(result) for result in history.results(run_id)]


def report_run(history: History, run: RunSummary) -> AuditReport:
    """The audit report of one run, with the agreement of the runs audited before it beside it."""
    return build_report(
        run,
        audited_questions(history, run.id),
        history.decisions(run.id),
        current_sample(history, run.id),
        audits_over_time(history),
    )


def audits_over_time(history: History) -> list[tuple[RunSummary, ClaimAgreement]]:
    """Agreement of judge and people in every audited run, oldest first."""
    by_run: dict[str, list[Decision]] = {}
    for decision in history.decisions():
        by_run.setdefault(decision.run_id, []).append(decision)
    found = []
    for run in history.summaries():
        sample = current_sample(history, run.id) if run.id in by_run else None
        agreement = agreement_from_decisions(by_run[run.id], sample) if sample else None
        if agreement is not None:
            found.append((run, agreement))
    return found


def carry_over(history: History, run: RunSummary, earlier: RunSummary, reviewer: str) -> tuple[list[Decision], int]:
    """Accept a reviewer's decisions of an earlier run wherever claim and excerpt are the same.

    Returns what was recorded and how many offers were stale. Questions of the draw that wait to be decided blind are
    left alone: a carried decision is never blind.
    """
    decisions = Decisions(history.decisions(run.id))
    sample = current_sample(history, run.id)
    before = Decisions(history.decisions(earlier.id))
    recorded: list[Decision] = []
    stale = 0
    for result in history.results(run.id):
        if sample is not None and result.question.id in sample.questions:
            continue
        case = Case(run, result, decisions, sample)
        for offer in carried_offers(case, before, reviewer):
            if offer.stale:
                stale += 1
                continue
            act = Act(reviewer, now(), reason=offer.decision.reason, queue=Queue.OTHER, carried_from=offer.decision.id)
            recorded.append(history.record(decide_claim(case, offer.claim_id, offer.verdict, act)))
    return recorded, stale
