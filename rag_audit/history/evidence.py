"""Checking one run file in a single pass: every line's hash, every place in the index, the digest of the whole."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from rag_audit.errors import HistoryError
from rag_audit.history import jsonl
from rag_audit.history.index import ENTRY, index_entry
from rag_audit.history.layout import Problem
from rag_audit.history.runfile import KINDS, Closing, closing_of, kind_of, read_header

_ONLY_ONCE = frozenset({"run", "question", "close"})
"""Kinds of which no line is written twice; a text is, where a long run has forgotten that it has it."""


@dataclass(slots=True)
class CheckedRun:
    """What one run file is: its closing line if it has a good one, and what is wrong with it."""

    closing: Closing | None = None
    problems: list[Problem] = field(default_factory=list)


class _Pass:
    """The state of one pass over a run file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checked = CheckedRun()
        self.places: dict[str, jsonl.Line] = {}
        self.seen: dict[bytes, int] = {}

    def problem(self, line: jsonl.Line, problem: str, *, torn: bool = False) -> None:
        self.checked.problems.append(Problem(str(self.path), line.number, line.offset, problem, torn))

    def look_at(self, line: jsonl.Line, handle: int) -> None:
        if self.checked.closing is not None:
            self.problem(line, "this line stands after the closing line")
        elif not line.terminated and not jsonl.is_intact(line.data):
            self.problem(line, "the last record is torn", torn=True)
        elif not jsonl.is_intact(line.data):
            self.problem(line, "this line was changed after it was written")
        else:
            self._look_at_record(line, handle)

    def _look_at_record(self, line: jsonl.Line, handle: int) -> None:
        kind = kind_of(line.data)
        if kind not in KINDS:
            self.problem(line, f"a line of the unknown kind {kind!r}")
        if kind in _ONLY_ONCE:
            twin = self.seen.setdefault(bytes.fromhex(jsonl.stated_hash(line.data)), line.number)
            if twin != line.number:
                self.problem(line, f"this line is doubled: it is line {twin} again")
        if (kind == "run") != (line.number == 1):
            self.problem(line, "the header of a run stands first and only there")
        if kind == "question":
            self._look_at_question(line, handle)

    def _look_at_question(self, line: jsonl.Line, handle: int) -> None:
        document = orjson.loads(line.data)
        entry = index_entry(str(document["id"]), document["repeat"], line.offset, len(line.data))
        self.places[entry] = line._replace(data=b"")
        for text_hash, offset, length, _ in document["texts"]:
            if jsonl.hash_of(jsonl.read_at(handle, offset, length)) != text_hash:
                self.problem(line, f"the text at byte {offset} that it refers to is not there")
                return


def check_run_file(path: Path) -> CheckedRun:
    """Check a run file; never raises for what is in it."""
    state = _Pass(path)
    running = hashlib.sha256()
    try:
        with jsonl.opened(path) as file:
            for line in jsonl.read_lines(path):
                state.look_at(line, file.fileno())
                if kind_of(line.data) == "close" and jsonl.is_intact(line.data) and state.checked.closing is None:
                    state.checked.closing = closing_of(path, line)
                    _check_closing(state, line, running.hexdigest(), file.fileno())
                running.update(line.data + b"\n")
        header = read_header(path)
        if header.run.id != path.stem:
            first = jsonl.Line(1, 0, b"", True)
            state.problem(first, f"this is the file of run {header.run.id}")
    except (HistoryError, LookupError, TypeError, ValueError, OverflowError, OSError) as error:
        said = error.message if isinstance(error, HistoryError) else f"cannot be read: {error}"
        state.checked.problems.append(Problem(str(path), None, None, said))
    return state.checked


def _check_closing(state: _Pass, line: jsonl.Line, digest: str, handle: int) -> None:
    closing = state.checked.closing
    if closing is None or (closing.digest == digest and not state.checked.problems):
        return
    start, count = closing.index
    stated = jsonl.read_at(handle, start, count * ENTRY).decode("ascii", "replace")
    indexed = {stated[at : at + ENTRY] for at in range(0, len(stated), ENTRY)}
    moved = [place for entry, place in state.places.items() if entry not in indexed]
    if moved:
        state.problem(moved[0], "from here on lines are not where they were written: lines were removed or swapped")
    if closing.digest != digest:
        state.problem(line, "the lines before the closing line are not those that were closed")
