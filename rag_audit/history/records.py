"""Decisions and samples: sealed lines that each stand alone; a set, in which order does not matter."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_audit.history import jsonl
from rag_audit.history.graph import heads_of
from rag_audit.history.schema import SCHEMA, as_record, parse, unreadable
from rag_audit.model import AuditSample, Decision

_ID_LENGTH = 16


def content_id(record: Decision | AuditSample) -> str:
    """The id of a record: hash of all its other fields."""
    document = jsonl.orjson_tree(record)
    del document["id"]
    return jsonl.digest(jsonl.encode(document))[:_ID_LENGTH]


def audit_file(folder: Path, reviewer: str) -> Path:
    """The file of one reviewer; a name that is no plain file name gets a hash."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", reviewer).strip(".-")[:60]
    name = plain if plain == reviewer else f"{plain or 'reviewer'}-{jsonl.digest(jsonl.encode(reviewer))[:8]}"
    return folder / f"{name}.jsonl"


def record_decision(folder: Path, decision: Decision) -> Decision:
    """Append one decision to its reviewer's file and sync it; one that is already there is not doubled."""
    decision = replace(decision, id=content_id(decision))
    _append_once(audit_file(folder, decision.reviewer), "decision", decision.id, decision)
    return decision


def record_sample(path: Path, sample: AuditSample) -> AuditSample:
    """Append one draw and sync it; one that is already there is not doubled."""
    sample = replace(sample, id=content_id(sample))
    _append_once(path, "sample", sample.id, sample)
    return sample


def read_decisions(folder: Path) -> list[Decision]:
    """All decisions of all reviewers, by time; each once."""
    found: dict[str, Decision] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for document, where in _documents(path, "decision"):
            decision = as_record(document, Decision, where)
            found.setdefault(decision.id, decision)
    return sorted(found.values(), key=lambda decision: (decision.time, decision.id))


def read_samples(path: Path) -> list[AuditSample]:
    """All draws, by time; each once."""
    found: dict[str, AuditSample] = {}
    for document, where in _documents(path, "sample"):
        sample = as_record(document, AuditSample, where)
        found.setdefault(sample.id, sample)
    return sorted(found.values(), key=lambda sample: (sample.time, sample.id))


def _documents(path: Path, kind: str) -> Iterator[tuple[Any, str]]:
    for line in jsonl.read_lines(path):
        where = f"{path}:{line.number}"
        if jsonl.is_intact(line.data):
            yield parse(kind, line.data, where).get(kind), where
        elif line.terminated:
            raise unreadable(where, "it was changed after it was written")


def _append_once(path: Path, kind: str, record_id: str, record: Decision | AuditSample) -> None:
    with jsonl.locked(path) as handle:
        jsonl.mend_tail(handle, path)
        parents: dict[str, list[str]] = {}
        for line in jsonl.read_lines(path):
            document = parse(kind, line.data, f"{path}:{line.number}")
            if document[kind]["id"] == record_id:
                return
            parents[document["hash"]] = document["parents"]
        body = {"schema": SCHEMA, "kind": kind, "parents": heads_of(parents), kind: record}
        jsonl.append(handle, jsonl.seal(jsonl.encode(body)))
