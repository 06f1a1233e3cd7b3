"""Making a new ledger from the run files, beside the old one: for a ledger that was damaged or lost."""

from dataclasses import dataclass
from pathlib import Path

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.evidence import check_run_file
from rag_audit.history.layout import Layout, Problem
from rag_audit.history.ledger import ledger_line, scan_ledger
from rag_audit.history.records import settled_heads
from rag_audit.history.runfile import Closing, read_rows_line


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild wrote."""

    path: Path
    runs: int
    left_out: tuple[Problem, ...]
    """Runs that are not in the new ledger, each with the first reason."""


def rebuild_ledger(layout: Layout) -> Rebuilt:
    """Write a new ledger of every closed, unchanged run file, oldest first; neither runs nor the old ledger change.

    Lines that were sealed before get new parents, so heads printed before the rebuild are not in the new ledger.
    """
    target = layout.rebuilt
    if target.exists():
        raise HistoryError(
            "an earlier rebuild is still there", f"Look at it, then move or delete {target.name}.", where=str(target)
        )
    closings: dict[Path, Closing] = {}
    left_out: list[Problem] = []
    for path in layout.run_files():
        checked = check_run_file(path)
        if checked.closing is not None and not checked.problems:
            closings[path] = checked.closing
        elif checked.problems:
            left_out.append(checked.problems[0])
        else:
            left_out.append(Problem(str(path), None, None, "not closed"))
    there = {path.stem for path in layout.run_files()}
    for found in scan_ledger(layout.ledger):
        if not isinstance(found, Problem) and found.head.run.id not in there:
            gone = f"the run file of {found.head.run.id} is missing"
            left_out.append(Problem(str(layout.ledger), found.number, found.offset, gone))
    parents: tuple[str, ...] = ()
    with jsonl.locked(target) as handle:
        for path, closing in sorted(closings.items(), key=lambda item: (item[1].run.started_at, item[1].run.id)):
            line = ledger_line(closing.run, read_rows_line(path, closing), closing.hash, parents, settled_heads(layout))
            jsonl.append(handle, line)
            parents = (jsonl.stated_hash(line),)
    written = sum(not isinstance(found, Problem) for found in scan_ledger(target))
    return Rebuilt(target, written, tuple(left_out))
