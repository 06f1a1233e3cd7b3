"""Full disks, read-only folders, secrets, killed writers: a clear error, and everything so far is kept."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.errors import HistoryError, InputError
from rag_audit.history import NOT_FINISHED, History
from rag_audit.history.process import is_alive, own_identity
from rag_audit.history.runfile import read_header
from rag_audit.importers.importing import ImportOptions, import_paths
from rag_audit.model import Claim, Generation, JudgeCall, RunContext, RunStatus, Span, Verdict
from rag_audit.redact import REDACTED
from tests.history.examples import archive, closed, decision, result, row, sample, summary

NOBODY = 65534
KEY = "sk-test-recognisable-0123456789"


def fill_up_to(size: int) -> None:
    """Let no file grow beyond this size, as a full disk would."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.fixture
def roomy() -> Iterator[None]:
    """Give the disk back after the test."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield None
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("roomy")
def test_a_full_disk_keeps_what_was_finished(tmp_path: Path) -> None:
    history = History(tmp_path)
    header = summary("r1")
    writer = history.start(header, [("q1", None), ("q2", None)])
    writer.append(result("q1"))
    path = tmp_path / "history/runs/r1.jsonl"
    whole = path.read_bytes()
    fill_up_to(len(whole) + 100)
    with pytest.raises(HistoryError, match="disk is full") as caught:
        writer.append(result("q2", chunk="another text " * 50))
    assert "--resume r1" in caught.value.hint
    writer.abandon()
    assert path.read_bytes() == whole
    fill_up_to(resource.RLIM_INFINITY)
    resumed = history.resume("r1")
    resumed.append(result("q2"))
    resumed.close(closed(header), [row("q1"), row("q2")])
    assert list(history.results("r1")) == [result("q1"), result("q2")]
    assert history.verify().ok


@pytest.mark.usefixtures("roomy")
def test_a_disk_that_fills_up_while_a_run_closes(tmp_path: Path) -> None:
    history = History(tmp_path)
    for number in range(8):
        archive(tmp_path, f"r{number}")
    ledger = tmp_path / "history/eval_history.jsonl"
    whole = ledger.read_bytes()
    writer = history.start(summary("r9"), [("q1", None)])
    writer.append(result("q1"))
    fill_up_to(len(whole) + 100)
    with pytest.raises(HistoryError, match="disk is full"):
        writer.close(closed(summary("r9")), [row("q1")])
    writer.abandon()
    assert ledger.read_bytes() == whole
    fill_up_to(resource.RLIM_INFINITY)
    archive(tmp_path, "ra")
    assert [run.id for run in history.summaries()][-2:] == ["r9", "ra"]
    assert history.verify().ok


@pytest.mark.usefixtures("roomy")
def test_a_decision_on_a_full_disk_is_refused_whole(tmp_path: Path) -> None:
    History(tmp_path).record(decision("c1"))
    size = (tmp_path / "history/audits/ada.jsonl").stat().st_size
    fill_up_to(size + 10)
    with pytest.raises(HistoryError, match="disk is full"):
        History(tmp_path).record(decision("c2"))
    fill_up_to(resource.RLIM_INFINITY)
    assert [found.claim_id for found in History(tmp_path).decisions()] == ["c1"]
    assert History(tmp_path).verify().notes == ()


def as_nobody(work: Callable[[], None]) -> int:
    """Do some work in a process whom file permissions concern, even where the tests run as root."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            code = 0
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_read_only_history_is_read_and_refuses_writing(open_folder: Path) -> None:
    archive(open_folder, "r1")
    History(open_folder).record(decision("c1"))
    folders = [open_folder / "history", *(open_folder / "history").glob("*/")]
    for folder in folders:
        folder.chmod(0o555)
    for path in (open_folder / "history").rglob("*.jsonl"):
        path.chmod(0o444)

    def work() -> None:
        history = History(open_folder)
        assert [run.id for run in history.summaries()] == ["r1"]
        assert history.result("r1", "q1") == result("q1")
        assert len(history.decisions()) == 1
        assert history.verify().ok
        for write in (lambda: history.record(decision("c2")), lambda: history.start(summary("r2"), [])):
            with pytest.raises(HistoryError, match=r"cannot write the history: (Permission denied|Read-only)"):
                write()

    try:
        assert as_nobody(work) == 0
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_ledger_that_cannot_be_opened_leaves_the_run_resumable(tmp_path: Path) -> None:
    history = History(tmp_path)
    writer = history.start(summary("r1"), [("q1", None)])
    writer.append(result("q1"))
    (tmp_path / "history/eval_history.jsonl").mkdir()
    with pytest.raises(HistoryError, match="cannot write the history"):
        writer.close(closed(summary("r1")), [row("q1")])
    writer.abandon()
    (tmp_path / "history/eval_history.jsonl").rmdir()
    resumed = history.resume("r1")
    assert resumed.finished == {("q1", None)}
    resumed.close(closed(summary("r1")), [row("q1")])
    assert history.verify().ok


