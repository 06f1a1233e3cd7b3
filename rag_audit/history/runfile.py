"""Reading a run file: its header, one question by offset, all questions as a stream, its closing line.

Lines in order: `run` (header), then for every question its new `text` lines and one `question` line, `stopped` where
the writer gave up and `attempt` where the run was resumed, and at the end `rows`, `index` and `close`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from rag_audit.errors import HistoryError, UsageError
from rag_audit.history import jsonl
from rag_audit.history.columns import rows_of
from rag_audit.history.index import entries_of_question
from rag_audit.history.process import is_alive
from rag_audit.history.schema import SCHEMA, as_record, parse, unreadable
from rag_audit.history.texts import put_text
from rag_audit.model import ArchivedRun, Claim, QuestionResult, RunStatus, RunSummary

STOPPED = "stopped"
"""Kind of the line that a writer leaves behind when it gives up a run."""
KINDS = frozenset({"run", "attempt", STOPPED, "text", "question", "rows", "index", "close"})
"""Of all lines of a run file."""
Planned = tuple[tuple[str, int | None], ...]
_KIND_WINDOW = 64
_CACHED_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: the run as it was started and what it planned."""

    run: RunSummary
    planned: Planned
    by: str
    """The process that writes it."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The last line of a finished run file."""

    run: RunSummary
    digest: str
    """SHA-256 of all bytes before this line."""
    rows: tuple[int, int]
    """Offset and length of the line that holds the rows."""
    index: tuple[int, int]
    """Offset of the first index entry, and how many there are."""
    hash: str = ""
    """Hash of the closing line itself."""
    offset: int = 0
    schema: int = SCHEMA
    """The schema that the file was written with."""


class JudgedClaims(NamedTuple):
    """The claims of one result."""

    question_id: str
    repeat: int | None
    claims: tuple[Claim, ...]


def kind_of(line: bytes) -> str:
    """The kind of a line, without parsing it."""
    window = line[jsonl.BODY_AT : jsonl.BODY_AT + _KIND_WINDOW]
    _, _, rest = window.partition(b'"kind":"')
    return rest.partition(b'"')[0].decode("ascii", "replace")


def read_header(path: Path) -> Header:
    """The first line of a run file."""
    where = f"{path}:1"
    first = next(jsonl.read_lines(path), None)
    if first is None or not jsonl.is_intact(first.data) or kind_of(first.data) != "run":
        raise unreadable(where, "it is no header of a run")
    document = parse("run", first.data, where)
    return as_record({name: document.get(name) for name in ("run", "planned", "by")}, Header, where)


def has_begun(path: Path) -> bool:
    """Whether the header was written whole; a writer killed before that leaves nothing to show or to resume."""
    first = next(jsonl.read_lines(path), None)
    return first is not None and (first.terminated or jsonl.is_intact(first.data))


def read_closing(path: Path) -> Closing | None:
    """The closing line; None while there is none."""
    last = jsonl.last_line(path)
    if last is None or kind_of(last.data) != "close" or not jsonl.is_intact(last.data):
        return None
    return closing_of(path, last)


def closing_of(path: Path, line: jsonl.Line) -> Closing:
    """The closing line as a record."""
    where = f"{path} (closing line)"
    document = parse("close", line.data, where)
    known = {name: document.get(name) for name in ("run", "digest", "rows", "index", "hash")}
    written_with = orjson.loads(line.data)["schema"]
    return as_record({**known, "offset": line.offset, "schema": written_with}, Closing, where)


def read_unclosed(path: Path) -> RunSummary:
    """A run that is not in the ledger: running, interrupted, or as its closing line has it."""
    closing = read_closing(path)
    if closing is not None:
        return closing.run
    header = read_header(path)
    status = RunStatus.RUNNING if is_alive(_last_writer(path)) else RunStatus.INTERRUPTED
    return replace(header.run, status=status, questions=len(header.planned))


def read_rows_line(path: Path, closing: Closing) -> bytes:
    """The columns that the ledger line holds too, as JSON bytes."""
    with jsonl.opened(path) as file:
        line = jsonl.read_at(file.fileno(), *closing.rows)
    if not jsonl.is_intact(line) or kind_of(line) != "rows":
        raise unreadable(str(path), "the line with the rows was changed")
    return line[line.index(b'"rows":', jsonl.BODY_AT) + len(b'"rows":') : -1]


def read_closed(path: Path) -> ArchivedRun | None:
    """Summary and rows as the closing lines have them; None while the run is not closed."""
    closing = read_closing(path)
    if closing is None:
        return None
    columns = b'{"schema":%d,"rows":%s}' % (closing.schema, read_rows_line(path, closing))
    where = f"{path} (rows)"
    return ArchivedRun(closing.run, rows_of(parse("rows", columns, where)["rows"], where))


def read_results(path: Path) -> Iterator[QuestionResult]:
    """All finished questions in file order, as a stream; a torn last line is left out."""
    with jsonl.opened(path) as file:
        texts = TextReader(file.fileno(), path)
        for line in _question_lines(path):
            yield texts.result(line)


