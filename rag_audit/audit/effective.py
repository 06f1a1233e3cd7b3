"""The effective verdict of every claim, and the metrics that follow from it: derived, never stored."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_audit.audit.standing import SKIP, ClaimKey, Standing, added_key, claim_key, resolve
from rag_audit.metrics import Scored, claim_precision_of, mean, no_fabrication_of
from rag_audit.model import Claim, Decision, QuestionResult, Verdict
from rag_audit.summary import corpus_of, judge_text

CLAIM_METRICS = {"no_fabrication": no_fabrication_of, "claim_precision": claim_precision_of}
"""The metrics that follow from the verdicts of an answer's claims."""


class Basis(StrEnum):
    """Where an effective verdict comes from."""

    JUDGE = "judge"
    """Nobody decided it."""
    REVIEWERS = "reviewers"
    """All who decided it agree."""
    ADJUDICATED = "adjudicated"
    DISPUTED = "disputed"
    """Reviewers differ: the judge's verdict is kept until an adjudication names both."""
    CANNOT_JUDGE = "cannot_judge"
    """Everyone who looked at it passed: the judge's verdict is kept."""


@dataclass(frozen=True, slots=True)
class EffectiveClaim:
    """One claim with what counts for it now."""

    id: str
    text: str
    judge: Verdict | None
    """None: the judge missed it, a reviewer added it."""
    verdict: Verdict | None
    """None: a missed claim on which reviewers differ; there is no judge's verdict to keep."""
    basis: Basis
    decisions: tuple[Decision, ...] = ()
    """Those in force, by time."""

    @property
    def missed(self) -> bool:
        """Whether the judge did not list it."""
        return self.judge is None


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """One result, reduced to what the audit's numbers need."""

    id: str
    repeat: int | None
    corpus: str
    claims: tuple[Claim, ...]
    scores: dict[str, float | None]
    missing: dict[str, str]
    judge: str
    """Identity of the claim judge."""
    claim_flags: dict[str, tuple[str, ...]]
    """Claim id to its flags."""


def audited_question(result: QuestionResult) -> AuditedQuestion:
    """Reduce a result to what the audit's numbers need."""
    judgment = result.claim_judgment
    flags: defaultdict[str, list[str]] = defaultdict(list)
    for flag in result.flags:
        if flag.claim_id is not None:
            flags[flag.claim_id].append(flag.flag.value)
    return AuditedQuestion(
        id=result.question.id,
        repeat=result.repeat,
        corpus=corpus_of(result),
        claims=judgment.claims if judgment else (),
        scores=dict(result.scores),
        missing=dict(result.missing),
        judge=judge_text(judgment.identity, judgment.reported_model) if judgment else "none",
        claim_flags={claim: tuple(names) for claim, names in flags.items()},
    )


class Decisions:
    """A resolved set of decisions, looked up by claim."""

    def __init__(self, decisions: Iterable[Decision]) -> None:
        self.standing: Standing = resolve(decisions)
        """Which of them hold."""
        self.answers = frozenset((decision.question_id, decision.repeat) for decision in self.standing.ordered)
        """(question id, repeat) of every answer that somebody ever decided something about."""
        self._verdicts: defaultdict[ClaimKey, list[Decision]] = defaultdict(list)
        self._added: defaultdict[tuple[str, int | None], list[Decision]] = defaultdict(list)
        self._scores: defaultdict[tuple[str, int | None, str], list[Decision]] = defaultdict(list)
        for decision in self.standing.in_force:
            if decision.kind == "score":
                self._scores[decision.question_id, decision.repeat, decision.metric or ""].append(decision)
            else:
                self._verdicts[claim_key(decision)].append(decision)
        # An added claim is there until its adding is undone, also when its verdict was changed or adjudicated.
        for decision in self.standing.ordered:
            if decision.kind == "added_claim" and decision.id not in self.standing.undone:
                self._added[decision.question_id, decision.repeat].append(decision)

    def on_claim(self, key: ClaimKey) -> tuple[Decision, ...]:
        """The decisions in force on one claim: the latest of each reviewer, by time."""
        latest = {decision.reviewer: decision for decision in self._verdicts[key]} if key in self._verdicts else {}
        return tuple(sorted(latest.values(), key=lambda decision: (decision.time, decision.id)))

    def added(self, question_id: str, repeat: int | None) -> dict[str, Decision]:
        """The claims that reviewers added to one answer, each text once, by time; by the name that each goes by.

        Two reviewers may have numbered different claims alike: the later one gets the next free number.
        """
        named: dict[str, Decision] = {}
        known: set[str | None] = set()
        for decision in self._added.get((question_id, repeat), ()):
            if decision.claim_hash not in known:
                known.add(decision.claim_hash)
                name, number = decision.claim_id or "m1", 1
                while name in named:
                    name, number = f"m{number}", number + 1
                named[name] = decision
        return named

    def scores(self, question_id: str, repeat: int | None, metric: str) -> tuple[Decision, ...]:
        """The score decisions in force: the latest of each reviewer."""
        latest = {d.reviewer: d for d in self._scores.get((question_id, repeat, metric), ())}
        return tuple(latest.values())


