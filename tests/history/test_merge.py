"""Branches of a repository that each added runs and decisions merge by lines, with real git."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rag_audit.history import GIT_ATTRIBUTES, History
from tests.history.examples import archive, decision

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".gitattributes").write_text(GIT_ATTRIBUTES)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    archive(tmp_path, "r0", started_at="2026-01-01T00:00:00Z")
    History(tmp_path).record(decision("c0"))
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, env=environment, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "work")


def work(folder: Path, branch: str, run_id: str, started_at: str, claim: str) -> None:
    git(folder, "checkout", "--quiet", "-b", branch, "main")
    archive(folder, run_id, started_at=started_at)
    History(folder).record(decision(claim))
    commit(folder)


def merge(folder: Path, ours: str, theirs: str) -> None:
    git(folder, "checkout", "--quiet", ours)
    git(folder, "merge", "--quiet", "--no-edit", theirs)


def test_two_branches_merge_and_verify(repository: Path) -> None:
    work(repository, "later", "r2", "2026-01-03T00:00:00Z", "c2")
    work(repository, "earlier", "r1", "2026-01-02T00:00:00Z", "c1")
    orders = []
    for ours, theirs in (("later", "earlier"), ("earlier", "later")):
        git(repository, "checkout", "--quiet", "-B", f"merged-{ours}", ours)
        merge(repository, f"merged-{ours}", theirs)
        history = History(repository)
        report = history.verify()
        assert report.ok, report.problems
        assert len(history.decisions()) == 3
        head = history.head()
        assert head is not None
        assert head.count("+") == 3
        orders.append([run.id for run in history.summaries()])
    assert orders == [["r0", "r1", "r2"]] * 2
    assert history.resolve("latest").id == "r2"
    archive(repository, "r3", started_at="2026-01-01T12:00:00Z")
    history.record(decision("c3"))
    assert [run.id for run in history.summaries()] == ["r0", "r1", "r2", "r3"]
    joined = history.head()
    assert joined is not None
    assert joined.count("+") == 1
    assert history.verify(head).ok


def test_merges_that_cross_double_nothing(repository: Path) -> None:
    work(repository, "one", "r1", "2026-01-02T00:00:00Z", "c1")
    work(repository, "two", "r2", "2026-01-03T00:00:00Z", "c2")
    git(repository, "branch", "one-before", "one")
    merge(repository, "one", "two")
    merge(repository, "two", "one-before")
    merge(repository, "one", "two")
    report = History(repository).verify()
    assert report.ok, report.problems
    assert [run.id for run in History(repository).summaries()] == ["r0", "r1", "r2"]


def test_a_run_lost_in_a_merge_is_found(repository: Path) -> None:
    work(repository, "one", "r1", "2026-01-02T00:00:00Z", "c1")
    archive(repository, "r2", started_at="2026-01-04T00:00:00Z")
    ledger = repository / "history/eval_history.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(lines[0] + lines[2])
    assert not History(repository).verify().ok
