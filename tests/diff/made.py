"""Runs made of a few words: what a test wants to say of each question, the rest filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_audit.diff import compare_runs
from rag_audit.metrics import score_question
from rag_audit.model import (
    ArchivedRun,
    Chunk,
    Claim,
    ClaimJudgment,
    Direction,
    Excerpt,
    Generation,
    JudgeIdentity,
    Origin,
    Passage,
    Question,
    QuestionResult,
    RetrievedChunk,
    Route,
    RunContext,
    RunDiff,
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Verdict,
)
from rag_audit.summary import SummaryBuilder

CONTEXT = RunContext(
    generator="offline",
    embedder="wordllama",
    reranker="none",
    judges={"claims": "offline", "scores": "offline"},
    prompts={"claims": "p1", "scores": "p2", "generator": "p3"},
    chunking={"docs": {"size": 800}},
    retriever={"mode": "hybrid", "top_k": 5},
    routing={"enabled": True},
    questions_hash="q",
    corpora={"docs": {"documents": "d", "index": "i"}},
    seed=0,
    workers=1,
    version="1",
)
METRICS = ("hit_at_1", "hit_at_k", "mrr", "keyword_coverage", "faithfulness", "completeness", "no_fabrication")


def result(
    name: str,
    *,
    scores: Mapping[str, float | None] | None = None,
    missing: Mapping[str, str] | None = None,
    answer: str | None = "the answer",
    chunks: Sequence[str] = ("chunk one",),
    route: Sequence[str] = ("docs",),
    home: Sequence[str] = ("docs",),
    doc_id: str | None = "docs/a",
    text: str = "",
    reference: str | None = "reference",
    keywords: Sequence[str] = (),
    reviewed: bool | None = None,
    repeat: int | None = None,
    claims: Sequence[tuple[str, str]] | None = None,
    excerpt: str = "the excerpt",
    judge: tuple[str, str] | None = ("offline", "p1"),
    score_judge: tuple[str, str] | None = ("offline", "p2"),
    reported: str | None = None,
) -> QuestionResult:
    """One question's result; own metrics of claims are computed, everything in `scores` is taken as given."""
    judgment = None
    if claims is not None:
        judgment = ClaimJudgment(
            Excerpt((Passage(excerpt),)) if excerpt else Excerpt(),
            tuple(Claim(f"c{at}", said, Verdict(verdict)) for at, (said, verdict) in enumerate(claims, 1)),
            JudgeIdentity(*judge) if judge else None,
            reported,
        )
    given = dict(scores or {})
    scored = ScoreJudgment(identity=JudgeIdentity(*score_judge), reported_model=reported) if score_judge else None
    made = QuestionResult(
        question=Question(
            name,
            text or f"What of {name}?",
            reference,
            doc_id,
            tuple(keywords),
            reviewed=reviewed,
        ),
        route=Route(tuple(route), "doc_id", tuple(home)),
        repeat=repeat,
        retrieved=tuple(
            RetrievedChunk(Chunk(doc_id or "docs/a", route[0], said, start=at * 100), at + 1, relevant=True)
            for at, said in enumerate(chunks)
        ),
        generation=None if answer is None else Generation(answer),
        claim_judgment=judgment,
        score_judgment=scored if "faithfulness" in given or "completeness" in given else None,
        missing=dict(missing or {}),
    )
    own, why = score_question(made)
    for metric in ("no_fabrication", "claim_precision") if claims is not None else ():
        given.setdefault(metric, own[metric])
        if metric in why:
            made = replace(made, missing={**made.missing, metric: why[metric]})
    for metric in made.missing:
        given.setdefault(metric, None)
    return replace(made, scores=given)


def run(
    name: str,
    results: Sequence[QuestionResult],
    *,
    context: RunContext = CONTEXT,
    declared: Mapping[str, tuple[tuple[float | None, float | None], Direction]] | None = None,
    status: RunStatus | None = None,
    **changes: Any,
) -> ArchivedRun:
    """A closed run of these results; `changes` replace parts of the context."""
    header = RunSummary(
        name, name, RunStatus.RUNNING, Origin.EVALUATED, "2026-01-01T00:00:00Z", replace(context, **changes)
    )
    builder = SummaryBuilder(declared)
    for found in results:
        builder.add(found)
    return ArchivedRun(builder.build(header, duration_s=1.0, status=status), tuple(builder.rows))


def diff(before: ArchivedRun, after: ArchivedRun, **options: Any) -> RunDiff:
    """Compare with the usual metrics and tolerance."""
    return compare_runs(before, after, **{"metrics": METRICS, "tolerance": 0.02, **options})


def lists(found: RunDiff) -> dict[str, str]:
    """Question id to the one list it is in; questions in none are unchanged."""
    questions = found.questions
    named = {
        "edited": questions.edited,
        "unscored": questions.unscored,
        "regressed": [delta.id for delta in questions.regressed],
        "improved": [delta.id for delta in questions.improved],
        "changed": [delta.id for delta in questions.changed],
        "added": questions.added,
        "removed": questions.removed,
    }
    found_in: dict[str, str] = {}
    for name, ids in named.items():
        for question in ids:
            assert question not in found_in, f"{question} is in {found_in[question]} and in {name}"
            found_in[question] = name
    return found_in


def causes(found: RunDiff) -> dict[str, str]:
    """Question id to its cause, whichever list it is in."""
    questions = found.questions
    deltas = (*questions.regressed, *questions.improved, *questions.changed)
    return {delta.id: delta.cause.value for delta in deltas if delta.cause is not None}
