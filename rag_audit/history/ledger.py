"""The ledger: one line a closed run, head first, so that listing a thousand runs reads a thousand heads.

A line is `{"hash":H,"schema":N,"sizes":[head bytes, rows bytes],"head":{...},"rows":{...}}`. H seals everything from
`"schema"` to the end of the head, and the head holds the hash of the rows. The sizes say where the rows begin, so
nothing inside an imported context can pass for the end of the head.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.columns import columns_of, rows_of
from rag_audit.history.graph import heads_of, in_order
from rag_audit.history.layout import Problem
from rag_audit.history.schema import SCHEMA, as_record, parse, unreadable
from rag_audit.model import QuestionRow, RunSummary

_PREFIX = re.compile(rb'\{"hash":"([0-9a-f]{64})",("schema":(\d{1,9}),"sizes":\[(\d{1,15}),(\d{1,15})\],"head":)')
_LONGEST_PREFIX = 160
_BETWEEN = b',"rows":'
_END = b"}\n"
_BLOCK = 1 << 14


class Head(msgspec.Struct, frozen=True):
    """What a ledger line says before its rows."""

    parents: tuple[str, ...]
    evidence: str
    """Hash of the run file's closing line, which holds the digest of all lines before it."""
    rows_hash: str
    run: RunSummary
    audits: tuple[str, ...] = ()
    """The latest decisions and draws when the run was closed, so that none before them can vanish."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One good line of the ledger, its rows still unread."""

    hash: str
    head: Head
    number: int
    offset: int
    rows_at: int
    rows_bytes: int
    schema: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """All good lines in ledger order (oldest first), each run once, and the lines that cannot be used."""

    entries: tuple[Entry, ...]
    damage: tuple[Problem, ...]
    heads: tuple[str, ...]
    """The lines that no other line names as its parent."""

    def find(self, run_id: str) -> Entry | None:
        """The line of one run."""
        return next((entry for entry in self.entries if entry.head.run.id == run_id), None)


def ledger_line(
    summary: RunSummary, rows: bytes, evidence: str, parents: Sequence[str], audits: Sequence[str] = ()
) -> bytes:
    """One line of the ledger; `rows` is the JSON of the columns."""
    head = jsonl.encode(
        {
            "parents": parents,
            "audits": audits,
            "evidence": evidence,
            "rows_hash": jsonl.digest(rows),
            "run": summary,
        }
    )
    sealed = b'"schema":%d,"sizes":[%d,%d],"head":%s' % (SCHEMA, len(head), len(rows), head)
    return b'{"hash":"%s",%s%s%s%s' % (jsonl.digest(sealed).encode(), sealed, _BETWEEN, rows, _END)


def encode_rows(rows: Sequence[QuestionRow]) -> bytes:
    """The rows as JSON columns."""
    return jsonl.encode(columns_of(rows))


def is_intact_line(line: bytes) -> bool:
    """Whether a ledger line (without its line end) is what was written, rows included."""
    prefix = _PREFIX.match(line)
    if prefix is None:
        return False
    head_at, head_bytes, rows_bytes = prefix.end(), int(prefix[4]), int(prefix[5])
    rows_at = head_at + head_bytes + len(_BETWEEN)
    if len(line) != rows_at + rows_bytes + 1 or jsonl.digest(prefix[2] + line[head_at : head_at + head_bytes]) != (
        prefix[1].decode()
    ):
        return False
    try:
        head = msgspec.json.decode(line[head_at : head_at + head_bytes])
    except ValueError:
        return False
    return isinstance(head, dict) and head.get("rows_hash") == jsonl.digest(line[rows_at : rows_at + rows_bytes])


def read_ledger(path: Path) -> Ledger:
    """Read the heads of all lines; a line that cannot be used becomes damage and hides no other."""
    entries: dict[str, Entry] = {}
    damage: list[Problem] = []
    for found in scan_ledger(path):
        if isinstance(found, Problem):
            damage.append(found)
        else:
            entries.setdefault(found.hash, found)
    parents = {entry.hash: entry.head.parents for entry in entries.values()}
    order = in_order(parents, lambda record: (entries[record].head.run.started_at, entries[record].head.run.id))
    runs: dict[str, Entry] = {}
    for record in order:
        runs.setdefault(entries[record].head.run.id, entries[record])
    return Ledger(tuple(runs.values()), tuple(damage), heads_of(parents))


def read_rows(path: Path, entry: Entry) -> tuple[QuestionRow, ...]:
    """The rows of one line; HistoryError if they are not what was written."""
    where = f"{path}:{entry.number}"
    with jsonl.opened(path) as file:
        file.seek(entry.rows_at)
        data = file.read(entry.rows_bytes)
    if jsonl.digest(data) != entry.head.rows_hash:
        raise HistoryError(
            "the rows of this run were changed after they were written",
            "Run `rag-audit verify`; `rag-audit history rebuild` takes them from the run file.",
            where=where,
        )
    if entry.schema == SCHEMA:
        return rows_of(msgspec.json.decode(data), where)
    return rows_of(parse("rows", b'{"schema":%d,"rows":%s}' % (entry.schema, data), where)["rows"], where)


def scan_ledger(path: Path) -> Iterator[Entry | Problem]:
    """Every line in file order; what is between head and end of a line is not read."""
    if not path.exists():
        return
    with jsonl.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        offset, number = 0, 0
        while offset < size:
            number += 1
            found, offset = _read_head(file, str(path), number, offset)
            yield found


def _read_head(file: BinaryIO, name: str, number: int, offset: int) -> tuple[Entry | Problem, int]:
    """One line and where the next one begins."""
    file.seek(offset)
    block = file.read(_BLOCK)
    prefix = _PREFIX.match(block[:_LONGEST_PREFIX])
    if prefix is None:
        return _unusable(file, name, number, offset, "this is no line of a ledger")
    head_at, head_bytes, rows_bytes = prefix.end(), int(prefix[4]), int(prefix[5])
    rows_at = offset + head_at + head_bytes + len(_BETWEEN)
    head = block[head_at : head_at + head_bytes]
    if len(head) < head_bytes:
        file.seek(offset + head_at)
        head = file.read(head_bytes)
    file.seek(rows_at + rows_bytes)
    # A whole record whose line end was cut off is still a good one.
    ends_well = file.read(len(_END)) in (_END, _END[:1])
    if not ends_well or jsonl.digest(prefix[2] + head) != prefix[1].decode():
        return _unusable(file, name, number, offset, "this line was changed after it was written")
    try:
        decoded = _decode(head, int(prefix[3]), f"{name}:{number}")
    except HistoryError as error:
        return _unusable(file, name, number, offset, error.message)
    entry = Entry(prefix[1].decode(), decoded, number, offset, rows_at, rows_bytes, int(prefix[3]))
    return entry, rows_at + rows_bytes + len(_END)


def _unusable(file: BinaryIO, name: str, number: int, offset: int, problem: str) -> tuple[Problem, int]:
    file.seek(offset)
    line = file.readline()
    if line.endswith(b"\n"):
        return Problem(name, number, offset, problem), offset + len(line)
    return Problem(name, number, offset, "the last record is torn", torn=True), offset + len(line)


_HEAD = msgspec.json.Decoder(Head)


def _decode(head: bytes, schema: int, where: str) -> Head:
    if schema == SCHEMA:
        try:
            return _HEAD.decode(head)
        except (msgspec.MsgspecError, ValueError) as error:
            raise unreadable(where, str(error)) from error
    document: Mapping[str, Any] = parse("ledger", b'{"schema":%d,"head":%s}' % (schema, head), where)
    return as_record(document["head"], Head, where)
