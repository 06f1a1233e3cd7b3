"""The facade: what goes in comes out, by every way in."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.errors import HistoryError, UsageError
from rag_audit.history import History
from rag_audit.history import writer as writer_module
from rag_audit.model import RunStatus
from tests.history.examples import LONG_TEXT, archive, closed, decision, result, row, sample, summary


def test_a_run_comes_back_as_it_went_in(tmp_path: Path) -> None:
    history = History(tmp_path)
    header = summary("r1", label="base")
    writer = history.start(header, [("q1", 1), ("q1", 2), ("q2", None)])
    results = [result("q1", 1), result("q1", 2, answer="No."), result("q2", chunk="short")]
    for one in results:
        writer.append(one)
    rows = [row("q1", 1), replace(row("q1", 2), scores={}, missing={"mrr": "x"}), row("q2")]
    writer.close(closed(header), rows)
    assert history.summaries() == [closed(header)]
    assert history.archived("r1").rows == tuple(rows)
    assert list(history.results("r1")) == results
    assert history.result("r1", "q1", 2) == results[1]
    assert history.repeats("r1", "q1") == results[:2]
    assert history.result("r1", "q2") == results[2]
    assert history.unclosed() == []
    assert history.verify().ok
    with pytest.raises(UsageError, match="q3"):
        history.result("r1", "q3")


def test_texts_that_repeat_are_stored_once(tmp_path: Path) -> None:
    header = summary("r1")
    writer = History(tmp_path).start(header, [])
    writer.append(result("q1"))
    path = tmp_path / "history/runs/r1.jsonl"
    before = path.stat().st_size
    text = result("q1").retrieved[0].chunk.text
    writer.append(replace(result("q2"), generation=None, judge_calls=()))
    assert path.stat().st_size - before < 3 * len(text)
    assert path.read_text().count(f'"text":"{text}"') == 1


def test_texts_that_were_forgotten_are_stored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_REMEMBERED_TEXTS", 2)
    header = summary("r1")
    writer = History(tmp_path).start(header, [])
    results = [result(f"q{number}", chunk=f"{number % 3}: {LONG_TEXT}") for number in range(9)]
    for one in results:
        writer.append(one)
    writer.close(closed(header), [row(one.question.id) for one in results])
    assert list(History(tmp_path).results("r1")) == results
    assert History(tmp_path).verify().ok


def test_an_interrupted_run_is_resumed_under_its_id(tmp_path: Path) -> None:
    history = History(tmp_path)
    header = summary("r1")
    writer = history.start(header, [("q1", None), ("q2", None)])
    writer.append(result("q1"))
    assert [run.status for run in history.unclosed()] == [RunStatus.RUNNING]
    writer.abandon()
    assert history.resolve("r1").questions == 2
    assert history.result("r1", "q1") == result("q1")
    resumed = history.resume("r1")
    assert resumed.finished == {("q1", None)}
    assert resumed.header == header
    resumed.append(result("q2"))
    with pytest.raises(HistoryError, match="already finished"):
        resumed.append(result("q2"))
    resumed.close(closed(header), [row("q1"), row("q2")])
    assert [one.question.id for one in history.results("r1")] == ["q1", "q2"]
    assert history.result("r1", "q2") == result("q2")
    assert history.verify().ok
    with pytest.raises(UsageError, match="closed"):
        history.resume("r1")


def test_a_run_that_is_written_is_not_resumed(tmp_path: Path) -> None:
    History(tmp_path).start(summary("r1"), [])
    with pytest.raises(UsageError, match="still running"):
        History(tmp_path).resume("r1")


def test_decisions_and_samples_are_sets(tmp_path: Path) -> None:
    history = History(tmp_path)
    first = history.record(decision("c1"))
    other = history.record(decision("c1", reviewer="../Grace H."))
    assert first.id != other.id
    assert history.record(decision("c1")) == first
    elsewhere = history.record(decision("c2", run_id="r2"))
    assert sorted(found.id for found in history.decisions("r1")) == sorted([first.id, other.id])
    assert elsewhere in history.decisions()
    drawn = history.record_sample(sample())
    assert history.samples("r1") == [drawn]
    assert history.samples("r2") == []
    assert history.verify().ok
    assert {path.parent.name for path in tmp_path.rglob("*.jsonl")} == {"audits", "history"}


@pytest.mark.parametrize(
    ("reviewer", "file"),
    [
        ("ada", "ada.jsonl"),
        ("J.Doe_2-x", "J.Doe_2-x.jsonl"),
        ("Grace H.", "Grace-H-d1862363.jsonl"),
        ("../../x", "x-b34ad871.jsonl"),
        ("Zoë", "Zo-f871740d.jsonl"),
        ("…", "reviewer-c8d400fc.jsonl"),
        ("x.jsonl.torn-3", "x.jsonl.torn-3.jsonl"),
    ],
)
def test_a_reviewer_has_one_file(reviewer: str, file: str, tmp_path: Path) -> None:
    recorded = History(tmp_path).record(decision("c1", reviewer=reviewer))
    assert [path.name for path in (tmp_path / "history/audits").iterdir()] == [file]
    assert History(tmp_path).decisions() == [recorded]
    assert History(tmp_path).verify().notes == ()


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("20260101-a", "20260101-a"),
        ("20260103", "20260103-c"),
        ("base", "20260103-c"),
        ("base~1", "20260101-a"),
        ("latest", "20260103-c"),
        ("latest~2", "20260101-a"),
    ],
)
def test_a_run_is_found_by(reference: str, meant: str, tmp_path: Path) -> None:
    archive(tmp_path, "20260101-a", label="base")
    archive(tmp_path, "20260102-b", label="new")
    archive(tmp_path, "20260103-c", label="base")
    assert History(tmp_path).resolve(reference).id == meant


@pytest.mark.parametrize("reference", ["", "2026", "bsae", "base~2", "latest~3", "latest~"])
def test_no_run_is_found_by(reference: str, tmp_path: Path) -> None:
    archive(tmp_path, "20260101-a", label="base")
    archive(tmp_path, "20260103-c", label="base")
    with pytest.raises(UsageError):
        History(tmp_path).resolve(reference)


def test_reading_creates_nothing(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.summaries() == []
    assert history.unclosed() == []
    assert history.decisions() == []
    assert history.samples("r1") == []
    assert history.head() is None
    assert history.verify().ok
    assert list(tmp_path.iterdir()) == []
