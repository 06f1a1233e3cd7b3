"""Proving that nothing in history/ was edited, removed, swapped or doubled; reads, never writes."""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.evidence import check_run_file
from rag_audit.history.graph import heads_of
from rag_audit.history.layout import Layout, Problem
from rag_audit.history.ledger import Entry, read_rows, scan_ledger
from rag_audit.history.records import content_id, read_parents, record_of
from rag_audit.history.runfile import Closing

HEAD_LENGTH = 16
"""Hex digits of each hash in a head."""
_PART = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What verify found: problems are about archived data, notes leave `ok` true."""

    ok: bool
    runs: int
    head: str | None
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


class _Findings:
    """Gathers problems and notes, with files named from the project's folder on."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def problem(self, path: Path, line: int | None, offset: int | None, problem: str) -> None:
        self.problems.append(Problem(self.layout.named(path), line, offset, problem))

    def note(self, path: Path, text: str) -> None:
        self.notes.append(f"{self.layout.named(path)}: {text}")

    def add(self, found: Problem, *, archived: bool = True) -> None:
        """Take what a check found; torn records, and whatever is not archived yet, are notes."""
        path = Path(found.file)
        if found.torn or not archived:
            place = f"line {found.line}, byte {found.offset}: " if found.line is not None else ""
            self.note(path, f"{place}{found.problem}")
        else:
            self.problems.append(replace(found, file=self.layout.named(path)))


def head_of(heads: Iterable[str]) -> str | None:
    """The text that anchors the end of everything: the current heads, joined by +; None in an empty history."""
    return "+".join(sorted({record[:HEAD_LENGTH] for record in heads})) or None


def verify_history(layout: Layout, head: str | None = None) -> VerifyReport:
    """Check every file of a history; with `head`, also that everything up to that head is still there."""
    findings = _Findings(layout)
    records = _check_records(findings)
    entries = _check_ledger(findings, frozenset(records))
    _check_runs(findings, entries)
    for path in layout.torn_files():
        findings.note(path, f"{path.stat().st_size} bytes that a crash tore off are kept here")
    known = {entry.hash for entry in entries} | records.keys()
    if head is not None:
        _check_head(findings, head, known)
    ledger_heads = heads_of({entry.hash: entry.head.parents for entry in entries})
    return VerifyReport(
        ok=not findings.problems,
        runs=len({entry.head.run.id for entry in entries}),
        head=head_of((*ledger_heads, *heads_of(records))),
        problems=tuple(findings.problems),
        notes=tuple(findings.notes),
    )


def _check_head(findings: _Findings, head: str, known: set[str]) -> None:
    for part in head.split("+"):
        if not (_PART.fullmatch(part) and any(record.startswith(part) for record in known)):
            path = findings.layout.ledger
            size = path.stat().st_size if path.exists() else 0
            findings.problem(path, None, size, f"nothing here has the hash {part!r}: records at the end were removed")


def _check_ledger(findings: _Findings, records: frozenset[str]) -> list[Entry]:
    path = findings.layout.ledger
    entries: list[Entry] = []
    seen: dict[str, Entry] = {}
    runs: dict[str, Entry] = {}
    scanned = list(scan_ledger(path))
    everything = {found.hash for found in scanned if isinstance(found, Entry)}
    for found in scanned:
        if isinstance(found, Problem):
            findings.add(found)
            continue
        for problem in _problems_of(path, found, seen, everything, records):
            findings.problem(path, found.number, found.offset, problem)
        run_id = found.head.run.id
        twin = runs.setdefault(run_id, found)
        if twin is not found and found.hash not in seen:
            if (twin.head.evidence, twin.head.run) == (found.head.evidence, found.head.run):
                findings.note(path, f"line {found.number}: two branches both archived run {run_id}; it counts once")
            else:
                findings.problem(path, found.number, found.offset, f"run {run_id} is in the ledger twice")
        if found.hash not in seen:
            entries.append(found)
        seen.setdefault(found.hash, found)
    return entries


