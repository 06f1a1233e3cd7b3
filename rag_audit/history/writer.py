"""Writing a run file: one writer, one synced append a question, then rows, index and closing line, then the ledger."""

import fcntl
import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from rag_audit.errors import HistoryError, UsageError
from rag_audit.history import jsonl
from rag_audit.history.index import index_entry, index_line
from rag_audit.history.ledger import encode_rows, is_intact_line, ledger_line, read_ledger
from rag_audit.history.process import own_identity
from rag_audit.history.runfile import Planned, kind_of, read_closing, read_header
from rag_audit.history.schema import SCHEMA, parse
from rag_audit.history.texts import take_texts
from rag_audit.model import QuestionResult, QuestionRow, RunStatus, RunSummary

_REMEMBERED_TEXTS = 20_000
_READ_BLOCK = 1 << 20


class RunWriter:
    """The one writer of a run file; `append` has synced when it returns. Safe to call from several threads."""

    def __init__(self, path: Path, ledger: Path, handle: int, header: RunSummary, planned: Planned) -> None:
        self.header = header
        self.planned = planned
        self.finished: set[tuple[str, int | None]] = set()
        """(question id, repeat) of every finished result."""
        self._earlier_s = 0.0
        self._started = time.monotonic()
        self._path = path
        self._ledger = ledger
        self._handle = handle
        self._open = True
        self._digest = hashlib.sha256()
        self._entries: list[str] = []
        self._texts: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    @property
    def elapsed_s(self) -> float:
        """Seconds of work on this run: earlier attempts up to their last finished question, and this one until now."""
        return self._earlier_s + time.monotonic() - self._started

    def append(self, result: QuestionResult) -> QuestionResult:
        """Write one finished question and sync it; returns the result as stored."""
        key = (result.question.id, result.repeat)
        tree = orjson.loads(jsonl.encode(result))
        with self._lock:
            self._check_open()
            if key in self.finished:
                raise HistoryError(
                    f"question {key[0]} was already finished in run {self.header.id}", "Give every question its own id."
                )
            lines, at = self._lines_of(result.question.id, result.repeat, tree)
            with jsonl.said_as_history_error(self._path, self._resume_hint()):
                start = self._append(b"".join(lines))
            self.finished.add(key)
            self._entries.append(index_entry(*key, start + at, len(lines[-1]) - 1))
        return result

    def close(self, summary: RunSummary, rows: Sequence[QuestionRow]) -> None:
        """Write rows, index and closing line, then the ledger line; the run can never be written again."""
        if summary.id != self.header.id or summary.status not in (RunStatus.COMPLETE, RunStatus.INCOMPLETE):
            raise ValueError(f"run {self.header.id} cannot close as {summary.id} {summary.status}")
        columns = encode_rows(rows)
        with self._lock, jsonl.locked(self._ledger) as ledger:
            self._check_open()
            with jsonl.said_as_history_error(self._path, self._resume_hint()):
                evidence = self._append_closing(summary, columns)
            jsonl.mend_tail(ledger, self._ledger, is_intact_line)
            line = ledger_line(summary, columns, evidence, read_ledger(self._ledger).heads)
            jsonl.append(ledger, line)
            self._leave()

    def abandon(self) -> None:
        """Stop writing; the run stays as interrupted and can be resumed."""
        with self._lock:
            if self._open:
                self._leave()

    def _append_closing(self, summary: RunSummary, columns: bytes) -> str:
        rows = jsonl.seal(b'{"schema":%d,"kind":"rows","rows":%s}' % (SCHEMA, columns))
        index, entries_at = index_line(self._entries)
        rows_at = self._append(rows + index)
        closing = {
            "schema": SCHEMA,
            "kind": "close",
            "digest": self._digest.hexdigest(),
            "rows": (rows_at, len(rows) - 1),
            "index": (rows_at + len(rows) + entries_at, len(self._entries)),
            "run": summary,
        }
        line = jsonl.seal(jsonl.encode(closing))
        self._append(line)
        return jsonl.hash_of(line) or ""

    def _lines_of(self, question_id: str, repeat: int | None, tree: Any) -> tuple[list[bytes], int]:
        """The lines of one question, its own last, and where in them that one begins."""
        lines: list[bytes] = []
        size = 0
        references: list[tuple[str, int, int, list[str | int]]] = []
        for steps, text in take_texts(tree):
            line = jsonl.seal(jsonl.encode({"schema": SCHEMA, "kind": "text", "text": text}))
            text_hash = jsonl.hash_of(line) or ""
            if text_hash not in self._texts:
                self._texts[text_hash] = (self._size + size, len(line) - 1)
                lines.append(line)
                size += len(line)
            self._texts.move_to_end(text_hash)
            references.append((text_hash, *self._texts[text_hash], steps))
        while len(self._texts) > _REMEMBERED_TEXTS:
            self._texts.popitem(last=False)
        document = {
            "schema": SCHEMA,
            "kind": "question",
            "id": question_id,
            "repeat": repeat,
            "by": own_identity(),
            "elapsed_s": round(self.elapsed_s, 3),
            "texts": references,
            "result": tree,
        }
        lines.append(jsonl.seal(jsonl.encode(document)))
        return lines, size

    def _append(self, data: bytes) -> int:
        start = jsonl.append(self._handle, data)
        self._digest.update(data)
        self._size = start + len(data)
        return start

    def _check_open(self) -> None:
        if not self._open:
            raise HistoryError(f"run {self.header.id} is closed", "Start a new run.", where=str(self._path))

    def _leave(self) -> None:
        self._open = False
        os.close(self._handle)

    def _resume_hint(self) -> str:
        return f"All finished questions are kept; when there is room: rag-audit run --resume {self.header.id}"

    def _write_header(self) -> None:
        document = {"schema": SCHEMA, "kind": "run", "by": own_identity(), "run": self.header, "planned": self.planned}
        self._append(jsonl.seal(jsonl.encode(document)))

    def _continue(self) -> None:
        """Take up what earlier attempts finished, in one pass over the file."""
        for line in jsonl.read_lines(self._path):
            self._digest.update(line.data + b"\n")
            self._size = line.offset + len(line.data) + 1
            kind = kind_of(line.data)
            if kind == "text":
                self._texts[jsonl.hash_of(line.data) or ""] = (line.offset, len(line.data))
            elif kind == "question":
                document = parse(kind, line.data, f"{self._path}:{line.number}")
                key = (str(document["id"]), document["repeat"])
                self._earlier_s = float(document["elapsed_s"])
                self.finished.add(key)
                self._entries.append(index_entry(*key, line.offset, len(line.data)))
        self._append(jsonl.seal(jsonl.encode({"schema": SCHEMA, "kind": "attempt", "by": own_identity()})))


def start_run(path: Path, ledger: Path, header: RunSummary, planned: Planned) -> RunWriter:
    """Create a run file with its header; the directory entry is synced."""
    with jsonl.said_as_history_error(path):
        if path.exists():
            raise HistoryError(f"there already is a run {header.id}", "Start the run again.", where=str(path))
        handle = jsonl.open_for_append(path)
        fcntl.flock(handle, fcntl.LOCK_EX)
        writer = RunWriter(path, ledger, handle, header, planned)
        writer._write_header()
    return writer


def resume_run(path: Path, ledger: Path) -> RunWriter:
    """Take up an interrupted run under its id; refused for a closed one and while another process writes it."""
    if read_closing(path) is not None:
        raise UsageError(f"run {path.stem} is closed", "Only interrupted runs can be resumed; start a new one.")
    header = read_header(path)
    with jsonl.said_as_history_error(path):
        handle = jsonl.open_for_append(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(f"run {path.stem} is still running", "Wait until it ends, or stop it.") from None
        jsonl.mend_tail(handle, path)
        writer = RunWriter(path, ledger, handle, header.run, header.planned)
        writer._continue()
    return writer
