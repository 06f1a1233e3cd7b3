"""Kill `run` and `audit record` with SIGKILL at random instants and check that nothing reported as done is lost.

`python -m benchmarks.crash [KILLS] [SEED]` prints what it found; the suite runs a short version.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_audit.history import History
from rag_audit.model import QuestionResult, RunStatus
from tests.projects import make_project, many_questions

FAST = ("--set", "embedder=none", "--set", "retriever.mode=bm25")
ROOT = Path(__file__).parent.parent


@dataclass
class CrashReport:
    """How often what was killed, and everything that was not as promised."""

    kills: int = 0
    before_the_first: int = 0
    while_writing: int = 0
    after_the_end: int = 0
    resumed: int = 0
    decisions: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass
class Killed:
    """What a process had printed when it was killed, or when it ended by itself."""

    out: str
    err: str
    code: int
    seconds: float


def command(project: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "rag_audit", "--project", str(project), *arguments]


def run_and_kill(arguments: Sequence[str], after_s: float | None, *, from_first_line: bool = False) -> Killed:
    """Start a process and kill it so long after its start (or its first line on stderr); None lets it end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline() if from_first_line else ""
        started = time.perf_counter()
        try:
            out, err = process.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        return Killed(out, first + err, process.returncode, time.perf_counter() - started)


def comparable(result: QuestionResult) -> QuestionResult:
    """A result without what differs between two runs of the same: how long each step took."""
    generation = replace(result.generation, latency_s=None) if result.generation else None
    return replace(result, generation=generation, measurements={})


def contents(history: History, run_id: str) -> list[QuestionResult]:
    return sorted(map(comparable, history.results(run_id)), key=lambda result: result.question.id)


def kill_runs(project: Path, kills: int, questions: int, chance: random.Random) -> CrashReport:
    """Kill runs and their resumed attempts, and compare what they end as with a run that nobody killed."""
    report = CrashReport()
    make_project(project, many_questions(questions))
    history = History(project)
    start = ("run", *FAST, "--judges", "none")
    run_and_kill(command(project, *start), None)
    whole = run_and_kill(command(project, *start), None, from_first_line=True)
    reference = history.summaries()[-1]
    expected, expected_rows = contents(history, reference.id), history.archived(reference.id).rows
    while report.kills < kills:
        known = {run.id for run in (*history.summaries(), *history.unclosed())}
        run_id, reported = None, set[str]()
        arguments: Sequence[str] = start
        while report.kills < kills:
            anywhere = chance.random() < 0.2
            killed = run_and_kill(
                command(project, *arguments),
                chance.uniform(0.0, whole.seconds * (4.0 if anywhere else 1.1)),
                from_first_line=not anywhere,
            )
            report.kills += 1
            reported |= {line.removeprefix("done ") for line in killed.err.splitlines() if line.startswith("done ")}
            _check(report, history, known, reported)
            new = [run for run in (*history.unclosed(), *history.summaries()) if run.id not in known]
            if not new:
                report.before_the_first += 1
                break
            run_id = new[0].id
            if new[0].status in (RunStatus.COMPLETE, RunStatus.INCOMPLETE):
                report.after_the_end += 1
                break
            report.while_writing += 1
            arguments = ("run", "--resume", run_id)
            if chance.random() < 0.5:
                break
        if run_id is None:
            continue
        if any(run.id == run_id and run.status is RunStatus.INTERRUPTED for run in history.unclosed()):
            finished = run_and_kill(command(project, "run", "--resume", run_id), None)
            report.resumed += 1
            if finished.code:
                report.failures.append(f"resuming {run_id} ended with {finished.code}: {finished.err}")
        if contents(history, run_id) != expected or history.archived(run_id).rows != expected_rows:
            report.failures.append(f"run {run_id} is not what an unkilled run is")
        _check(report, history, known, reported)
    return report


def _check(report: CrashReport, history: History, known: set[str], reported: set[str]) -> None:
    verified = history.verify()
    if not verified.ok:
        report.failures.append(f"kill {report.kills}: {verified.problems}")
    runs = [run.id for run in (*history.unclosed(), *history.summaries()) if run.id not in known]
    finished = [result.question.id for run in runs for result in history.results(run)]
    if not reported <= set(finished):
        report.failures.append(f"kill {report.kills}: reported as done, but lost: {reported - set(finished)}")
    if len(finished) != len(set(finished)):
        report.failures.append(f"kill {report.kills}: a question was finished twice")


def kill_decisions(project: Path, kills: int, chance: random.Random, report: CrashReport) -> None:
    """Kill `audit record`; a decision whose id was printed is on disk, and none is there twice."""
    run_and_kill(command(project, "run", *FAST), None)
    history = History(project)
    run_id = next(run.id for run in history.summaries() if sum(run.claims.values()))
    result = next(
        result for result in history.results(run_id) if result.claim_judgment and result.claim_judgment.claims
    )
    assert result.claim_judgment is not None
    claim = result.claim_judgment.claims[0].id
    arguments = ("audit", "record", run_id, result.question.id, claim, "verified", "--reviewer", "ada", "--reason")
    whole = run_and_kill(command(project, *arguments, "unkilled"), None)
    if whole.code:
        report.failures.append(f"audit record ended with {whole.code}: {whole.err}")
    printed = set(whole.out.split()) & {one.id for one in history.decisions()}
    for number in range(kills):
        late = chance.random() < 0.7
        delay = chance.uniform(whole.seconds * (0.85 if late else 0.0), whole.seconds * 1.2)
        killed = run_and_kill(command(project, *arguments, f"kill {number}"), delay)
        report.kills += 1
        there = [one.id for one in history.decisions()]
        reasons = {one.reason: one.id for one in history.decisions()}
        if killed.out.strip():
            printed.add(reasons.get(f"kill {number}", killed.out.strip()))
        if not printed <= set(there) or len(there) != len(set(there)):
            report.failures.append(f"decision {number}: printed, but lost or doubled")
        verified = history.verify()
        if not verified.ok:
            report.failures.append(f"decision {number}: {verified.problems}")
    report.decisions = len(printed)


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    with tempfile.TemporaryDirectory() as folder:
        report = kill_runs(Path(folder) / "project", kills // 2, 40, chance)
        kill_decisions(Path(folder) / "project", kills - kills // 2, chance, report)
    print(
        f"{report.kills} kills: {report.before_the_first} before a run began, {report.while_writing} while it was "
        f"written, {report.after_the_end} after it was closed; {report.resumed} runs resumed and compared; "
        f"{report.decisions} decisions printed and found; {len(report.failures)} failures"
    )
    for failure in report.failures:
        print(failure)
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    main()
