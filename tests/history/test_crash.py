"""The short version of `benchmarks/crash.py`: SIGKILL at random instants loses nothing that was reported."""

import random
from pathlib import Path

from benchmarks.crash import kill_decisions, kill_runs


def test_killed_runs_and_decisions_lose_nothing(tmp_path: Path) -> None:
    chance = random.Random(11)
    report = kill_runs(tmp_path / "project", 5, 16, chance)
    kill_decisions(tmp_path / "project", 3, chance, report)
    assert report.failures == []
    assert report.kills == 8
