"""Sample records for tests: small, complete runs with known numbers, and a history that holds them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag_audit.history import History
from rag_audit.metrics import score_question
from rag_audit.model import (
    ArchivedRun,
    AuditSample,
    Chunk,
    Claim,
    ClaimJudgment,
    Excerpt,
    Flag,
    FlagName,
    Generation,
    JudgeCall,
    JudgeIdentity,
    Origin,
    Passage,
    Question,
    QuestionResult,
    RetrievedChunk,
    Route,
    RunContext,
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Span,
    Support,
    Verdict,
)
from rag_audit.summary import SummaryBuilder

SOURCE = (
    "The valve controller samples the intake angle every 12 ms.\n"
    "`max_open_angle` limits the opening to 84 degrees.\n"
    "After a fault the flap returns to LIMP_HOME within 200 ms."
)
JUDGE = JudgeIdentity("offline", "a1b2c3", {"threshold": "0.6"})


def claim(
    claim_id: str,
    text: str,
    verdict: Verdict = Verdict.VERIFIED,
    evidence: str | None = None,
    reason: str | None = None,
) -> Claim:
    """A claim whose evidence is found in SOURCE where it occurs there."""
    start = SOURCE.find(evidence) if evidence else -1
    spans = (Span("reference", start, start + len(evidence)),) if evidence and start >= 0 else ()
    support = Support.REFERENCE if spans else Support.NONE
    return Claim(claim_id, text, verdict, evidence, spans, support, reason)


CLAIMS = (
    claim("c1", "The intake angle is sampled every 12 ms.", Verdict.VERIFIED, "samples the intake angle every 12 ms"),
    claim(
        "c2",
        "`max_open_angle` limits the opening to 90 degrees.",
        Verdict.CONTRADICTED,
        "limits the opening to 84 degrees",
        "The source says 84 degrees, the answer 90.",
    ),
    claim("c3", "The flap is made of aluminium.", Verdict.ABSENT, None, "Nothing about the material."),
)


def result(
    question_id: str = "Q-01",
    *,
    text: str = "How often is the intake angle sampled?",
    answer: str = "The intake angle is sampled every 12 ms. `max_open_angle` limits the opening to 90 degrees. "
    "The flap is made of aluminium.",
    source: str = SOURCE,
    claims: Sequence[Claim] = CLAIMS,
    flags: Sequence[Flag] | None = None,
    faithfulness: int | None = 7,
    corpus: str = "new-unit",
    relevant: bool = True,
    repeat: int | None = None,
) -> QuestionResult:
    """One question with everything every layer saw and said."""
    question = Question(question_id, text, "Every 12 ms.", f"{corpus}/valve", ("12 ms",), tags=("timing",), line=3)
    retrieved = (
        RetrievedChunk(Chunk(f"{corpus}/valve", corpus, source, 0, ("Valve", "Timing")), 1, 0.031, {}, relevant),
        RetrievedChunk(Chunk(f"{corpus}/pump", corpus, "The pump runs at 3000 rpm.", 40), 2, 0.016, {}, False),
    )
    excerpt = Excerpt(
        (Passage(source, f"{corpus}/valve", corpus, 0, 12, ("Valve", "Timing")),),
        tuple(Passage(c.chunk.text, c.chunk.doc_id, c.chunk.corpus, c.chunk.start) for c in retrieved),
    )
    if flags is None:
        flags = (
            Flag(
                FlagName.CONTRADICTED_CITES_SOURCE,
                "`max_open_angle` is in the excerpt",
                "c2",
                ("max_open_angle",),
            ),
        )
    unscored = QuestionResult(
        question,
        Route((corpus,), "doc_id", (corpus,)),
        repeat,
        retrieved,
        Generation(answer, f"Answer from these passages.\n\n{source}\n\nQuestion: {text}", "offline", "offline"),
        ClaimJudgment(excerpt, tuple(claims), JUDGE, "offline"),
        ScoreJudgment(faithfulness, 6, "Most of it is in the source.", JUDGE, "offline"),
        (JudgeCall("claims", f"Judge these claims.\n{source}", '{"claims": []}', "offline"),),
        flags=tuple(flags),
        context_parity=1.0,
        overlap=0.8,
    )
    scores, missing = score_question(unscored)
    return replace(unscored, scores=scores, missing=missing)


def run(
    run_id: str, results: Sequence[QuestionResult], *, label: str | None = None, started_at: str | None = None
) -> tuple[ArchivedRun, tuple[QuestionResult, ...]]:
    """An archived run with the results it summarises."""
    header = RunSummary(
        run_id,
        label,
        RunStatus.COMPLETE,
        Origin.EVALUATED,
        started_at or "2026-11-29T20:41:00Z",
        RunContext(
            generator="offline",
            embedder="wordllama",
            reranker="none",
            judges={"claims": "offline", "scores": "offline"},
            chunking={"size": 800, "overlap": 100, "unit": "chars"},
            retriever={"mode": "hybrid", "top_k": 5},
            routing={"enabled": True, "default_corpus": None},
            questions_hash="q1",
            seed=0,
            version="0",
        ),
        questions=len(results),
    )
    builder = SummaryBuilder()
    for one in results:
        builder.add(one)
    return ArchivedRun(builder.build(header, duration_s=3.0), tuple(builder.rows)), tuple(results)


def archive(project: Path, *runs: tuple[ArchivedRun, tuple[QuestionResult, ...]]) -> History:
    """A history on disk that holds these runs, in this order."""
    history = History(project)
    for archived, results in runs:
        writer = history.start(archived.summary, [(one.question.id, one.repeat) for one in results])
        for one in results:
            writer.append(one)
        writer.close(archived.summary, archived.rows)
    return history


def draw(run_id: str, questions: Sequence[str], population: int) -> AuditSample:
    """A recorded draw of some questions."""
    return AuditSample(
        "s1",
        run_id,
        7,
        len(questions) / population,
        "none",
        ("claims",),
        tuple(questions),
        "2026-11-29T21:00:00Z",
        population,
    )