def effective_claims(
    question_id: str, repeat: int | None, claims: Sequence[Claim], decisions: Decisions
) -> tuple[EffectiveClaim, ...]:
    """The effective verdict of every claim of one answer: the judge's claims in their order, then the added ones.

    What the reviewers decided if they agree; the judge's, marked as disputed, if they do not; the judge's where
    nobody decided. "Cannot judge" is no vote. This is the only function that says what a verdict is in the end.
    """
    found = [
        _settle(claim.id, claim.text, claim.verdict, decisions.on_claim((question_id, repeat, claim.id)))
        for claim in claims
    ]
    for name, added in decisions.added(question_id, repeat).items():
        votes = decisions.on_claim(added_key(question_id, repeat, added.claim_hash))
        found.append(_settle(name, added.text or "", None, votes))
    return tuple(found)


def said_of(votes: Iterable[Decision]) -> set[str]:
    """The different verdicts among the votes on one claim: reviewers differ where there are two or more."""
    return {vote.verdict for vote in votes if vote.verdict is not None and vote.verdict != SKIP}


def _settle(claim_id: str, text: str, judge: Verdict | None, votes: tuple[Decision, ...]) -> EffectiveClaim:
    said = said_of(votes)
    if not votes:
        return EffectiveClaim(claim_id, text, judge, judge, Basis.JUDGE)
    if not said:
        return EffectiveClaim(claim_id, text, judge, judge, Basis.CANNOT_JUDGE, votes)
    if len(said) > 1:
        return EffectiveClaim(claim_id, text, judge, judge, Basis.DISPUTED, votes)
    basis = Basis.ADJUDICATED if any(vote.kind == "adjudication" for vote in votes) else Basis.REVIEWERS
    return EffectiveClaim(claim_id, text, judge, Verdict(said.pop()), basis, votes)


def effective_verdicts(result: QuestionResult, decisions: Decisions) -> dict[str, str]:
    """Claim id to effective verdict of one result."""
    claims = result.claim_judgment.claims if result.claim_judgment else ()
    return {
        claim.id: claim.verdict.value
        for claim in effective_claims(result.question.id, result.repeat, claims, decisions)
        if claim.verdict is not None
    }


def adjusted_score(question: AuditedQuestion, metric: str, decisions: Decisions) -> Scored:
    """One metric of one answer over effective verdicts, or over the reviewers' scores (their mean).

    An answer that nobody decided anything about keeps the value, or the missing reason, that it was judged with.
    """
    judged = (question.scores.get(metric), question.missing.get(metric))
    if (question.id, question.repeat) not in decisions.answers:
        return judged
    if metric not in CLAIM_METRICS:
        values = [d.value for d in decisions.scores(question.id, question.repeat, metric) if d.value is not None]
        return (mean(values), None) if values else judged
    claims = effective_claims(question.id, question.repeat, question.claims, decisions)
    if all(claim.verdict is claim.judge for claim in claims):
        return judged
    return CLAIM_METRICS[metric]([claim.verdict for claim in claims if claim.verdict is not None])
