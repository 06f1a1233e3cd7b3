"""Records for the history's tests: small, but with every kind of field filled."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag_audit.history import History
from rag_audit.model import (
    AuditSample,
    Chunk,
    Claim,
    ClaimJudgment,
    Decision,
    Excerpt,
    Flag,
    FlagName,
    Generation,
    JudgeCall,
    JudgeIdentity,
    MetricSummary,
    Origin,
    Passage,
    Question,
    QuestionResult,
    QuestionRow,
    RetrievedChunk,
    Route,
    RunContext,
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Span,
    Support,
    Usage,
    Verdict,
)

LONG_TEXT = "The transmission delay is 12 ms on CAN. " * 20


def summary(run_id: str, *, label: str | None = None, started_at: str = "2026-11-29T20:00:00Z") -> RunSummary:
    return RunSummary(
        id=run_id,
        label=label,
        status=RunStatus.RUNNING,
        origin=Origin.EVALUATED,
        started_at=started_at,
        context=RunContext(generator="offline", settings={"}]},": '{"hash":"', "rows": [1, {"head": None}]}),
    )


def closed(header: RunSummary, mean: float | None = 0.5) -> RunSummary:
    return replace(
        header,
        status=RunStatus.COMPLETE,
        duration_s=1.25,
        reported_models={"generator": ("offline",)},
        metrics={"hit_at_1": MetricSummary(mean, 1, 2, {"no_relevant": 1})},
        claims=dict.fromkeys(Verdict, 1),
    )


def result(
    question_id: str, repeat: int | None = None, *, answer: str = "12 ms.", chunk: str = LONG_TEXT
) -> QuestionResult:
    passage = Passage(chunk, "mss54/evt", "mss54", 0, 1, ("EVT",))
    judge = JudgeIdentity("offline", "rules-1", {"window": "3"})
    return QuestionResult(
        question=Question(question_id, "How long is the delay?", "12 ms.", "mss54/evt", ("12 ms", "CAN")),
        route=Route(("mss54",), "doc_id", ("mss54",)),
        repeat=repeat,
        retrieved=(RetrievedChunk(Chunk("mss54/evt", "mss54", chunk, 0, ("EVT",)), 1, 0.5, {"bm25": 2.5}, True),),
        generation=Generation(answer, f"{question_id}: {chunk}", "offline", usage=Usage(10, None, 3), cost_usd=None),
        claim_judgment=ClaimJudgment(
            Excerpt((passage,), (passage,)),
            (Claim("c1", answer, Verdict.VERIFIED, "12 ms", (Span("reference", 26, 31),), Support.BOTH),),
            judge,
            "offline",
        ),
        score_judgment=ScoreJudgment(9, 8, "fits", judge),
        judge_calls=(JudgeCall("claims", chunk + answer, "[]", usage=Usage(5, 5, 5)),),
        scores={"hit_at_1": 1.0, "mrr": None},
        missing={"mrr": "no_relevant"},
        flags=(Flag(FlagName.TRUNCATED, "cut", "c1", ("x",)),),
        measurements={"latency_s": 0.25},
    )


def row(question_id: str, repeat: int | None = None) -> QuestionRow:
    return QuestionRow(
        id=question_id,
        repeat=repeat,
        doc_id="mss54/evt",
        scores={"hit_at_1": 1.0, "mrr": None},
        missing={"mrr": "no_relevant"},
        verdicts={"verified": 1},
        route=("mss54",),
        rule="doc_id",
        misrouted=False,
        question_hash="q",
        answer_hash="a",
        context_hash="c",
        excerpt_hash=None,
    )


def decision(claim_id: str, *, run_id: str = "r1", reviewer: str = "ada", verdict: str = "verified") -> Decision:
    return Decision(
        id="",
        kind="verdict",
        run_id=run_id,
        question_id="q1",
        reviewer=reviewer,
        time="2026-11-29T21:00:00.000001Z",
        claim_id=claim_id,
        verdict=verdict,
        seconds=1.5,
    )


def sample(run_id: str = "r1") -> AuditSample:
    return AuditSample(
        id="",
        run_id=run_id,
        seed=7,
        fraction=0.5,
        stratify="corpus",
        target=("claims",),
        questions=("q1",),
        time="2026-11-29T20:30:00Z",
        population=2,
        strata={"mss54": (1, 2)},
    )


def archive(
    project: Path,
    run_id: str,
    question_ids: Sequence[str] = ("q1", "q2"),
    *,
    label: str | None = None,
    started_at: str = "2026-11-29T20:00:00Z",
) -> RunSummary:
    """Write one closed run and return its summary."""
    header = summary(run_id, label=label, started_at=started_at)
    writer = History(project).start(header, [(question_id, None) for question_id in question_ids])
    for question_id in question_ids:
        writer.append(result(question_id))
    writer.close(closed(header), [row(question_id) for question_id in question_ids])
    return closed(header)
