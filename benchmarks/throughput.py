"""How close a run's calls come to the ideal schedule, and what a question costs in CPU time.

    python -m benchmarks.throughput [--questions 256] [--latency 0.2] [--workers 8,64]

A loopback service in a process of its own answers every call after a fixed latency; each question needs two calls, one
after the other (generation, claim judge). Ideal: ceil(questions / workers) * 2 * latency. The span runs from the first
request to the last reply, as the service sees them. CPU is that of the evaluating process, archiving included.
"""

import argparse
import asyncio
import math
import os
import resource
import sys
import tempfile
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from rag_audit.pipeline import run_evaluation
from tests.loopback import Request, Response, claims, message, serving
from tests.projects import make_project, many_questions

CALLS_PER_QUESTION = 2


@dataclass(frozen=True)
class Measured:
    """One run."""

    workers: int
    calls: int
    span_s: float
    ideal_s: float
    cpu_s: float
    questions: int

    def line(self) -> str:
        ratio = self.span_s / self.ideal_s
        cpu_ms = 1000 * self.cpu_s / self.questions
        return (
            f"{self.workers:>3} workers: {self.calls} calls in {self.span_s:.2f} s, ideal {self.ideal_s:.2f} s,"
            f" {ratio:.3f} times the ideal; {cpu_ms:.1f} ms CPU a question"
        )


def serve(pipe: Connection, latency_s: float) -> None:
    """The service's process: sends its address, then for each message it gets the span of the calls since the last."""

    def answer(request: Request) -> Response:
        reply = (
            claims(("It is stored in `evt_delay_ms`.", "verified", "It is stored in `evt_delay_ms`."))
            if request.is_judge
            else message("It is stored in `evt_delay_ms` [1].")
        )
        return replace(reply, delay_s=latency_s)

    async def until_closed() -> None:
        async with serving(answer) as service:
            pipe.send(service.url)
            while await asyncio.to_thread(pipe.recv):
                times = service.times
                pipe.send((len(times), min(start for start, _ in times), max(end for _, end in times)))
                service.times = []

    asyncio.run(until_closed())


def measure(questions: int, latency_s: float, workers: int, service: Connection) -> Measured:
    """Evaluate a fresh project once."""
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder), many_questions(questions))
        settings = (
            "generator=anthropic:model",
            "judge.claims=anthropic:model",
            "judge.scores=none",
            "retriever.mode=bm25",
            "embedder=none",
            f"workers={workers}",
        )
        before = resource.getrusage(resource.RUSAGE_SELF)
        summary = asyncio.run(run_evaluation(project, overrides=settings))
        after = resource.getrusage(resource.RUSAGE_SELF)
    service.send(True)
    calls, first, last = service.recv()
    if summary.status != "complete":
        raise SystemExit(f"the run is {summary.status}: {summary.metrics['no_fabrication'].missing}")
    return Measured(
        workers=workers,
        calls=calls,
        span_s=last - first,
        ideal_s=math.ceil(questions / workers) * CALLS_PER_QUESTION * latency_s,
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        questions=questions,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=256)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--workers", default="8,64")
    arguments = parser.parse_args()
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=serve, args=(there, arguments.latency), daemon=True)
    process.start()
    os.environ["ANTHROPIC_API_KEY"] = "a-key-for-the-loopback-service"
    os.environ["ANTHROPIC_BASE_URL"] = here.recv()
    measure(4, 0.0, 2, here)  # imports and connections are not what is measured
    print(f"{arguments.questions} questions, {1000 * arguments.latency:.0f} ms a call, load {os.getloadavg()[0]:.1f}")
    for workers in arguments.workers.split(","):
        print(measure(arguments.questions, arguments.latency, int(workers), here).line())
    here.send(False)
    process.join(5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
