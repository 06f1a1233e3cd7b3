"""Two runs of 10,000 questions and 100,000 claims: scores diff, with claim flips, and one question side by side.

    python -m benchmarks.diff [QUESTIONS]

Beside it, where pandas is installed, pandas merging the same scores on their keys.
"""

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_audit.comparison import flipped_claims, question_pair
from rag_audit.diff import compare_runs
from rag_audit.history import History
from rag_audit.metrics import METRICS, claim_precision_of, no_fabrication_of
from rag_audit.model import (
    Chunk,
    Claim,
    ClaimJudgment,
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
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Verdict,
)
from rag_audit.model.settings import Settings
from rag_audit.summary import SummaryBuilder
from rag_audit.text.worddiff import word_changes

CLAIMS = 10
"""Claims of one answer."""
MODULES = 400
_WORDS = [f"{first}{second}" for first in ("poll", "scale", "retry", "port", "queue") for second in ("er", "ing", "s")]


def made_result(number: int, after: bool) -> QuestionResult:
    """One question; a fifth of the answers differ in the later run, and half of the claims in those."""
    noise = random.Random(f"{number} {after}")
    steady = random.Random(number)
    changed = after and noise.random() < 0.2
    claims = []
    for at in range(CLAIMS):
        words = steady.choices(_WORDS, k=8)
        verdict = steady.choices((Verdict.VERIFIED, Verdict.ABSENT, Verdict.CONTRADICTED), (80, 15, 5))[0]
        if changed and noise.random() < 0.5:
            words[noise.randrange(8)] = str(noise.randrange(100))
            verdict = Verdict.ABSENT
        claims.append(Claim(f"c{at}", " ".join(words), verdict, evidence=" ".join(words)))
    verdicts = [claim.verdict for claim in claims]
    text = f"answer {number} {'changed' if changed else ''} " + " ".join(steady.choices(_WORDS, k=60))
    module = f"docs/m{number % MODULES}"
    chunks = [
        RetrievedChunk(
            Chunk(f"docs/m{number % MODULES}", "docs", " ".join(steady.choices(_WORDS, k=80)), at * 500), at + 1
        )
        for at in range(3)
    ]
    # The scores of a changed answer are drawn again; of the others they stay.
    noise = noise if changed else steady
    scores = {
        "hit_at_1": float(noise.random() < 0.8),
        "hit_at_k": float(noise.random() < 0.9),
        "mrr": 1 / noise.randint(1, 5),
        "keyword_coverage": noise.randint(0, 7) / 7,
        "keyword_recall": noise.randint(0, 7) / 7,
        "faithfulness": float(noise.randint(5, 10)),
        "completeness": float(noise.randint(5, 10)),
        "no_fabrication": no_fabrication_of(verdicts)[0],
        "claim_precision": claim_precision_of(verdicts)[0],
    }
    return QuestionResult(
        question=Question(f"q{number:05}", f"Question {number}?", "reference", module),
        route=Route(("docs",), "doc_id", ("docs",)),
        retrieved=tuple(chunks[::-1] if changed else chunks),
        generation=Generation(text),
        claim_judgment=ClaimJudgment(
            Excerpt((Passage(f"reference of {number}"),)), tuple(claims), JudgeIdentity("offline", "p1")
        ),
        score_judgment=ScoreJudgment(8, 8, identity=JudgeIdentity("offline", "p2")),
        scores=scores,
    )


def archive(history: History, name: str, questions: int, after: bool) -> None:
    """Write one made run into the history."""
    header = RunSummary(
        name,
        name,
        RunStatus.RUNNING,
        Origin.EVALUATED,
        "2026-01-01T00:00:00Z",
        replace(RunContext(), generator="offline", judges={"claims": "offline", "scores": "offline"}),
        questions=questions,
    )
    builder = SummaryBuilder()
    writer = history.start(header, [(f"q{number:05}", None) for number in range(questions)])
    for number in range(questions):
        result = made_result(number, after)
        writer.append(result)
        builder.add(result)
    writer.close(builder.build(header, duration_s=1.0), builder.rows)


def best_of(times: int, what: str, action: Callable[[], Any]) -> Any:
    """Run several times, print the shortest wall and processor time in ms, and return what it returned.

    On a machine that is busy with other work the processor time says more.
    """
    wall = processor = float("inf")
    value = None
    for _ in range(times):
        start = time.perf_counter(), time.process_time()
        value = action()
        wall = min(wall, time.perf_counter() - start[0])
        processor = min(processor, time.process_time() - start[1])
    print(f"{what:34}{wall * 1000:8.1f} ms   processor {processor * 1000:8.1f} ms")
    return value


def main(questions: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder))
        names = ("before", "after")
        for name in names:
            archive(history, name, questions, name == "after")
        settings = Settings()
        print(f"{questions:,} questions, {questions * CLAIMS:,} claims a run")
        runs = best_of(3, "load both runs from the ledger", lambda: [history.archived(name) for name in names])

        def compare() -> Any:
            return compare_runs(*runs, metrics=settings.items("diff.metrics"), tolerance=0.02)

        diff = best_of(5, "scores diff", compare)
        found = best_of(2, "claim flips, run files read", lambda: flipped_claims(history, *runs))
        question = diff.questions.regressed[0].id

        def side_by_side() -> Any:
            pair = question_pair(history, diff, question)
            answers = [side.generation.answer for side in (pair.before, pair.after) if side.generation]
            return pair.moves, word_changes(*answers)

        best_of(5, "one question side by side", side_by_side)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{len(found):,} flips; highest memory {memory:.0f} MiB")
        with_pandas(runs)


def with_pandas(runs: Any) -> None:
    """The merge alone, without causes, tests or intervals: what the join of the same scores costs elsewhere."""
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        print("pandas is not installed: no comparison")
        return
    frames = [pandas.DataFrame([{"id": row.id, **row.scores} for row in run.rows]) for run in runs]

    def merge() -> Any:
        merged = frames[0].merge(frames[1], on="id", suffixes=("_before", "_after"))
        return {name: (merged[f"{name}_after"] - merged[f"{name}_before"]).mean() for name in METRICS}

    best_of(3, "pandas: merge and mean", merge)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
