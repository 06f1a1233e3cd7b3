"""Judge against people, people against people: who agrees, where, in which direction, and over time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_audit.audit.effective import AuditedQuestion
from rag_audit.audit.standing import ClaimKey, claim_key, subject
from rag_audit.metrics import mean
from rag_audit.model import Decision, Interval, Queue
from rag_audit.statistics.agreement import (
    CLASSES,
    krippendorff_alpha,
    weighted_kappa,
)
from rag_audit.statistics.clustered import ClaimAgreement, clustered_agreement
from rag_audit.statistics.paired import paired_bootstrap, sign_flip


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim with the judge's and one person's verdict; its weight is shared by all who decided it."""

    question_id: str
    judge: str
    human: str
    weight: float
    decision: Decision


@dataclass(frozen=True, slots=True)
class Leaning:
    """How often judge and people use one class, and whether the difference can be chance."""

    verdict: str
    judge: float
    people: float
    p_value: float | None
    """Sign-flip test over questions."""
    direction: str
    """too often | too rarely | unclear."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A claim on which reviewers differ."""

    question_id: str
    repeat: int | None
    claim_id: str
    said: Mapping[str, str]
    """Reviewer to verdict."""


@dataclass(frozen=True, slots=True)
class BetweenReviewers:
    """Krippendorff's alpha over the claims that at least two people decided."""

    alpha: float | None
    claims: int
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """Judge's scores against people's, over the drawn questions."""

    n: int
    difference: Interval
    """Mean of judge minus people."""
    weighted_kappa: float | None


def pair_up(decisions: Iterable[Decision], judged: Callable[[Decision], str | None]) -> list[Pair]:
    """Pair each verdict with the judge's; "cannot judge", added claims and unparsed verdicts have no pair."""
    by_claim: defaultdict[ClaimKey, list[Decision]] = defaultdict(list)
    for decision in decisions:
        if decision.kind == "verdict" and decision.verdict in CLASSES and judged(decision) in CLASSES:
            by_claim[claim_key(decision)].append(decision)
    return [
        Pair(decision.question_id, judged(decision) or "", decision.verdict or "", 1 / len(group), decision)
        for group in by_claim.values()
        for decision in group
    ]


def evidence_of(questions: Iterable[AuditedQuestion]) -> Callable[[Decision], str | None]:
    """What the judge said of the claim of a decision, from the run's own evidence."""
    verdicts = {(q.id, q.repeat, claim.id): claim.verdict.value for q in questions for claim in q.claims}
    return lambda decision: verdicts.get(claim_key(decision))


def agreement_of(pairs: Sequence[Pair]) -> ClaimAgreement | None:
    """Agreement of judge and people, the question as the unit; None without a pair."""
    if not pairs:
        return None
    place = {name: at for at, name in enumerate(CLASSES)}
    tables: dict[str, list[list[float]]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.question_id):
        table = tables.setdefault(pair.question_id, [[0.0] * 3 for _ in CLASSES])
        table[place[pair.judge]][place[pair.human]] += pair.weight
    return clustered_agreement(list(tables.values()))


def split_by(pairs: Sequence[Pair], names: Callable[[Pair], Iterable[str]]) -> dict[str, ClaimAgreement]:
    """Agreement of each part; a pair may belong to several (flags)."""
    parts: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        for name in names(pair):
            parts[name].append(pair)
    return {name: found for name in sorted(parts) if (found := agreement_of(parts[name])) is not None}


def leanings(pairs: Sequence[Pair]) -> tuple[Leaning, ...]:
    """Which verdicts the judge uses too often or too rarely, tested over questions."""
    found = []
    for verdict in CLASSES:
        surplus: defaultdict[str, float] = defaultdict(float)
        for pair in pairs:
            surplus[pair.question_id] += pair.weight * ((pair.judge == verdict) - (pair.human == verdict))
        judge = sum(pair.weight for pair in pairs if pair.judge == verdict)
        people = sum(pair.weight for pair in pairs if pair.human == verdict)
        p_value = sign_flip([surplus[question] for question in sorted(surplus)])
        clear = p_value is not None and p_value < 0.05
        direction = ("too often" if judge > people else "too rarely") if clear else "unclear"
        found.append(Leaning(verdict, judge, people, p_value, direction))
    return tuple(found)


def between_reviewers(decisions: Iterable[Decision], voided: frozenset[str]) -> BetweenReviewers:
    """Alpha of the reviewers' first verdicts, each made without the others; the flagged queue is left out.

    `decisions` come by time.
    """
    said: defaultdict[ClaimKey, dict[str, str]] = defaultdict(dict)
    names: dict[ClaimKey, str] = {}
    for decision in decisions:
        counts = decision.kind == "verdict" and decision.queue is not Queue.FLAGGED and decision.id not in voided
        if counts and decision.verdict in CLASSES:
            said[claim_key(decision)].setdefault(decision.reviewer, decision.verdict)
            names.setdefault(claim_key(decision), decision.claim_id or "")
    shared = {key: verdicts for key, verdicts in sorted(said.items(), key=_by_key) if len(verdicts) > 1}
    reviewers = sorted({reviewer for verdicts in shared.values() for reviewer in verdicts})
    ratings = [[verdicts.get(reviewer) for verdicts in shared.values()] for reviewer in reviewers]
    return BetweenReviewers(
        alpha=krippendorff_alpha(ratings).value if shared else None,
        claims=len(shared),
        differences=tuple(
            Difference(key[0], key[1], names[key], said=dict(sorted(verdicts.items())))
            for key, verdicts in shared.items()
            if len(set(verdicts.values())) > 1
        ),
    )


def _by_key(item: tuple[ClaimKey, object]) -> tuple[str, int, str]:
    question, repeat, claim = item[0]
    return question, repeat or 0, claim


def score_agreement(
    questions: Sequence[AuditedQuestion], blind: Sequence[Decision], metric: str
) -> ScoreAgreement | None:
    """Mean signed difference and quadratic-weighted kappa of one score; None where nobody scored it blind."""
    people: defaultdict[ClaimKey, list[float]] = defaultdict(list)
    for decision in blind:
        if decision.kind == "score" and decision.metric == metric and decision.value is not None:
            people[subject(decision)].append(decision.value)
    judge: list[float] = []
    human: list[float] = []
    units: list[str] = []
    for question in sorted(questions, key=lambda question: (question.id, question.repeat or 0)):
        given = mean(people.get((question.id, question.repeat, f"score {metric}"), ()))
        value = question.scores.get(metric)
        if given is not None and value is not None:
            judge.append(value)
            human.append(given)
            units.append(question.id)
    if not judge:
        return None
    differences = [j - h for j, h in zip(judge, human, strict=True)]
    clusters = units if len(set(units)) < len(units) else None
    return ScoreAgreement(len(judge), paired_bootstrap(differences, clusters), weighted_kappa(judge, human))
