"""Several processes at once lose nothing and double nothing."""

import multiprocessing
from pathlib import Path

from rag_audit.history import History
from tests.history.examples import archive, decision

DECIDING, FINISHING = 16, 4
DECISIONS, RUNS = 6, 3
REVIEWERS = 3


def _decide(project: Path, number: int) -> None:
    for claim in range(DECISIONS):
        History(project).record(decision(f"p{number}-c{claim}", reviewer=f"reviewer-{number % REVIEWERS}"))


def _finish(project: Path, number: int) -> None:
    for run in range(RUNS):
        archive(project, f"r{number}-{run}", started_at=f"2026-11-29T20:0{run}:00Z")


def test_sixteen_decide_while_four_finish_runs(tmp_path: Path) -> None:
    start = multiprocessing.get_context("forkserver")
    start.set_forkserver_preload(["tests.history.examples"])
    processes = [start.Process(target=_decide, args=(tmp_path, number)) for number in range(DECIDING)]
    processes += [start.Process(target=_finish, args=(tmp_path, number)) for number in range(FINISHING)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)
    history = History(tmp_path)
    decided = sorted(str(found.claim_id) for found in history.decisions())
    assert decided == sorted(f"p{number}-c{claim}" for number in range(DECIDING) for claim in range(DECISIONS))
    archived = sorted(run.id for run in history.summaries())
    assert archived == sorted(f"r{number}-{run}" for number in range(FINISHING) for run in range(RUNS))
    lines = [line for path in (tmp_path / "history/audits").iterdir() for line in path.read_bytes().splitlines()]
    assert len(lines) == len(decided)
    report = history.verify()
    assert report.ok, report.problems
    assert report.notes == ()
    assert not list(tmp_path.rglob("*torn*"))
