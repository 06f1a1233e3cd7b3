"""The audit report of one run: every figure once, for the screen, the command line and the audit pack alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rag_audit.audit.agreement import (
    BetweenReviewers,
    Leaning,
    Pair,
    ScoreAgreement,
    agreement_of,
    between_reviewers,
    evidence_of,
    leanings,
    pair_up,
    score_agreement,
    split_by,
)
from rag_audit.audit.effective import (
    CLAIM_METRICS,
    AuditedQuestion,
    Basis,
    Decisions,
    EffectiveClaim,
    adjusted_score,
    effective_claims,
)
from rag_audit.audit.estimates import BlindDecisions, Correction, correct, question_values
from rag_audit.audit.standing import SKIP, first_blind, first_unblinded, resolve, subject
from rag_audit.metrics import METRICS, summarise
from rag_audit.model import AuditSample, Decision, Interval, MetricSummary, Queue, RunSummary
from rag_audit.statistics.clustered import ClaimAgreement

NOT_TARGETED = "the draw does not target this metric"
NO_SAMPLE = "no random sample was drawn"


@dataclass(frozen=True, slots=True)
class SampleState:
    """How far the current draw is."""

    sample: AuditSample
    claims: int
    """Claims of the drawn questions, all repeats."""
    decided_claims: int
    """Of those, decided blind."""
    decided_questions: int
    """Drawn questions of which everything targeted is decided, those with nothing to decide among them."""
    blind_questions: int
    """Of those, decided blind throughout: only they enter agreement and corrected values."""
    nothing_to_decide: int

    @property
    def provisional(self) -> bool:
        """Whether drawn questions are still to be decided blind."""
        return self.blind_questions < len(self.sample.questions)


@dataclass(frozen=True, slots=True)
class AuditedMetric:
    """One metric three ways: judge's, adjusted, corrected."""

    judge: MetricSummary
    adjusted: MetricSummary
    adjusted_questions: int
    """Questions whose value a person's decisions changed."""
    correction: Correction
    scores: ScoreAgreement | None = None


@dataclass(frozen=True, slots=True)
class ReviewerReport:
    """What one reviewer did."""

    decisions: int
    """In force."""
    questions: int
    skipped: int
    blind: int
    agreement: ClaimAgreement | None
    """Of the judge with this reviewer's blind decisions of the draw."""
    seconds: float | None
    """Median time a decision took."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Everything the audit of one run says."""

    run: RunSummary
    sample: SampleState | None
    agreement: ClaimAgreement | None
    unblinded: ClaimAgreement | None
    by_reviewer: Mapping[str, ReviewerReport]
    between: BetweenReviewers
    metrics: Mapping[str, AuditedMetric]
    flagged: tuple[int, int]
    """Claims decided in the flagged queue, and how many of those ended up with another verdict than the judge's."""
    disputed: tuple[tuple[AuditedQuestion, EffectiveClaim], ...]
    missed: int
    """Claims that reviewers added."""
    cannot_judge: int
    carried: int
    """Decisions in force that were taken over from an earlier run."""
    leanings: tuple[Leaning, ...] = ()
    by_corpus: Mapping[str, ClaimAgreement] = field(default_factory=dict)
    by_judge: Mapping[str, ClaimAgreement] = field(default_factory=dict)
    by_flag: Mapping[str, ClaimAgreement] = field(default_factory=dict)
    over_time: tuple[tuple[RunSummary, ClaimAgreement], ...] = ()
    """Audited runs, oldest first."""

    @property
    def needed(self) -> int | None:
        """Checked questions at which no_fabrication would have a half-width of 0.10."""
        metric = self.metrics.get("no_fabrication")
        return metric.correction.needed if metric else None


def build_report(
    run: RunSummary,
    questions: Sequence[AuditedQuestion],
    decisions: Iterable[Decision],
    sample: AuditSample | None,
    over_time: Sequence[tuple[RunSummary, ClaimAgreement]] = (),
) -> AuditReport:
    """Compute the report of one run from its evidence, its decisions and its current draw."""
    resolved = Decisions(decisions)
    blind = BlindDecisions(sample, resolved)
    pairs = pair_up(blind.listed, evidence_of(questions))
    unblinded = pair_up(first_unblinded(resolved.standing, blind.listed), evidence_of(questions))
    claims = [
        (question, claim)
        for question in questions
        if (question.id, question.repeat) in resolved.answers
        for claim in effective_claims(question.id, question.repeat, question.claims, resolved)
    ]
    return AuditReport(
        run=run,
        sample=_state(sample, questions, blind, resolved) if sample else None,
        agreement=agreement_of(pairs),
        unblinded=agreement_of(unblinded),
        by_reviewer=_by_reviewer(resolved, blind, pairs),
        between=between_reviewers(resolved.standing.ordered, resolved.standing.voided),
        metrics=_metrics(run, questions, resolved, blind, sample),
        flagged=_flagged(claims),
        disputed=tuple((question, claim) for question, claim in claims if claim.basis is Basis.DISPUTED),
        missed=sum(claim.missed for _, claim in claims),
        carried=sum(decision.carried_from is not None for decision in resolved.standing.in_force),
        cannot_judge=sum(claim.basis is Basis.CANNOT_JUDGE for _, claim in claims),
        leanings=leanings(pairs) if pairs else (),
        **_breakdowns(pairs, questions),
        over_time=tuple(over_time),
    )


