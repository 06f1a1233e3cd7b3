"""How the history scales: listing, drilling down, appending, streaming. `python -m benchmarks.history [--quick]`.

The histories are generated: 255 questions a run with nine metrics over two corpora, results of about 9 kB each.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import measure
from rag_audit.history import History
from rag_audit.history.jsonl import append, digest, locked
from rag_audit.history.ledger import encode_rows, ledger_line, read_ledger
from rag_audit.metrics import METRICS
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
from rag_audit.summary import SummaryBuilder

QUESTIONS = 255
TIMED = 100
CORPORA = ("mss54", "mss60")
JUDGE = JudgeIdentity("offline", "rules", {})
SENTENCE = "The intake-opening angle is sent every 10 ms and arrives with a delay of 12 ms. "


def header(run_id: str) -> RunSummary:
    return RunSummary(
        run_id, "bench", RunStatus.RUNNING, Origin.EVALUATED, "2026-11-29T20:00:00Z", RunContext(generator="offline")
    )


def result(number: int) -> QuestionResult:
    """A result whose texts (chunks, excerpt) repeat every 200 questions and whose answer does not."""
    corpus = CORPORA[number % 2]
    chunks = [Chunk(f"{corpus}/m{n}", corpus, f"{number % 200}.{n}: {SENTENCE * 9}", n * 800) for n in range(5)]
    passages = tuple(Passage(chunk.text, chunk.doc_id, corpus, chunk.start) for chunk in chunks)
    answer = f"Answer {number}: {SENTENCE * 3}"
    return QuestionResult(
        Question(f"Q-{number:06d}", "How long is the delay?", "12 ms", f"{corpus}/m1", ("12 ms", "CAN")),
        Route((corpus,), "doc_id", (corpus,)),
        retrieved=tuple(RetrievedChunk(chunk, rank, 0.5, {}, rank == 2) for rank, chunk in enumerate(chunks, 1)),
        generation=Generation(answer, f"Prompt {number}: {''.join(chunk.text for chunk in chunks[:1])}", "offline"),
        claim_judgment=ClaimJudgment(
            Excerpt(passages[:2], passages),
            tuple(Claim(f"c{n}", SENTENCE, Verdict.VERIFIED, "12 ms") for n in range(4)),
            JUDGE,
        ),
        score_judgment=ScoreJudgment(9, number % 11, "fits", JUDGE),
        scores={name: float(number % 2) for name in METRICS},
    )


def write_run(project: Path, run_id: str, count: int) -> None:
    """Archive one run, without syncing every question."""
    builder = SummaryBuilder()
    writer = History(project).start(header(run_id), [(f"Q-{number:06d}", None) for number in range(count)])
    for number in range(count):
        builder.add(writer.append(result(number), sync=False))
    writer.close(builder.build(header(run_id), duration_s=1.0), builder.rows)


def write_ledger(project: Path, runs: int) -> None:
    """A ledger of so many runs of 255 questions; the run files are there, but empty: listing never opens them."""
    builder = SummaryBuilder()
    for number in range(QUESTIONS):
        builder.add(result(number))
    rows = encode_rows(builder.rows)
    summary = builder.build(header(""), duration_s=61.5)
    path = project / "history/eval_history.jsonl"
    parents: tuple[str, ...] = ()
    with locked(path) as handle:
        for number in range(runs):
            run = replace(summary, id=f"20261129-{number:06d}-aaaaaa")
            line = ledger_line(run, rows, digest(b"evidence"), parents)
            append(handle, line, sync=False)
            parents = (line[9:73].decode(),)
            run_file = path.parent / "runs" / f"{run.id}.jsonl"
            run_file.parent.mkdir(exist_ok=True)
            run_file.touch()


def listing(runs: int) -> Iterator[str]:
    figures = []
    for count in (10, runs):
        with tempfile.TemporaryDirectory() as name:
            write_ledger(Path(name), count)
            assert len(read_ledger(Path(name) / "history/eval_history.jsonl").entries) == count
            size = (Path(name) / "history/eval_history.jsonl").stat().st_size / 2**20
            figures.append(measure(["-m", "rag_audit", "--project", name, "runs", "--json"]))
            yield f"runs --json, {count} runs x {QUESTIONS}, ledger {size:.1f} MiB: {figures[-1]}"
    wall, cpu = (figures[1][at] / figures[0][at] for at in range(2))
    yield f"runs --json, ratio: {wall:.2f} ({cpu:.2f} CPU) (wanted: at most 3, under 80 MiB)"


READ_ONE = "import sys; from pathlib import Path; from rag_audit.history import History; import rag_audit.cli.show"
FIND_ONE = "; History(Path(sys.argv[1])).result('big', sys.argv[2])"


def drilling(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        write_run(Path(name), "big", count)
        size = (Path(name) / "history/runs/big.jsonl").stat().st_size / 2**20
        wanted = f"Q-{count * 2 // 3:06d}"
        start = measure(["-c", READ_ONE, name, wanted])
        one = measure(["-c", READ_ONE + FIND_ONE, name, wanted])
        wall, cpu = ((one[at] - start[at]) * 1000 for at in range(2))
        yield f"one of {count} questions, run file {size:.0f} MiB: {wall:.0f} ms ({cpu:.0f} ms CPU) after start, {one}"
        shown = measure(["-m", "rag_audit", "--project", name, "show", "big", "--question", wanted, "--json"])
        yield f"show --question --json of the same: {shown} (wanted: under 50 ms after start, under 150 MiB)"


def appending(count: int) -> Iterator[str]:
    """Question by question in turns to a run that begins and to one that has so many, so that both meet one disk."""
    with tempfile.TemporaryDirectory() as name:
        writers = [History(Path(name)).start(header(run_id), []) for run_id in ("beginning", "long")]
        for number in range(count - TIMED):
            writers[1].append(result(number), sync=False)
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(count, count + TIMED):
            for writer, listed in zip(writers, times, strict=True):
                one = result(number)
                started = time.perf_counter()
                writer.append(one)
                listed.append(time.perf_counter() - started)
        first, last = map(statistics.median, times)
        yield f"append and sync, median of first and last {TIMED} of {count}: {first * 1e3:.2f}, {last * 1e3:.2f} ms"
        yield f"append, ratio: {last / first:.2f} (wanted: at most 1.2)"


WRITE = "import sys; from pathlib import Path; from benchmarks.history import write_run"
STREAM = "; write_run(Path(sys.argv[1]), 'r' + sys.argv[2], int(sys.argv[2]))"
READ = (
    "; from rag_audit.history import History; n = sum(1 for _ in History(Path(sys.argv[1])).results('r' + sys.argv[2]))"
)


def streaming(counts: tuple[int, int]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        for count in counts:
            wrote = measure(["-c", WRITE + STREAM, name, str(count)], repeats=1)
            read = measure(["-c", WRITE + READ, name, str(count)], repeats=1)
            yield f"{count} questions written: {wrote}; read as a stream: {read}"


def main() -> None:
    small = 10 if "--quick" in sys.argv else 1
    for part in (
        listing(1000 // small),
        drilling(100_000 // small),
        appending(20_000 // small),
        streaming((1_000 // small, 10_000 // small)),
    ):
        for line in part:
            print(line, flush=True)


if __name__ == "__main__":
    main()