def read_claims(path: Path) -> Iterator[JudgedClaims]:
    """The judged claims of all finished questions, without the rest of their results."""
    with jsonl.opened(path) as file:
        texts = TextReader(file.fileno(), path)
        for line in _question_lines(path):
            yield texts.claims(line)


def read_question(path: Path, question_id: str) -> list[QuestionResult]:
    """One question of a run (several where it has repeats); reads only its own lines where the run is closed."""
    closing = read_closing(path)
    with jsonl.opened(path) as file:
        texts = TextReader(file.fileno(), path)
        if closing is None:
            lines = [line for line in _question_lines(path) if _is_of(line, question_id)]
        else:
            places = _places(file.fileno(), path, closing, question_id)
            lines = [jsonl.Line(0, at, jsonl.read_at(file.fileno(), at, length), True) for at, length in places]
        results = [texts.result(line) for line in lines]
    found = [result for result in results if result.question.id == question_id]
    if not found:
        raise UsageError(
            f"run {path.stem} has no finished question {question_id}", f"`rag-audit show {path.stem}` lists them."
        )
    return found


def _places(handle: int, path: Path, closing: Closing, question_id: str) -> list[tuple[int, int]]:
    try:
        return entries_of_question(handle, closing.index, question_id)
    except (ValueError, OverflowError, OSError) as error:
        raise unreadable(str(path), f"its index was changed after it was written ({error})") from error


def _question_lines(path: Path) -> Iterator[jsonl.Line]:
    """The lines of finished questions; HistoryError where the file shows that one of them is gone or unreadable."""
    read_header(path)
    count = 0
    for line in jsonl.read_lines(path):
        kind = kind_of(line.data)
        if kind == "question" and _is_whole(line):
            count += 1
            yield line
        elif line.terminated and kind not in KINDS:
            raise unreadable(f"{path}:{line.number}", "it is no line of a run")
        elif kind == "close" and jsonl.is_intact(line.data) and closing_of(path, line).index[1] != count:
            closed = closing_of(path, line).index[1]
            raise unreadable(f"{path}:{line.number}", f"the run was closed with {closed} questions, {count} are here")


def _is_whole(line: jsonl.Line) -> bool:
    return line.terminated or jsonl.is_intact(line.data)


def _is_of(line: jsonl.Line, question_id: str) -> bool:
    stated = b'"id":' + jsonl.encode(question_id) + b","
    return kind_of(line.data) == "question" and stated in line.data[: jsonl.BODY_AT + _KIND_WINDOW + len(stated)]


def _last_writer(path: Path) -> str:
    """The process that wrote last; nobody where it said that it stopped."""
    for line in jsonl.lines_backwards(path):
        if kind_of(line.data) == STOPPED and jsonl.is_intact(line.data):
            return ""
        if kind_of(line.data) in ("run", "question", "attempt") and jsonl.is_intact(line.data):
            return str(parse(kind_of(line.data), line.data, str(path)).get("by"))
    return ""


class TextReader:
    """Makes results of question lines, reading the texts they refer to and keeping the latest ones."""

    def __init__(self, handle: int, path: Path) -> None:
        self._handle = handle
        self._path = path
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._kept_bytes = 0

    def result(self, line: jsonl.Line) -> QuestionResult:
        """The result of one question line; HistoryError if it, or a text of it, was changed."""
        document, where = self._document(line, [])
        return as_record(document["result"], QuestionResult, where)

    def claims(self, line: jsonl.Line) -> JudgedClaims:
        """The claims of one question line, with only the texts that they need."""
        document, where = self._document(line, ["claim_judgment", "claims"])
        try:
            judgment = document["result"]["claim_judgment"]
            found = () if judgment is None else as_record(judgment["claims"], tuple[Claim, ...], where)
            return JudgedClaims(str(document["id"]), document["repeat"], found)
        except (LookupError, TypeError) as error:
            raise unreadable(where, f"its claims cannot be found ({type(error).__name__})") from error

    def _document(self, line: jsonl.Line, within: list[str]) -> tuple[Any, str]:
        """A question line as parsed, the long texts below one part of its result put back, and where it stands."""
        where = f"{self._path}:{line.number}" if line.number else f"{self._path} (byte {line.offset})"
        if not jsonl.is_intact(line.data):
            raise unreadable(where, "it was changed after it was written")
        document = parse("question", line.data, where)
        try:
            for text_hash, offset, length, steps in document["texts"]:
                if steps[: len(within)] == within:
                    put_text(document["result"], steps, self._text(text_hash, offset, length, where))
            document["result"].keys()
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise unreadable(where, f"its texts do not fit ({type(error).__name__})") from error
        return document, where

    def _text(self, text_hash: str, offset: int, length: int, where: str) -> str:
        if text_hash in self._kept:
            self._kept.move_to_end(text_hash)
            return self._kept[text_hash]
        line = jsonl.read_at(self._handle, offset, length)
        if jsonl.hash_of(line) != text_hash or not jsonl.is_intact(line):
            raise HistoryError(
                f"a text of this question (byte {offset}) was changed after it was written",
                "Run `rag-audit verify` to see what is wrong.",
                where=where,
            )
        text = str(parse("text", line, where)["text"])
        self._kept[text_hash] = text
        self._kept_bytes += length
        while self._kept_bytes > _CACHED_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)
        return text