WRITER = """
import sys
from pathlib import Path
from rag_audit.history import NOT_FINISHED, History
from rag_audit.history.process import is_alive, own_identity
from rag_audit.history.runfile import read_header
from tests.history.examples import result, summary

writer = History(Path(sys.argv[1])).start(summary("r1"), [("q1", None), ("q2", None)])
writer.append(result("q1"))
print("done q1", flush=True)
sys.stdin.read()
"""


def test_running_is_told_from_interrupted_by_the_process(tmp_path: Path) -> None:
    history = History(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done q1\n"
        assert [run.status for run in history.unclosed()] == [RunStatus.RUNNING]
        process.kill()
    assert [run.status for run in history.unclosed()] == [RunStatus.INTERRUPTED]
    path = tmp_path / "history/runs/r1.jsonl"
    header = read_header(path)
    machine, pid, _ = header.by.split("/")
    assert is_alive(own_identity())
    assert not is_alive(header.by)
    assert not is_alive(f"{machine}/{os.getpid()}/1"), "another process got the number"
    assert not is_alive(f"elsewhere/{pid}/1")
    assert not is_alive("")
    so_far = history.archived("r1")
    assert [found.id for found in so_far.rows] == ["q1"]
    assert so_far.summary.metrics["hit_at_1"].total == 2
    assert so_far.summary.metrics["hit_at_1"].missing == {NOT_FINISHED: 1}


def test_no_key_reaches_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("CO_API_KEY", 'odd"key\\with-quotes')
    bearer = "Bearer abcdef0123456789abcdef"
    history = History(tmp_path, redact=(r"PN-\d{4}",))
    header = replace(summary("r1", label=f"with {KEY}"), context=RunContext(settings={"url": f"https://x?{KEY}"}))
    writer = history.start(header, [("q1", None)])
    leaking = replace(
        result("q1"),
        generation=Generation(f"The part is PN-1234, the key {KEY}.", f"x-api-key: {KEY}"),
        judge_calls=(JudgeCall("claims", bearer, 'odd"key\\with-quotes'),),
        notes=(f"Authorization: Basic {'dXNlcjpwYXNzd29yZA=='}",),
    )
    stored = writer.append(leaking)
    assert stored.generation is not None
    assert stored.generation.answer == f"The part is {REDACTED}, the key {REDACTED}."
    writer.close(replace(closed(header), notes=(KEY,)), [row("q1")])
    history.record(replace(decision("c1"), reason=f"it says {KEY} and PN-9999"))
    history.record_sample(sample())
    assert next(history.results("r1")) == stored
    assert history.verify().ok
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in (KEY, "odd", "with-quotes", "abcdef0123456789", "PN-1234", "PN-9999", "dXNlcj"):
        assert secret.encode() not in written, secret
    assert json.dumps(REDACTED, ensure_ascii=False)[1:-1].encode() in written


def test_spans_mark_the_same_words_after_redaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    text = f"Use {KEY} twice: {KEY}. The delay is 12 ms."
    start = text.index("12 ms")
    plain = result("q1", chunk=text)
    assert plain.claim_judgment is not None
    claim = Claim("c1", "12 ms", Verdict.VERIFIED, "12 ms", (Span("reference", start, start + 5),))
    judged = replace(plain, claim_judgment=replace(plain.claim_judgment, claims=(claim,)))
    stored = History(tmp_path).start(summary("r1"), []).append(judged).claim_judgment
    assert stored is not None
    span = stored.claims[0].evidence_spans[0]
    assert stored.excerpt.text("reference")[span.start : span.end] == "12 ms"


def test_a_lone_surrogate_is_written_as_a_replacement(tmp_path: Path) -> None:
    history = History(tmp_path)
    writer = history.start(replace(summary("r1"), label="odd \ud800"), [])
    writer.append(result("q1", answer="a \udfff b"))
    found = history.result("r1", "q1")
    assert found.generation is not None
    assert found.generation.answer == "a � b"
    assert history.unclosed()[0].label == "odd �"


def test_an_import_follows_the_patterns_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_AUDIT_REDACT", r"['PN-\d{4}', 'AB,C']")
    path = tmp_path / "eval.jsonl"
    path.write_text(
        '{"id": "a", "question": "Which part?", "answer": "PN-1234 of AB,C", "scores": {"faithfulness": 5}}\n'
    )
    list(import_paths(tmp_path, [path], ImportOptions()))
    written = b"".join(found.read_bytes() for found in (tmp_path / "history").rglob("*") if found.is_file())
    assert b"PN-1234" not in written
    assert b"AB,C" not in written
    assert REDACTED.encode() in written


def test_an_id_that_holds_a_key_is_refused_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for question_id in (f"q-{KEY}", "PN-1234"):
        with pytest.raises(InputError, match=f"id (q-)?{REDACTED} holds a secret"):
            History(tmp_path, redact=(r"PN-\d{4}",)).start(summary("r1"), [("q1", None), (question_id, None)])
    assert not (tmp_path / "history").exists()
