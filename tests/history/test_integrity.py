"""verify: what it finds, what it only notes, and that it changes nothing."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.history import History, jsonl
from rag_audit.history.ledger import ledger_line, read_ledger
from tests.history.examples import archive, decision, result, row, sample, summary

LEDGER = "history/eval_history.jsonl"
RUN = "history/runs/r1.jsonl"
AUDIT = "history/audits/ada.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three runs of three questions; decisions and a draw before the last one."""
    history = History(tmp_path)
    for number in range(2):
        archive(tmp_path, f"r{number}", ["q1", "q2", "q3"])
    for number in range(3):
        history.record(decision(f"c{number}"))
    history.record_sample(sample())
    archive(tmp_path, "r2", ["q1", "q2", "q3"])
    return tmp_path


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "", path.stat().st_mtime_ns)
        for path in folder.rglob("*")
    }


Edit = Callable[[list[bytes]], list[bytes]]


def replaced(number: int, old: bytes, new: bytes) -> Edit:
    def edit(lines: list[bytes]) -> list[bytes]:
        assert old in lines[number]
        return [*lines[:number], lines[number].replace(old, new, 1), *lines[number + 1 :]]

    return edit


def removed(number: int) -> Edit:
    return lambda lines: [*lines[:number], *lines[number + 1 :]]


def doubled(number: int) -> Edit:
    return lambda lines: [*lines[: number + 1], *lines[number:]]


def swapped(number: int) -> Edit:
    return lambda lines: [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]


def test_an_untouched_history_is_fine(project: Path) -> None:
    before = fingerprint(project)
    report = History(project).verify(History(project).head())
    assert (report.ok, report.runs, report.problems, report.notes) == (True, 3, (), ())
    assert report.head == History(project).head()
    assert fingerprint(project) == before


@pytest.mark.parametrize(
    ("file", "edit", "line", "says"),
    [
        (LEDGER, replaced(1, b'"mean":0.5', b'"mean":0.9'), 2, "changed"),
        (LEDGER, replaced(2, b'"mean":0.5', b'"mean":0.75'), 3, "changed"),
        (LEDGER, replaced(1, b'"hit_at_1":{"values":[1.0', b'"hit_at_1":{"values":[0.0'), 2, "rows"),
        (LEDGER, replaced(0, b"\n", b"\r\n"), 1, "changed"),
        (LEDGER, lambda lines: [lines[0], b"<<<<<<< HEAD\n", *lines[1:]], 2, "no line"),
        (LEDGER, lambda lines: [lines[0], b"\n", *lines[1:]], 2, "no line"),
        (LEDGER, removed(0), 1, "missing"),
        (LEDGER, removed(1), 2, "missing"),
        (LEDGER, doubled(2), 4, "doubled"),
        (LEDGER, swapped(0), 1, "swapped"),
        (RUN, replaced(2, b"12 ms", b"13 ms"), 3, "changed"),
        (RUN, removed(3), 4, "not where they were"),
        (RUN, doubled(4), 6, "doubled"),
        (RUN, swapped(3), None, "not where they were"),
        (RUN, lambda lines: [*lines, jsonl.seal(b'{"schema":1,"kind":"attempt"}')], None, "after the closing line"),
        (RUN, lambda lines: [*lines, b'{"half'], None, "after the closing line"),
        (RUN, lambda lines: [*lines[:-1], lines[-1].replace(b'"mean":0.5', b'"mean":0.6')], None, "changed"),
        (AUDIT, replaced(1, b"verified", b"absent"), 2, "changed"),
        (AUDIT, removed(1), 2, "missing"),
        (AUDIT, doubled(1), 3, "doubled"),
        (AUDIT, swapped(0), 1, "swapped"),
        ("history/samples.jsonl", replaced(0, b'"seed":7', b'"seed":8'), 1, "changed"),
    ],
)
def test_verify_finds(project: Path, file: str, edit: Edit, line: int | None, says: str) -> None:
    path = project / file
    lines = edit(path.read_bytes().splitlines(keepends=True))
    path.write_bytes(b"".join(lines))
    before = fingerprint(project)
    report = History(project).verify()
    assert not report.ok
    found = [one for one in report.problems if one.file == file and says in one.problem and line in (None, one.line)]
    assert found, report.problems
    assert found[0].line is not None
    assert found[0].offset == sum(map(len, lines[: found[0].line - 1]))
    assert fingerprint(project) == before


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda project: (project / RUN).unlink(), "run file of r1 is missing"),
        (lambda project: (project / RUN).write_bytes((project / "history/runs/r0.jsonl").read_bytes()), "run r0"),
        (lambda project: (project / RUN).write_bytes(b""), "no closing line any more"),
        (lambda project: (project / AUDIT).unlink(), "decision or draw made before this run closed is missing"),
        (lambda project: (project / "history/samples.jsonl").write_bytes(b""), "decision or draw made before"),
    ],
)
def test_verify_finds_files_that_are_not_the_ones(project: Path, damage: Callable[[Path], object], says: str) -> None:
    damage(project)
    report = History(project).verify()
    assert not report.ok
    assert any(says in found.problem for found in report.problems), report.problems


