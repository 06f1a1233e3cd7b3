"""Proving that nothing in history/ was edited, removed, swapped or doubled; reads, never writes."""

from dataclasses import dataclass
from pathlib import Path

from rag_audit.history import jsonl
from rag_audit.history.ledger import Damage, read_ledger
from rag_audit.history.runfile import read_closing


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What verify found: problems are about archived data, notes leave `ok` true."""

    ok: bool
    runs: int
    head: str | None
    problems: tuple[Damage, ...]
    notes: tuple[str, ...]


def verify_history(folder: Path, head: str | None = None) -> VerifyReport:
    """Check every file of a history; with `head`, also that everything up to that hash is still there."""
    path = folder / "eval_history.jsonl"
    ledger = read_ledger(path)
    problems = [found for found in ledger.damage if found.problem != "torn"]
    notes = [f"{found.file}: torn last record" for found in ledger.damage if found.problem == "torn"]
    known = {entry.hash for entry in ledger.entries}
    for entry in ledger.entries:
        if not set(entry.head.parents) <= known:
            problems.append(Damage(str(path), entry.number, entry.offset, "a line before this one was removed"))
    archived = {entry.head.run.id for entry in ledger.entries}
    for file in sorted((folder / "runs").glob("*.jsonl")):
        closing = read_closing(file)
        if file.stem not in archived:
            notes.append(f"{file.name}: {'closed, not in the ledger' if closing else 'not closed'}")
    for file in (folder / "samples.jsonl", *sorted((folder / "audits").glob("*.jsonl"))):
        problems.extend(
            Damage(str(file), line.number, line.offset, "this line was changed after it was written")
            for line in jsonl.read_lines(file)
            if line.terminated and not jsonl.is_intact(line.data)
        )
    if head is not None and not set(head.split("+")) <= known:
        problems.append(Damage(str(path), None, None, f"head {head} is not in the ledger"))
    return VerifyReport(
        not problems, len(ledger.entries), "+".join(ledger.heads) or None, tuple(problems), tuple(notes)
    )
