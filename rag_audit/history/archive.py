"""The ledger's side of closing a run: its line is appended under the lock, joining all heads."""

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.layout import Layout
from rag_audit.history.ledger import Ledger, is_intact_line, ledger_line, read_ledger
from rag_audit.history.records import settled_heads
from rag_audit.history.runfile import Closing, read_closing, read_rows_line
from rag_audit.model import RunSummary


def append_run(layout: Layout, handle: int, summary: RunSummary, columns: bytes, evidence: str) -> None:
    """Append one closed run to the ledger, whose lock is held; a run that is in it already is not doubled."""
    jsonl.mend_tail(handle, layout.ledger, is_intact_line)
    ledger = read_ledger(layout.ledger)
    if ledger.find(summary.id) is None:
        jsonl.append(handle, ledger_line(summary, columns, evidence, ledger.heads, settled_heads(layout)))


def archive_leftovers(layout: Layout) -> None:
    """Bring runs into the ledger whose process died between their closing line and the ledger's line."""
    if not left_over(layout, read_ledger(layout.ledger)):
        return
    with jsonl.locked(layout.ledger) as handle:
        for run_id, closing in left_over(layout, read_ledger(layout.ledger)):
            columns = read_rows_line(layout.run_file(run_id), closing)
            append_run(layout, handle, closing.run, columns, closing.hash)


def left_over(layout: Layout, ledger: Ledger) -> list[tuple[str, Closing]]:
    """Closed runs that are not in the ledger; files that cannot be read are left to `verify`."""
    archived = {entry.head.run.id for entry in ledger.entries}
    found: list[tuple[str, Closing]] = []
    for path in layout.run_files():
        if path.stem in archived:
            continue
        try:
            closing = read_closing(path)
        except HistoryError:
            continue
        if closing is not None and closing.run.id == path.stem:
            found.append((path.stem, closing))
    return found