@pytest.mark.parametrize(
    ("file", "old", "new"), [(AUDIT, b"verified", b"contradicted"), (RUN, b'"hit_at_1":1.0', b'"hit_at_1":0.0')]
)
def test_a_line_that_was_edited_and_sealed_again_is_found(project: Path, file: str, old: bytes, new: bytes) -> None:
    path = project / file
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if old in line)
    lines[at] = jsonl.seal(b"{" + lines[at].replace(old, new)[jsonl.BODY_AT : -1])
    path.write_bytes(b"".join(lines))
    assert not History(project).verify().ok


def test_the_newest_run_edited_and_sealed_again_is_found(project: Path) -> None:
    path = project / LEDGER
    newest = read_ledger(path).entries[-1]
    whole = path.read_bytes()
    rows = whole[newest.rows_at : newest.rows_at + newest.rows_bytes]
    better = replace(newest.head.run, label="better")
    line = ledger_line(better, rows, newest.head.evidence, newest.head.parents, newest.head.audits)
    path.write_bytes(whole[: newest.offset] + line)
    report = History(project).verify()
    assert [found.problem for found in report.problems] == ["the summary is not the one in the run file of r2"]


def test_the_head_proves_the_tail(project: Path) -> None:
    history = History(project)
    head = history.head()
    archive(project, "r9")
    assert history.verify(head).ok
    later = history.head()
    ledger = project / LEDGER
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    assert history.verify().ok
    assert history.verify(head).ok
    assert "removed" in history.verify(later).problems[0].problem
    assert not history.verify("nonsense").ok


def test_the_head_proves_the_latest_decision(project: Path) -> None:
    History(project).record(decision("c7"))
    head = History(project).head()
    path = project / AUDIT
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert History(project).verify().ok
    assert not History(project).verify(head).ok


def test_what_a_crash_leaves_is_noted(project: Path) -> None:
    history = History(project)
    writer = history.start(replace(summary("r8"), label="killed"), [("q1", None)])
    writer.append(result("q1"))
    for file in (LEDGER, AUDIT, "history/runs/r8.jsonl"):
        with (project / file).open("ab") as opened:
            opened.write(b'{"hash":"12')
    ledger = (project / LEDGER).read_bytes().splitlines(keepends=True)
    (project / LEDGER).write_bytes(b"".join([*ledger[:-2], ledger[-1]]))
    report = history.verify()
    assert report.ok, report.problems
    notes = "\n".join(report.notes)
    assert f"{LEDGER}: line 3" in notes
    assert f"{AUDIT}: line 4" in notes
    assert "history/runs/r8.jsonl: not closed" in notes
    assert "history/runs/r2.jsonl: closed, but not in the ledger yet" in notes


def test_a_closed_run_is_in_the_ledger_after_the_next_start(project: Path) -> None:
    ledger = project / LEDGER
    whole = ledger.read_bytes()
    ledger.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    history = History(project)
    assert [run.id for run in history.unclosed()] == ["r2"]
    assert history.resolve("r2").status == "complete"
    expected = (row("q1"), row("q2"), row("q3"))
    assert history.archived("r2").rows == expected
    archive(project, "r3")
    assert [run.id for run in history.summaries()] == ["r0", "r1", "r2", "r3"]
    assert history.archived("r2").rows == expected
    assert history.verify().ok


def test_a_damaged_line_hides_no_other_run(project: Path) -> None:
    path = project / LEDGER
    path.write_bytes(path.read_bytes().replace(b'"label":null', b'"label":1234', 1))
    (project / "history/runs/r7.jsonl").write_bytes(b"not json\n")
    history = History(project)
    assert [run.id for run in history.summaries()] == ["r1", "r2"]
    assert [(found.file, found.line) for found in history.damage()] == [(LEDGER, 1), ("history/runs/r7.jsonl", 1)]


def test_two_branches_that_archived_the_same_run_count_it_once(project: Path) -> None:
    ledger = project / LEDGER
    whole = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(whole[:1]))
    archive(project, "r5")
    merged = [*whole, *ledger.read_bytes().splitlines(keepends=True)[1:]]
    ledger.write_bytes(b"".join(merged))
    assert sorted(run.id for run in History(project).summaries()) == ["r0", "r1", "r2", "r5"]
    report = History(project).verify()
    assert report.ok, report.problems
    assert any("both archived run r1" in note for note in report.notes)


def test_rebuild_writes_the_ledger_anew_beside_the_old_one(project: Path) -> None:
    history = History(project)
    expected = [history.archived(run.id) for run in history.summaries()]
    ledger = project / LEDGER
    ledger.write_bytes(ledger.read_bytes().replace(b"0.5", b"0.6"))
    kept = ledger.read_bytes()
    (project / "history/runs/r9.jsonl").write_bytes(b"{}\n")
    rebuilt = history.rebuild()
    assert ledger.read_bytes() == kept
    assert (rebuilt.runs, [Path(found.file).name for found in rebuilt.left_out]) == (3, ["r9.jsonl"])
    rebuilt.path.rename(ledger)
    assert [history.archived(run.id) for run in history.summaries()] == expected
    (project / "history/runs/r9.jsonl").unlink()
    assert history.verify().ok


def test_rebuild_names_the_runs_that_it_cannot_bring_back(project: Path) -> None:
    gone = History(project).summaries()[1].id
    (project / f"history/runs/{gone}.jsonl").unlink()
    rebuilt = History(project).rebuild()
    assert rebuilt.runs == 2
    assert [(found.line, found.problem) for found in rebuilt.left_out] == [(2, f"the run file of {gone} is missing")]
