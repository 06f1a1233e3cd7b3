"""Builds small runs, results and decisions for the audit's tests."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from rag_audit.audit.effective import AuditedQuestion, Decisions, audited_question
from rag_audit.audit.recording import Act, Case, decide_claim
from rag_audit.audit.standing import claim_hash
from rag_audit.metrics import METRICS, score_question, summarise
from rag_audit.model import (
    AuditSample,
    Claim,
    ClaimJudgment,
    Decision,
    Excerpt,
    Generation,
    JudgeIdentity,
    Origin,
    Passage,
    Question,
    QuestionResult,
    Queue,
    Route,
    RunContext,
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Verdict,
)

LETTERS = {"v": Verdict.VERIFIED, "c": Verdict.CONTRADICTED, "a": Verdict.ABSENT, "u": Verdict.UNPARSED}
JUDGE = JudgeIdentity("offline", "p1")
_clock = count()


def make_result(
    question_id: str,
    verdicts: str,
    *,
    corpus: str = "new",
    repeat: int | None = None,
    scores: tuple[int, int] | None = None,
) -> QuestionResult:
    """A result whose judge gave these verdicts (v, c, a, u), with its scores."""
    claims = tuple(
        Claim(f"c{at}", f"{question_id} says {at}", LETTERS[letter]) for at, letter in enumerate(verdicts, start=1)
    )
    excerpt = Excerpt(reference=(Passage(f"The source of {question_id}."),))
    result = QuestionResult(
        question=Question(question_id, f"What of {question_id}?", doc_id="doc"),
        route=Route((corpus,), "doc_id", home=(corpus,)),
        repeat=repeat,
        generation=Generation(f"An answer to {question_id}."),
        claim_judgment=ClaimJudgment(excerpt, claims, JUDGE),
        score_judgment=ScoreJudgment(scores[0], scores[1], "because", JUDGE) if scores else None,
    )
    values, missing = score_question(result)
    return replace(result, scores=values, missing=missing)


def make_run(results: Iterable[QuestionResult], run_id: str = "r1") -> RunSummary:
    """The summary of these results."""
    listed = list(results)
    return RunSummary(
        id=run_id,
        label="base",
        status=RunStatus.COMPLETE,
        origin=Origin.EVALUATED,
        started_at="2026-01-01T00:00:00+00:00",
        context=RunContext(judges={"claims": "offline", "scores": "offline"}),
        metrics={
            name: summarise(name, [(result.scores[name], result.missing.get(name)) for result in listed])
            for name in METRICS
        },
        questions=len(listed),
    )


def make_sample(questions: Iterable[str], population: int, *, target: tuple[str, ...] = ("claims",)) -> AuditSample:
    """A recorded draw."""
    names = tuple(questions)
    return AuditSample(
        id="s1",
        run_id="r1",
        seed=7,
        fraction=len(names) / population,
        stratify="none",
        target=target,
        questions=names,
        time="2026-01-02T00:00:00+00:00",
        population=population,
        strata={"all": (len(names), population)},
    )


def at_next_moment() -> str:
    """Another time a microsecond later than the last."""
    return f"2026-01-03T00:00:00.{next(_clock):06d}+00:00"


def verdict_of(
    question: str,
    claim: str,
    verdict: str,
    reviewer: str = "ann",
    *,
    blind: bool = True,
    supersedes: str = "",
    **more: object,
) -> Decision:
    """A verdict decision as the history keeps it; its id is its moment."""
    moment = at_next_moment()
    fields: Mapping[str, object] = {
        "kind": "verdict",
        "queue": Queue.SAMPLE,
        "informed": not blind,
        "judge_verdict": "verified",
        "claim_hash": claim_hash(claim),
        **more,
    }
    return Decision(
        id=moment,
        run_id="r1",
        question_id=question,
        claim_id=claim,
        verdict=verdict,
        reviewer=reviewer,
        time=moment,
        blind=blind,
        supersedes=(supersedes,) if supersedes else (),
        **fields,  # type: ignore[arg-type]
    )


def undo_of(target: Decision, *, informed: bool = False, reviewer: str | None = None) -> Decision:
    """An undo of a decision."""
    moment = at_next_moment()
    return Decision(
        id=moment,
        kind="undo",
        run_id="r1",
        question_id=target.question_id,
        claim_id=target.claim_id,
        claim_hash=target.claim_hash,
        reviewer=reviewer or target.reviewer,
        time=moment,
        informed=informed,
        blind=not informed,
        supersedes=(target.id,),
    )


def decide_all(
    results: Iterable[QuestionResult], verdict: Mapping[tuple[str, str], str], reviewer: str = "ann"
) -> list[Decision]:
    """Blind decisions on every claim of the results: as judged, unless `verdict` says otherwise."""
    return [
        verdict_of(
            result.question.id,
            claim.id,
            verdict.get((result.question.id, claim.id), claim.verdict.value),
            reviewer,
            repeat=result.repeat,
            judge_verdict=claim.verdict.value,
        )
        for result in results
        if result.claim_judgment
        for claim in result.claim_judgment.claims
    ]


def audited(results: Iterable[QuestionResult]) -> list[AuditedQuestion]:
    """The results as the audit needs them."""
    return [audited_question(result) for result in results]


def case_of(result: QuestionResult, decisions: Iterable[Decision] = (), sample: AuditSample | None = None) -> Case:
    """One result on the desk."""
    return Case(make_run([result]), result, Decisions(decisions), sample)


def recorded(case: Case, claim: str, verdict: str, reviewer: str = "ann", *, blind: bool = False) -> Decision:
    """A decision made by the product's own rules, with an id."""
    moment = at_next_moment()
    return replace(decide_claim(case, claim, verdict, Act(reviewer, moment, blind=blind)), id=moment)