def _breakdowns(pairs: Sequence[Pair], questions: Sequence[AuditedQuestion]) -> dict[str, dict[str, ClaimAgreement]]:
    by_place = {(question.id, question.repeat): question for question in questions}

    def of(pair: Pair) -> AuditedQuestion:
        return by_place[pair.decision.question_id, pair.decision.repeat]

    return {
        "by_corpus": split_by(pairs, lambda pair: (of(pair).corpus,)),
        "by_judge": split_by(pairs, lambda pair: (of(pair).judge,)),
        "by_flag": split_by(pairs, lambda pair: of(pair).claim_flags.get(pair.decision.claim_id or "", ())),
    }


def _state(
    sample: AuditSample, questions: Sequence[AuditedQuestion], blind: BlindDecisions, decisions: Decisions
) -> SampleState:
    targets: defaultdict[str, list[tuple[str, int | None, str]]] = defaultdict(list)
    drawn = [question for question in questions if question.id in blind.drawn]
    for question in drawn:
        targets[question.id].extend((question.id, question.repeat, about) for about in targets_of(question, sample))
    decided = {subject(decision) for decision in decisions.standing.in_force}
    claims = [(question.id, question.repeat, claim.id) for question in drawn for claim in question.claims]
    return SampleState(
        sample=sample,
        claims=len(claims),
        decided_claims=sum(bool(blind.on(key)) for key in claims),
        decided_questions=sum(all(blind.on(key) or key in decided for key in targets[name]) for name in blind.drawn),
        blind_questions=sum(all(blind.on(key) for key in targets[name]) for name in blind.drawn),
        nothing_to_decide=sum(not targets[name] for name in blind.drawn),
    )


def targets_of(question: AuditedQuestion, sample: AuditSample) -> list[str]:
    """What a reviewer decides for one answer of the draw: its claims, and `score NAME` for the scores it was given."""
    found = [claim.id for claim in question.claims] if "claims" in sample.target else []
    if "scores" in sample.target:
        scores = (name for name, metric in METRICS.items() if metric.judged_by == "scores")
        found += [f"score {name}" for name in scores if question.scores.get(name) is not None]
    return found


def _by_reviewer(decisions: Decisions, blind: BlindDecisions, pairs: Sequence[Pair]) -> dict[str, ReviewerReport]:
    own: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in decisions.standing.in_force:
        own[decision.reviewer].append(decision)
    counts = Counter(decision.reviewer for decision in blind.listed)
    return {
        reviewer: ReviewerReport(
            decisions=len(own[reviewer]),
            questions=len({decision.question_id for decision in own[reviewer]}),
            skipped=sum(decision.verdict == SKIP for decision in own[reviewer]),
            blind=counts[reviewer],
            agreement=agreement_of([_alone(pair) for pair in pairs if pair.decision.reviewer == reviewer]),
            seconds=median(times) if (times := [d.seconds for d in own[reviewer] if d.seconds is not None]) else None,
        )
        for reviewer in sorted(own.keys() | counts.keys())
    }


def _alone(pair: Pair) -> Pair:
    """The pair with its full weight: one reviewer's claims are not shared."""
    return Pair(pair.question_id, pair.judge, pair.human, 1.0, pair.decision)


def _metrics(
    run: RunSummary,
    questions: Sequence[AuditedQuestion],
    decisions: Decisions,
    blind: BlindDecisions,
    sample: AuditSample | None,
) -> dict[str, AuditedMetric]:
    scored_by_people = {decision.metric or "" for decision in decisions.standing.ordered if decision.kind == "score"}
    judged = [name for name, metric in METRICS.items() if metric.judged_by and name in run.metrics]
    names = [*judged, *sorted(name for name in scored_by_people if name in run.metrics and name not in judged)]
    found = {}
    for name in names:
        judge = run.metrics[name]
        adjusted = [adjusted_score(question, name, decisions) for question in questions]
        found[name] = AuditedMetric(
            judge=judge,
            adjusted=summarise(name, adjusted, judge.range, judge.direction),
            adjusted_questions=len(
                {
                    question.id
                    for question, (value, _) in zip(questions, adjusted, strict=True)
                    if value != question.scores.get(name)
                }
            ),
            correction=_correction(name, judge, questions, decisions, blind, sample),
            scores=None if name in CLAIM_METRICS else score_agreement(questions, blind.listed, name),
        )
    return found


def _correction(
    name: str,
    judge: MetricSummary,
    questions: Sequence[AuditedQuestion],
    decisions: Decisions,
    blind: BlindDecisions,
    sample: AuditSample | None,
) -> Correction:
    target = "claims" if name in CLAIM_METRICS else "scores"
    if sample is None or target not in sample.target:
        why = NO_SAMPLE if sample is None else NOT_TARGETED
        return Correction(Interval(None, None, None, "none", 0, why))
    binary = name in METRICS and METRICS[name].binary
    values = question_values(questions, name, blind, decisions)
    return correct(values, judge.range, yes_no=binary, seed=sample.seed)


def _flagged(claims: Sequence[tuple[AuditedQuestion, EffectiveClaim]]) -> tuple[int, int]:
    decided = [
        claim
        for _, claim in claims
        if any(vote.queue is Queue.FLAGGED and vote.verdict != SKIP for vote in claim.decisions)
    ]
    return len(decided), sum(claim.verdict is not claim.judge for claim in decided)


def agreement_from_decisions(decisions: Iterable[Decision], sample: AuditSample) -> ClaimAgreement | None:
    """Agreement of a draw from its decisions alone, which carry what the judge had said: for the view over runs."""
    blind = first_blind(resolve(decisions), sample.questions)
    return agreement_of(pair_up(blind, lambda decision: decision.judge_verdict))
