"""A record torn off by a crash, at every byte: no good record is lost, none is fused, the next append is readable."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from rag_audit.errors import HistoryError
from rag_audit.history import History, jsonl
from rag_audit.history.archive import append_run, archive_leftovers
from rag_audit.history.layout import TORN, Layout
from rag_audit.history.ledger import read_ledger
from rag_audit.history.texts import LONG
from rag_audit.model import Generation, Question, QuestionResult, Route, RunSummary
from tests.history.examples import archive, closed, decision, result, row, sample, summary

VERIFY_EVERY = 97
"""At every so many cuts the whole history is verified too."""


pytestmark = pytest.mark.usefixtures("no_syncing")


def cuts(path: Path, whole: bytes, records: int = 2) -> Iterator[tuple[int, int]]:
    """Cut the file at every byte of its last records: (where, how many whole lines are left)."""
    lines = whole.splitlines(keepends=True)
    for where in range(len(whole) - sum(map(len, lines[-records:])), len(whole) + 1):
        for side in path.parent.glob(f"*{TORN}*"):
            side.unlink()
        # Not overwritten in place: some file systems make that wait for the disk.
        path.unlink()
        path.write_bytes(whole[:where])
        # A record that lacks nothing but its line end is whole.
        yield where, whole[:where].count(b"\n") + whole[where : where + 1].count(b"\n")


def short_result(question_id: str) -> QuestionResult:
    """One text line and one question line."""
    return QuestionResult(Question(question_id, "Why?"), Route((), "doc_id"), generation=Generation(question_id * LONG))


def torn_bytes(path: Path) -> bytes:
    return b"".join(side.read_bytes() for side in path.parent.glob(f"{path.name}{TORN}*"))


def archived_ids(layout: Layout) -> list[str]:
    return [entry.head.run.id for entry in read_ledger(layout.ledger).entries]


def test_a_ledger_cut_at_every_byte(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "history")
    runs = [archive(tmp_path, f"r{number}", []).id for number in range(4)]
    whole = layout.ledger.read_bytes()
    lines = whole.splitlines(keepends=True)
    for where, left in cuts(layout.ledger, whole):
        assert archived_ids(layout) == runs[:left]
        assert where % VERIFY_EVERY or History(tmp_path).verify().ok
        with jsonl.locked(layout.ledger) as handle:
            append_run(layout, handle, closed(summary("r9")), b"{}", "")
        assert archived_ids(layout) == [*runs[:left], "r9"]
        assert torn_bytes(layout.ledger) == whole[sum(map(len, lines[:left])) : where]


def test_runs_that_a_cut_took_from_the_ledger_come_back(tmp_path: Path) -> None:
    runs = [archive(tmp_path, f"r{number}", ["q1"]) for number in range(4)]
    path = tmp_path / "history/eval_history.jsonl"
    for where, _ in cuts(path, path.read_bytes()):
        if where % VERIFY_EVERY == 0:
            archive_leftovers(Layout(tmp_path / "history"))
            assert History(tmp_path).summaries() == runs
            assert History(tmp_path).verify().ok


def test_decisions_cut_at_every_byte(tmp_path: Path) -> None:
    decisions = [History(tmp_path).record(decision(f"c{number}")) for number in range(4)]
    path = tmp_path / "history/audits/ada.jsonl"
    whole = path.read_bytes()
    for where, left in cuts(path, whole):
        kept = sorted(found.id for found in History(tmp_path).decisions())
        assert kept == sorted(one.id for one in decisions[:left])
        assert where % VERIFY_EVERY or History(tmp_path).verify().ok
        again = History(tmp_path).record(decision("c9"))
        kept = sorted(found.id for found in History(tmp_path).decisions())
        assert kept == sorted([*(one.id for one in decisions[:left]), again.id])
        lines = whole.splitlines(keepends=True)
        assert torn_bytes(path) == whole[:where][sum(map(len, lines[:left])) :]
        assert where % VERIFY_EVERY or History(tmp_path).verify().ok


def test_a_run_file_cut_at_every_byte(tmp_path: Path) -> None:
    ids = ["q1", "q2", "q3"]
    header = summary("r1")
    writer = History(tmp_path).start(header, [(id_, None) for id_ in ids])
    for id_ in ids:
        writer.append(short_result(id_))
    writer.abandon()
    path = tmp_path / "history/runs/r1.jsonl"
    *lines, _ = path.read_bytes().splitlines(keepends=True)
    whole = b"".join(lines)
    for where, left in cuts(path, whole, records=4):
        left = sum(b'"kind":"question"' in line for line in whole.splitlines()[:left])
        resumed = History(tmp_path).resume("r1")
        assert resumed.finished == {(id_, None) for id_ in ids[:left]}
        for id_ in ids[left:]:
            resumed.append(short_result(id_))
        assert [found.question.id for found in History(tmp_path).results("r1")] == ids
        if where % VERIFY_EVERY == 0:
            resumed.close(closed(header), [row(id_) for id_ in ids])
            assert History(tmp_path).verify().ok
            (tmp_path / "history/eval_history.jsonl").unlink()
        else:
            resumed.abandon()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunSummary]:
    project = tmp_path_factory.mktemp("finished")
    return project, archive(project, "r1", ["q1"])


def test_closing_cut_at_every_byte(finished: tuple[Path, RunSummary], tmp_path: Path) -> None:
    """Killed while closing: the run is interrupted with all its questions, and closes on resume."""
    project = tmp_path / "project"
    shutil.copytree(finished[0], project)
    path = project / "history/runs/r1.jsonl"
    whole = path.read_bytes()
    closing_line = len(whole.splitlines(keepends=True)[-1])
    for where, _ in cuts(path, whole, records=3):
        (project / "history/eval_history.jsonl").unlink(missing_ok=True)
        is_closed = where >= len(whole) - 1
        assert [run.status.value for run in History(project).unclosed()] == ["complete" if is_closed else "running"]
        if is_closed or where % 7:
            continue
        resumed = History(project).resume("r1")
        assert resumed.finished == {("q1", None)}
        resumed.close(closed(resumed.header), [row("q1")])
        assert History(project).summaries() == [finished[1]]
        assert History(project).result("r1", "q1") == result("q1")
        assert History(project).verify().ok
    assert closing_line < len(whole)


def test_a_run_killed_before_its_header_is_whole_is_not_shown(tmp_path: Path) -> None:
    archive(tmp_path, "r1")
    History(tmp_path).start(summary("r2"), []).abandon()
    path = tmp_path / "history/runs/r2.jsonl"
    header = path.read_bytes().splitlines(keepends=True)[0]
    for left in (b"", header[:1], header[:-2]):
        path.write_bytes(left)
        assert History(tmp_path).unclosed() == []
        assert History(tmp_path).damage() == ()
        assert History(tmp_path).verify().ok
    path.write_bytes(header[:-1])
    assert [run.id for run in History(tmp_path).unclosed()] == ["r2"]


def test_a_torn_record_is_never_set_aside_over_another(tmp_path: Path) -> None:
    History(tmp_path).record(decision("c1"))
    path = tmp_path / "history/audits/ada.jsonl"
    for torn in (b'{"half', b'{"other', b'{"half'):
        with path.open("ab") as file:
            file.write(torn)
        offset = path.stat().st_size - len(torn)
        History(tmp_path).record(decision("c2"))
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:1]))
    sides = sorted(path.parent.glob(f"*{TORN}*"))
    assert [side.name for side in sides] == [f"ada.jsonl{TORN}{offset}", f"ada.jsonl{TORN}{offset}-2"]
    assert [side.read_bytes() for side in sides] == [b'{"half', b'{"other']
    assert len(History(tmp_path).verify().notes) == 2


def test_a_run_file_that_lost_questions_gives_an_error_and_no_shorter_list(tmp_path: Path) -> None:
    archive(tmp_path, "r1", ["q1", "q2"])
    path = tmp_path / "history/runs/r1.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    second = next(at for at, line in enumerate(lines) if b'"id":"q2"' in line[:200])
    for left, where in (
        (b"", "r1.jsonl:1"),
        (whole[:40], "r1.jsonl:1"),
        (b"".join(lines[1:]), "r1.jsonl:1"),
        (b"".join((*lines[:second], *lines[second + 1 :])), f"r1.jsonl:{len(lines) - 1}"),
        (whole.replace(b'"kind":"question","id":"q2"', b'"kind":"questiom","id":"q2"'), f"r1.jsonl:{second + 1}"),
    ):
        path.write_bytes(left)
        for read in (History(tmp_path).results, History(tmp_path).claims):
            with pytest.raises(HistoryError) as caught:
                list(read("r1"))
            assert (caught.value.where or "").endswith(where)
            assert caught.value.hint


def test_a_ledger_line_names_decisions_only_once_they_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    History(tmp_path).record(decision("c1"))
    History(tmp_path).record_sample(sample())
    synced: list[str] = []

    def record_sync(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink().name)

    monkeypatch.setattr(os, "fsync", record_sync)
    archive(tmp_path, "r1")
    assert synced[-1] == "eval_history.jsonl"
    assert {"ada.jsonl", "samples.jsonl"} <= set(synced[-3:-1])


def test_a_run_closes_only_when_no_decision_is_half_written(tmp_path: Path) -> None:
    History(tmp_path).record(decision("c1"))
    with ThreadPoolExecutor(1) as other:
        with jsonl.locked(tmp_path / "history/audits/ada.jsonl"):
            closing = other.submit(archive, tmp_path, "r1")
            assert wait([closing], timeout=0.3).not_done
            assert History(tmp_path).summaries() == []
        assert closing.result(timeout=30).id == "r1"
    assert History(tmp_path).verify().ok
