"""Makes decisions: checks what a reviewer asks for against the evidence and what was decided before.

Everything is passed in, the time included; the history gives a decision its id when it is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_audit.audit.effective import Decisions, said_of
from rag_audit.audit.standing import SKIP, ClaimKey, claim_hash, subject
from rag_audit.errors import UsageError
from rag_audit.fingerprint import fingerprint
from rag_audit.metrics import METRICS
from rag_audit.model import AuditSample, Claim, Decision, Excerpt, QuestionResult, Queue, RunSummary
from rag_audit.statistics.agreement import CLASSES
from rag_audit.summary import judge_text
from rag_audit.text.storable import storable

VERDICTS = (*CLASSES, SKIP)


@dataclass(frozen=True, slots=True)
class Case:
    """One answer on the reviewer's desk, with what was decided about its run so far."""

    run: RunSummary
    result: QuestionResult
    decisions: Decisions
    sample: AuditSample | None = None
    """The run's current draw."""


@dataclass(frozen=True, slots=True)
class Act:
    """Who decides, when, and how much they had seen."""

    reviewer: str
    time: str
    """ISO-8601, UTC."""
    blind: bool = False
    """Whether the judge's verdict, quote and flags were hidden."""
    reason: str | None = None
    queue: Queue | None = None
    """The queue it was worked from; None: sample if the question is drawn, flagged if the claim is, else other."""
    carried_from: str | None = None
    seconds: float | None = None


def decide_claim(case: Case, claim_id: str, verdict: str, act: Act) -> Decision:
    """A reviewer's verdict on one claim (c1: judged; m1: added by a reviewer); replaces their earlier one.

    Without `act.blind` the judge's verdict is taken to have been seen, so the decision is `informed`; so is one by a
    reviewer who decided this claim with it in view before.
    """
    _check_verdict(verdict, VERDICTS)
    claim = _judged_claim(case, claim_id)
    text_hash = claim_hash(claim.text) if claim else _added(case)[claim_id].claim_hash
    return _draft(case, act, "verdict", claim=claim, claim_id=claim_id, verdict=verdict, claim_hash=text_hash)


def add_claim(case: Case, text: str, verdict: str, act: Act) -> Decision:
    """A checkable claim of the answer that the judge did not list, with the reviewer's verdict on it."""
    _check_verdict(verdict, CLASSES)
    text = storable(text).strip()
    if not text:
        raise UsageError("the added claim has no text", "Give the statement of the answer that the judge missed.")
    known = claim_hash(text)
    listed = next((claim.id for claim in _claims(case.result) if claim_hash(claim.text) == known), None)
    if listed:
        raise UsageError(f"the judge listed that claim as {listed}", f"Decide {listed} with `audit record`.")
    added = _added(case)
    same = next((name for name, decision in added.items() if decision.claim_hash == known), None)
    free = next(name for number in range(1, len(added) + 2) if (name := f"m{number}") not in added)
    return _draft(case, act, "added_claim", claim_id=same or free, verdict=verdict, claim_hash=known, text=text)


def score_answer(case: Case, metric: str, value: float | None, act: Act) -> Decision:
    """A reviewer's score of one answer, within the metric's range; None: cannot judge."""
    summary = case.run.metrics.get(metric)
    if summary is None:
        known = ", ".join(case.run.metrics)
        raise UsageError(f"this run has no metric {metric!r}", f"Its metrics are: {known or 'none'}.")
    own = METRICS.get(metric)
    if own is not None and own.judged_by != "scores":
        how = "follows from the verdicts of the claims" if own.judged_by else "is computed, not judged"
        raise UsageError(f"{metric} {how}: it takes no score", "Decide claims with `audit record`.")
    low, high = summary.range
    if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
        raise UsageError(f"{metric} goes from {low} to {high}, not {value:g}", "Give a value in that range.")
    judged = case.result.scores.get(metric)
    scores = case.result.score_judgment
    draft = _draft(case, act, "score", metric=metric, value=value, verdict=SKIP if value is None else None)
    return replace(
        draft,
        judge=judge_text(scores.identity, scores.reported_model) if scores else None,
        judge_verdict=None if judged is None else f"{judged:g}",
    )


def adjudicate(case: Case, claim_id: str, verdict: str, act: Act) -> Decision:
    """Settle a claim on which reviewers differ: names every decision in force on it."""
    _check_verdict(verdict, CLASSES)
    claim = _judged_claim(case, claim_id)
    text_hash = claim_hash(claim.text) if claim else _added(case)[claim_id].claim_hash
    draft = _draft(case, act, "adjudication", claim=claim, claim_id=claim_id, verdict=verdict, claim_hash=text_hash)
    votes = case.decisions.on_claim(subject(draft))
    if len(said_of(votes)) < 2:
        raise UsageError("reviewers do not differ on this claim", "`audit report` lists what is disputed.")
    return replace(draft, supersedes=tuple(sorted(vote.id for vote in votes)))


