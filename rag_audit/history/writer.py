"""Writing a run file: one writer, one synced append a question, then rows, index and closing line, then the ledger."""

import fcntl
import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec
import orjson

from rag_audit.errors import HistoryError, InputError, UsageError
from rag_audit.history import jsonl
from rag_audit.history.archive import append_run
from rag_audit.history.index import index_entry, index_line
from rag_audit.history.layout import Layout
from rag_audit.history.ledger import encode_rows
from rag_audit.history.process import own_identity
from rag_audit.history.runfile import STOPPED, Planned, kind_of, read_closing, read_header
from rag_audit.history.schema import SCHEMA, as_record, parse
from rag_audit.history.texts import take_texts
from rag_audit.model import QuestionResult, QuestionRow, RunStatus, RunSummary
from rag_audit.redact import Redactor

_REMEMBERED_TEXTS = 20_000
"""Texts whose place is remembered; one that is forgotten is stored once more, which costs only room."""


class _Finished(msgspec.Struct):
    """What a question line says before its result."""

    id: str
    repeat: int | None
    elapsed_s: float
    """Seconds of work on the run until then, earlier attempts included."""


class RunWriter:
    """The one writer of a run file; `append` has synced when it returns. Safe to call from several threads."""

    def __init__(self, layout: Layout, header: RunSummary, planned: Planned, handle: int, redactor: Redactor) -> None:
        self.header = header
        self.planned = planned
        self.finished: set[tuple[str, int | None]] = set()
        """(question id, repeat) of every finished result."""
        self._earlier_s = 0.0
        self._started = time.monotonic()
        self._layout = layout
        self._path = layout.run_file(header.id)
        self._handle = handle
        self._redactor = redactor
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

    def append(self, result: QuestionResult, *, sync: bool = True) -> QuestionResult:
        """Write one finished question and sync it; returns the result as stored, without secrets.

        An import can be read again, so it leaves the sync to `close`.
        """
        stored, tree = self._without_secrets(result)
        key = (stored.question.id, stored.repeat)
        with self._lock:
            self._check_open()
            if key in self.finished:
                raise HistoryError(
                    f"question {key[0]} was already finished in run {self.header.id}", "Give every question its own id."
                )
            lines = self._lines_of(stored, tree)
            with jsonl.writing(self._path, self._resume_hint()):
                end = self._append(b"".join(lines), sync=sync)
            length = len(lines[-1]) - 1
            self.finished.add(key)
            self._entries.append(index_entry(*key, end - length - 1, length))
        return stored

    def close(self, summary: RunSummary, rows: Sequence[QuestionRow]) -> None:
        """Write rows, index and closing line, then the ledger line; the run can never be written again."""
        if summary.id != self.header.id or summary.status not in (RunStatus.COMPLETE, RunStatus.INCOMPLETE):
            raise ValueError(f"run {self.header.id} cannot close as {summary.id} {summary.status}")
        summary = without_secrets(summary, self._redactor)
        columns = encode_rows(rows)
        with self._lock, jsonl.locked(self._layout.ledger) as ledger:
            self._check_open()
            with jsonl.writing(self._path, self._resume_hint()):
                evidence = self._append_closing(summary, columns)
            self._leave()
            append_run(self._layout, ledger, summary, columns, evidence)

    def abandon(self) -> None:
        """Stop writing; the run stays as interrupted and can be resumed. Does nothing after `close`."""
        with self._lock:
            if not self._open:
                return
            # A full disk may refuse this line: then the run counts as running until this process ends.
            with suppress(OSError):
                self._append(jsonl.seal(jsonl.encode({"schema": SCHEMA, "kind": STOPPED})))
            self._leave()

    def discard(self) -> None:
        """Remove the file of a run that cannot be finished: an import is archived as a whole or not at all."""
        with self._lock:
            if self._open:
                self._leave()
                self._path.unlink()

    def _without_secrets(self, result: QuestionResult) -> tuple[QuestionResult, Any]:
        """The result as it may be stored, and as parsed JSON."""
        encoded = jsonl.encode(result)
        tree = orjson.loads(encoded)
        if not self._redactor.may_touch(encoded) or self._redactor.tree(tree) == tree:
            return result, tree
        if result.claim_judgment is not None:
            result = replace(result, claim_judgment=self._redactor.judgment(result.claim_judgment))
        clean = self._redactor.tree(orjson.loads(jsonl.encode(result)))
        return as_record(clean, QuestionResult, str(self._path)), clean

    def _append_closing(self, summary: RunSummary, columns: bytes) -> str:
        """Write the last lines; returns the hash of the closing line."""
        rows = jsonl.seal(b'{"schema":%d,"kind":"rows","rows":%s}' % (SCHEMA, columns))
        rows_length = len(rows)
        rows_at = self._append(rows, sync=False) - rows_length
        del rows
        index, entries_at = index_line(self._entries)
        self._append(index)
        closing = {
            "schema": SCHEMA,
            "kind": "close",
            "digest": self._digest.hexdigest(),
            "rows": (rows_at, rows_length - 1),
            "index": (rows_at + rows_length + entries_at, len(self._entries)),
            "run": summary,
        }
        line = jsonl.seal(jsonl.encode(closing))
        self._append(line)
        return jsonl.stated_hash(line)

    def _lines_of(self, result: QuestionResult, tree: Any) -> list[bytes]:
        """The lines of one question: its new texts, and its own line last."""
        lines: list[bytes] = []
        end = self._size
        references: list[tuple[str, int, int, list[str | int]]] = []
        for steps, text in take_texts(tree):
            line = jsonl.seal(jsonl.encode({"schema": SCHEMA, "kind": "text", "text": text}))
            text_hash = jsonl.stated_hash(line)
            if text_hash not in self._texts:
                self._texts[text_hash] = (end, len(line) - 1)
                lines.append(line)
                end += len(line)
            self._texts.move_to_end(text_hash)
            references.append((text_hash, *self._texts[text_hash], steps))
        document = {
            "schema": SCHEMA,
            "kind": "question",
            "id": result.question.id,
            "repeat": result.repeat,
            "by": own_identity(),
            "elapsed_s": round(self.elapsed_s, 3),
            "texts": references,
            "result": tree,
        }
        return [*lines, jsonl.seal(jsonl.encode(document))]

    def _append(self, data: bytes, *, sync: bool = True) -> int:
        """Append lines in one write; returns where the file ends then."""
        try:
            self._size = jsonl.append(self._handle, data, sync=sync) + len(data)
        except OSError:
            self._texts.clear()
            raise
        self._digest.update(data)
        while len(self._texts) > _REMEMBERED_TEXTS:
            self._texts.popitem(last=False)
        return self._size

    def _check_open(self) -> None:
        if not self._open:
            raise HistoryError(f"run {self.header.id} is closed", "Start a new run.", where=str(self._path))

    def _leave(self) -> None:
        self._open = False
        os.close(self._handle)

    def _resume_hint(self) -> str:
        return f"rag-audit run --resume {self.header.id} (all finished questions are kept)"

    def write_header(self) -> None:
        """The first line."""
        document = {"schema": SCHEMA, "kind": "run", "by": own_identity(), "run": self.header, "planned": self.planned}
        self._append(jsonl.seal(jsonl.encode(document)))

    def take_up(self) -> None:
        """Learn in one pass over the file what earlier attempts finished, and say that a new one begins."""
        for line in jsonl.read_lines(self._path):
            self._digest.update(line.data + b"\n")
            self._size = line.offset + len(line.data) + 1
            kind = kind_of(line.data)
            if kind == "text":
                self._texts[jsonl.stated_hash(line.data)] = (line.offset, len(line.data))
            elif kind == "question":
                where = f"{self._path}:{line.number}"
                question = as_record(parse(kind, line.data, where), _Finished, where)
                self._earlier_s = question.elapsed_s
                self.finished.add((question.id, question.repeat))
                self._entries.append(index_entry(question.id, question.repeat, line.offset, len(line.data)))
        self._append(jsonl.seal(jsonl.encode({"schema": SCHEMA, "kind": "attempt", "by": own_identity()})))


