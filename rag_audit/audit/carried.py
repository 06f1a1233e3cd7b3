"""Carried decisions: what a reviewer said of the same claim beside the same excerpt in an earlier run.

They are offered, never taken silently, and never while blind: a carried decision was made with a verdict in view.
"""

from dataclasses import dataclass

from rag_audit.audit.effective import Decisions
from rag_audit.audit.recording import Case, excerpt_hash
from rag_audit.audit.standing import claim_hash, claim_key
from rag_audit.model import Decision


@dataclass(frozen=True, slots=True)
class Offer:
    """An earlier decision that may be taken over."""

    claim_id: str
    """The claim of the present run."""
    verdict: str
    decision: Decision
    """Of the earlier run."""
    stale: bool
    """The excerpt changed since: the claim must be looked at again."""


def carried_offers(case: Case, earlier: Decisions, reviewer: str) -> tuple[Offer, ...]:
    """The reviewer's standing verdicts of an earlier run on the claims of this answer that they have not decided yet.

    The question's id and the claim's text must be the same; the latest decision on a text counts.
    """
    judgment = case.result.claim_judgment
    if judgment is None:
        return ()
    said = {
        decision.claim_hash: decision
        for decision in earlier.standing.in_force
        if decision.reviewer == reviewer
        and decision.question_id == case.result.question.id
        and decision.kind in ("verdict", "adjudication")
    }
    decided = {claim_key(d) for d in case.decisions.standing.in_force if d.reviewer == reviewer and d.kind != "score"}
    present = excerpt_hash(judgment.excerpt)
    return tuple(
        Offer(claim.id, found.verdict, found, stale=found.excerpt_hash != present)
        for claim in judgment.claims
        if (found := said.get(claim_hash(claim.text))) is not None
        and found.verdict is not None
        and (case.result.question.id, case.result.repeat, claim.id) not in decided
    )