def _problems_of(
    path: Path, entry: Entry, seen: dict[str, Entry], everything: set[str], records: frozenset[str]
) -> Iterator[str]:
    if entry.hash in seen:
        yield f"this line is doubled: it is line {seen[entry.hash].number} again"
        return
    yield from _problems_of_parents(entry.head.parents, everything, seen)
    for record in entry.head.audits:
        if record not in records:
            yield f"a decision or draw made before this run closed is missing or was changed ({record[:HEAD_LENGTH]})"
    try:
        read_rows(path, entry)
    except HistoryError as error:
        yield error.message


def _problems_of_parents(parents: Iterable[str], everything: Container[str], seen: Container[str]) -> Iterator[str]:
    """What a line names must be in its file, and before it: also after a merge, which keeps the order of each side."""
    for parent in parents:
        if parent not in everything:
            yield f"a line that was there when this one was written is missing or was changed ({parent[:HEAD_LENGTH]})"
        elif parent not in seen:
            yield "this line stands before one that was written earlier: lines were swapped"


def _check_runs(findings: _Findings, entries: list[Entry]) -> None:
    layout = findings.layout
    closings: dict[str, Closing | None] = {}
    archived = {entry.head.run.id for entry in entries}
    for path in layout.run_files():
        checked = check_run_file(path)
        closings[path.stem] = checked.closing
        for found in checked.problems:
            findings.add(found, archived=path.stem in archived or checked.closing is not None)
        if path.stem not in archived:
            findings.note(path, "closed, but not in the ledger yet" if checked.closing else "not closed")
    for entry in entries:
        for problem in _evidence_problems(entry, closings):
            findings.problem(layout.ledger, entry.number, entry.offset, problem)


def _evidence_problems(entry: Entry, closings: dict[str, Closing | None]) -> Iterator[str]:
    run_id = entry.head.run.id
    if run_id not in closings:
        yield f"the run file of {run_id} is missing"
        return
    closing = closings[run_id]
    if closing is None:
        yield f"the run file of {run_id} has no closing line any more"
    elif closing.hash != entry.head.evidence:
        yield f"the run file of {run_id} is not the one that was archived"
    elif closing.run != entry.head.run:
        yield f"the summary is not the one in the run file of {run_id}"


def _check_records(findings: _Findings) -> dict[str, tuple[str, ...]]:
    """Check decisions and draws; returns the hash of every good one with its parents."""
    known: dict[str, tuple[str, ...]] = {}
    layout = findings.layout
    for path, kind in ((layout.samples, "sample"), *((path, "decision") for path in layout.audit_files())):
        try:
            parents = read_parents(path)
            for found in _record_problems(path, kind, parents):
                findings.add(found)
            known.update(parents)
        except HistoryError as error:
            findings.problem(path, None, None, error.message)
    return known


def _record_problems(path: Path, kind: str, parents: dict[str, tuple[str, ...]]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for line in jsonl.read_lines(path):
        if not line.terminated and not jsonl.is_intact(line.data):
            yield Problem(str(path), line.number, line.offset, "the last record is torn", torn=True)
            continue
        for problem in _problems_of_record(line, kind, path, seen, parents):
            yield Problem(str(path), line.number, line.offset, problem)


def _problems_of_record(
    line: jsonl.Line, kind: str, path: Path, seen: dict[str, int], parents: dict[str, tuple[str, ...]]
) -> Iterator[str]:
    if not jsonl.is_intact(line.data):
        yield "this line was changed after it was written"
        return
    stated = jsonl.stated_hash(line.data)
    if stated in seen:
        yield f"this line is doubled: it is line {seen[stated]} again"
    seen.setdefault(stated, line.number)
    yield from _problems_of_parents(parents[stated], parents, seen)
    try:
        record = record_of(kind, line.data, f"{path}:{line.number}")
    except HistoryError as error:
        yield error.message
        return
    if content_id(orjson.loads(line.data)[kind]) != record.id:
        yield f"the content of {kind} {record.id} is not what its id says"
