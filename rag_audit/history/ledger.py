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
from typing import Any, BinaryIO, NamedTuple

import msgspec

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.columns import columns_of, rows_of
from rag_audit.history.graph import heads_of, in_order
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


class Damage(NamedTuple):
    """A line of a history file that cannot be used."""

    file: str
    line: int | None
    offset: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All good lines in ledger order (oldest first), and the lines that are none."""

    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """The lines that no other line names as its parent."""
        return heads_of({entry.hash: entry.head.parents for entry in self.entries})

    def find(self, run_id: str) -> Entry | None:
        """The line of one run."""
        return next((entry for entry in self.entries if entry.head.run.id == run_id), None)


def ledger_line(summary: RunSummary, rows: bytes, evidence: str, parents: Sequence[str]) -> bytes:
    """One line of the ledger; `rows` is the JSON of the columns."""
    head = jsonl.encode({"parents": parents, "evidence": evidence, "rows_hash": jsonl.digest(rows), "run": summary})
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
    damage: list[Damage] = []
    for found in _scan(path):
        if isinstance(found, Damage):
            damage.append(found)
        elif found.hash not in entries:
            entries[found.hash] = found
    order = in_order(
        {entry.hash: entry.head.parents for entry in entries.values()},
        lambda record: (entries[record].head.run.started_at, entries[record].head.run.id),
    )
    return Ledger(tuple(entries[record] for record in order), tuple(damage))


def read_rows(path: Path, entry: Entry) -> tuple[QuestionRow, ...]:
    """The rows of one line; HistoryError if they are not what was written."""
    where = f"{path}:{entry.number}"
    with path.open("rb") as file:
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


def _scan(path: Path) -> Iterator[Entry | Damage]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        size = os.fstat(file.fileno()).st_size
        offset, number = 0, 0
        while offset < size:
            number += 1
            found, offset = _read_head(file, str(path), number, offset)
            yield found


def _read_head(file: BinaryIO, name: str, number: int, offset: int) -> tuple[Entry | Damage, int]:
    """One line and where the next one begins."""
    file.seek(offset)
    block = file.read(_BLOCK)
    prefix = _PREFIX.match(block[:_LONGEST_PREFIX])
    if prefix is None:
        end, terminated = _end_of_line(file, offset)
        problem = "this line is no ledger line" if terminated else "torn"
        return Damage(name, number, offset, problem), end
    head_at, head_bytes, rows_bytes = prefix.end(), int(prefix[4]), int(prefix[5])
    rows_at = offset + head_at + head_bytes + len(_BETWEEN)
    head = block[head_at : head_at + head_bytes]
    if len(head) < head_bytes:
        head += file.read(head_bytes - len(head))
    file.seek(rows_at + rows_bytes)
    ends_well = file.read(2) == _END
    if not ends_well or jsonl.digest(prefix[2] + head) != prefix[1].decode():
        end, terminated = _end_of_line(file, offset)
        problem = "this line was changed after it was written" if terminated else "torn"
        if terminated or not is_intact_line(_bytes_of(file, offset, end)):
            return Damage(name, number, offset, problem), end
        rows_end = end
    else:
        rows_end = rows_at + rows_bytes + len(_END)
    try:
        decoded = _decode(head, int(prefix[3]), f"{name}:{number}")
    except HistoryError as error:
        return Damage(name, number, offset, error.message), rows_end
    return Entry(prefix[1].decode(), decoded, number, offset, rows_at, rows_bytes, int(prefix[3])), rows_end


_HEAD = msgspec.json.Decoder(Head)


def _decode(head: bytes, schema: int, where: str) -> Head:
    if schema == SCHEMA:
        try:
            return _HEAD.decode(head)
        except (msgspec.MsgspecError, ValueError) as error:
            raise unreadable(where, str(error)) from error
    document: Mapping[str, Any] = parse("ledger", b'{"schema":%d,"head":%s}' % (schema, head), where)
    return as_record(document["head"], Head, where)


def _bytes_of(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _end_of_line(file: BinaryIO, offset: int) -> tuple[int, bool]:
    """Where the line at this offset ends, after its line end, and whether it has one."""
    file.seek(offset)
    length = len(file.readline())
    file.seek(offset + max(length - 1, 0))
    return offset + length, file.read(1) == b"\n"