def without_secrets(summary: RunSummary, redactor: Redactor) -> RunSummary:
    """A summary as it may be stored."""
    tree = orjson.loads(jsonl.encode(summary))
    clean = redactor.tree(tree)
    return summary if clean == tree else as_record(clean, RunSummary, summary.id)


def start_run(layout: Layout, header: RunSummary, planned: Planned, redactor: Redactor) -> RunWriter:
    """Create a run file with its header; the directory entry is synced.

    InputError where a question's id is not fit to be stored: runs are joined by ids, so none is replaced.
    """
    for question_id, _ in planned:
        if (shown := redactor.text(question_id)) != question_id:
            raise InputError(
                f"the question id {shown} holds a secret or matches a pattern of `redact`",
                "Ids are stored as they are: give the question another id, or narrow the pattern.",
            )
    path = layout.run_file(header.id)
    with jsonl.writing(path):
        try:
            handle = jsonl.open_for_append(path, new=True)
        except FileExistsError:
            raise HistoryError(f"there already is a run {header.id}", "Start the run again.", where=str(path)) from None
        fcntl.flock(handle, fcntl.LOCK_EX)
        writer = RunWriter(layout, without_secrets(header, redactor), planned, handle, redactor)
        try:
            writer.write_header()
        except OSError:
            os.close(handle)
            path.unlink()
            raise
    return writer


def resume_run(layout: Layout, run_id: str, redactor: Redactor) -> RunWriter:
    """Take up an interrupted run under its id; refused for a closed one and while another process writes it."""
    path = layout.run_file(run_id)
    if read_closing(path) is not None:
        raise UsageError(f"run {run_id} is closed", "Only interrupted runs can be resumed; start a new one.")
    header = read_header(path)
    with jsonl.writing(path):
        handle = jsonl.open_for_append(path)
        writer = RunWriter(layout, header.run, header.planned, handle, redactor)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            jsonl.mend_tail(handle, path)
            writer.take_up()
        except BlockingIOError:
            os.close(handle)
            raise UsageError(f"run {run_id} is still running", "Wait until it ends, or stop it.") from None
        except BaseException:
            os.close(handle)
            raise
    return writer