def undo(target: Decision, decisions: Decisions, act: Act) -> Decision:
    """Take back one's own decision; without `act.blind` the judge's verdict is taken to have been seen meanwhile.

    A blind undo of a blind decision voids it: it never counted. Otherwise the first blind decision keeps its place in
    the agreement, and only the effective verdict moves.
    """
    if target.reviewer != act.reviewer:
        raise UsageError(f"decision {target.id} is {target.reviewer}'s, not yours", "Everyone undoes their own.")
    if target.id in decisions.standing.undone:
        raise UsageError(f"decision {target.id} is undone already", "`audit report` shows what holds.")
    if target.id in decisions.standing.replaced:
        raise UsageError(f"decision {target.id} was replaced by a later one", "Undo the later one first.")
    return Decision(
        id="",
        kind="undo",
        run_id=target.run_id,
        question_id=target.question_id,
        repeat=target.repeat,
        claim_id=target.claim_id,
        metric=target.metric,
        claim_hash=target.claim_hash,
        excerpt_hash=target.excerpt_hash,
        reviewer=act.reviewer,
        time=act.time,
        reason=act.reason,
        queue=target.queue,
        sample_id=target.sample_id,
        blind=act.blind,
        informed=not act.blind,
        supersedes=(target.id,),
        seconds=act.seconds,
    )


def excerpt_hash(excerpt: Excerpt) -> str:
    """Identify what the judge could see, both parts."""
    return fingerprint((excerpt.text("reference"), excerpt.text("context")))


def has_seen_judge(decisions: Decisions, reviewer: str, about: ClaimKey) -> bool:
    """Whether a reviewer ever decided this claim or score with the judge's verdict, or its flags, in view."""
    return any(
        (not decision.blind or decision.informed or decision.queue is Queue.FLAGGED)
        for decision in decisions.standing.ordered
        if decision.reviewer == reviewer and subject(decision) == about
    )


def _draft(
    case: Case, act: Act, kind: str, *, claim: Claim | None = None, claim_id: str | None = None, **fields: Any
) -> Decision:
    """The decision without its id: what it is about, from the evidence; what it replaces, from the decisions."""
    result, judgment = case.result, case.result.claim_judgment
    drawn = case.sample is not None and result.question.id in case.sample.questions
    flagged = claim_id is not None and any(flag.claim_id == claim_id for flag in result.flags)
    queue = act.queue or (Queue.SAMPLE if drawn else Queue.FLAGGED if flagged else Queue.OTHER)
    draft = Decision(
        id="",
        kind=kind,
        run_id=case.run.id,
        question_id=result.question.id,
        repeat=result.repeat,
        claim_id=claim_id,
        reviewer=act.reviewer,
        time=act.time,
        excerpt_hash=excerpt_hash(judgment.excerpt) if judgment else None,
        judge=judge_text(judgment.identity, judgment.reported_model) if judgment else None,
        judge_verdict=claim.verdict.value if claim else None,
        reason=act.reason,
        queue=queue,
        sample_id=case.sample.id if case.sample and queue is Queue.SAMPLE else None,
        carried_from=act.carried_from,
        seconds=act.seconds,
        **fields,
    )
    about = subject(draft)
    own = (
        decision.id
        for decision in case.decisions.standing.in_force
        if decision.reviewer == act.reviewer and subject(decision) == about
    )
    blind = act.blind and not has_seen_judge(case.decisions, act.reviewer, about)
    return replace(draft, blind=blind, informed=not blind, supersedes=tuple(sorted(own)))


def _claims(result: QuestionResult) -> Sequence[Claim]:
    return result.claim_judgment.claims if result.claim_judgment else ()


def _judged_claim(case: Case, claim_id: str) -> Claim | None:
    """The judge's claim of that id; None for an added one; an error where there is neither."""
    found = next((claim for claim in _claims(case.result) if claim.id == claim_id), None)
    if found is None and claim_id not in _added(case):
        known = ", ".join([claim.id for claim in _claims(case.result)] + sorted(_added(case)))
        raise UsageError(
            f"question {case.result.question.id} has no claim {claim_id!r}",
            f"Its claims are: {known}." if known else "It has no claims; add one with `audit add-claim`.",
        )
    return found


def _added(case: Case) -> dict[str, Decision]:
    return case.decisions.added(case.result.question.id, case.result.repeat)


def _check_verdict(verdict: str, accepted: Sequence[str]) -> None:
    if verdict not in accepted:
        raise UsageError(f"no such verdict {verdict!r}", f"Give one of: {', '.join(accepted)}.")
