"""Decisions and samples: sealed lines that each stand alone; a set, which is read by time, not by place."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import orjson

from rag_audit.history import jsonl
from rag_audit.history.graph import heads_of
from rag_audit.history.layout import Layout
from rag_audit.history.schema import SCHEMA, as_record, parse, unreadable
from rag_audit.model import AuditSample, Decision
from rag_audit.redact import Redactor

Record = TypeVar("Record", Decision, AuditSample)
_ID_LENGTH = 16


def content_id(document: Mapping[str, Any]) -> str:
    """The id of a record, as parsed JSON: hash of all its other fields."""
    return jsonl.digest(jsonl.encode({name: value for name, value in document.items() if name != "id"}))[:_ID_LENGTH]


def audit_file(layout: Layout, reviewer: str) -> Path:
    """The file of one reviewer; a name that is no plain file name gets a hash."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", reviewer).strip(".-")[:60]
    name = plain if plain == reviewer else f"{plain or 'reviewer'}-{jsonl.digest(jsonl.encode(reviewer))[:8]}"
    return layout.folder / "audits" / f"{name}.jsonl"


def record_decision(layout: Layout, decision: Decision, redactor: Redactor) -> Decision:
    """Append one decision to its reviewer's file and sync it; one that is already there is not doubled."""
    decision = _identified(decision, redactor)
    _append_once(audit_file(layout, decision.reviewer), "decision", decision)
    return decision


def record_sample(layout: Layout, sample: AuditSample, redactor: Redactor) -> AuditSample:
    """Append one draw and sync it; one that is already there is not doubled."""
    sample = _identified(sample, redactor)
    _append_once(layout.samples, "sample", sample)
    return sample


def read_decisions(layout: Layout) -> list[Decision]:
    """All decisions of all reviewers, by time; each once."""
    found = {one.id: one for path in layout.audit_files() for one in _records(path, "decision", Decision)}
    return sorted(found.values(), key=lambda decision: (decision.time, decision.id))


def read_samples(layout: Layout) -> list[AuditSample]:
    """All draws, by time; each once."""
    found = {one.id: one for one in _records(layout.samples, "sample", AuditSample)}
    return sorted(found.values(), key=lambda sample: (sample.time, sample.id))


def record_heads(layout: Layout) -> tuple[str, ...]:
    """The decisions and draws that no later one in their file names as its parent."""
    files = (*layout.audit_files(), layout.samples)
    return tuple(head for path in files for head in heads_of(read_parents(path)))


def settled_heads(layout: Layout) -> tuple[str, ...]:
    """`record_heads` as a ledger line may name them: each file is synced, and nobody is in the middle of an append.

    Else a line could name a decision that a power cut, or its writer's full disk, takes back.
    """
    found: list[str] = []
    for path in (*layout.audit_files(), layout.samples):
        if path.exists():
            with jsonl.settled(path):
                found += heads_of(read_parents(path))
    return tuple(found)


def read_parents(path: Path) -> dict[str, tuple[str, ...]]:
    """Hash of every intact record of a file to the hashes of its parents."""
    return {record_hash: link.parents for record_hash, link in _links(path)}


def record_of(kind: str, line: bytes, where: str) -> Decision | AuditSample:
    """The decision or the sample of one line; HistoryError at `where` if it is none."""
    document = parse(kind, line, where).get(kind)
    return as_record(document, Decision, where) if kind == "decision" else as_record(document, AuditSample, where)


def _identified(record: Record, redactor: Redactor) -> Record:
    """The record without secrets, with its content as its id."""
    tree = redactor.tree(orjson.loads(jsonl.encode(record)))
    clean = as_record(tree, type(record), "this record")
    return replace(clean, id=content_id(orjson.loads(jsonl.encode(clean))))


def _records(path: Path, kind: str, record: type[Record]) -> Iterator[Record]:
    for line in jsonl.read_lines(path):
        where = f"{path}:{line.number}"
        if jsonl.is_intact(line.data):
            yield as_record(parse(kind, line.data, where).get(kind), record, where)
        elif line.terminated:
            raise unreadable(where, "it was changed after it was written")


class _Named(msgspec.Struct):
    id: str


class _Link(msgspec.Struct):
    """What joins a record to the others, the same in every schema."""

    parents: tuple[str, ...] = ()
    decision: _Named | None = None
    sample: _Named | None = None


def _links(path: Path) -> Iterator[tuple[str, _Link]]:
    """Hash and link of every intact record; one that is none of ours joins nothing, and `verify` names it."""
    for line in jsonl.read_lines(path):
        if jsonl.is_intact(line.data):
            try:
                link = msgspec.json.decode(line.data, type=_Link)
            except (msgspec.MsgspecError, ValueError):
                link = _Link()
            yield jsonl.stated_hash(line.data), link


def _append_once(path: Path, kind: str, record: Decision | AuditSample) -> None:
    with jsonl.locked(path) as handle:
        jsonl.mend_tail(handle, path)
        known = dict(_links(path))
        if any(named and named.id == record.id for link in known.values() for named in (link.decision, link.sample)):
            return
        parents = heads_of({record_hash: link.parents for record_hash, link in known.items()})
        body = {"schema": SCHEMA, "kind": kind, "parents": parents, kind: record}
        jsonl.append(handle, jsonl.seal(jsonl.encode(body)))
