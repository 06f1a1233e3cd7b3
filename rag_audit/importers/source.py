"""Opening a file of unknown origin: what it is by its content, and its entries one at a time."""

import csv
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from rag_audit.errors import InputError
from rag_audit.importers.encoding import encoding_of
from rag_audit.importers.record import Entries, LeftOut, Record
from rag_audit.importers.values import clean, clean_tree

LARGEST_DOCUMENT = 1 << 30
"""Bytes of a JSON document that has to be read as a whole; JSON lines and tables have no limit."""
_LARGEST_CELL = 50_000_000
_LONG_NUMBER = re.compile(rb"\d{20}")
_LONG_ID = re.compile(rb'("[^"\\]*[iI][dD]"\s*:\s*)(-?\d{20,})(?=\s*[,}])')
"""A whole number of 20 or more digits under a key that ends in `id`; inside a text its quotes would be escaped."""
_DELIMITERS = (",", ";", "\t", "|")
_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file; which fields are set depends on what it is."""

    path: Path
    kind: str
    """document (JSON) | lines (JSON lines) | table (CSV, Parquet) | archive (zip)."""
    encoding: str | None = None
    document: Any = None
    header: tuple[str, ...] = ()
    """The columns of a table."""
    entries: Entries | None = None
    """Of lines, tables and JSON lists; a JSON object is one entry."""
    delimiter: str | None = None

    @property
    def document_map(self) -> dict[str, Any]:
        """The document if it is a JSON object, else nothing."""
        return self.document if isinstance(self.document, dict) else {}

    @property
    def where(self) -> str:
        """The path for messages."""
        return clean(str(self.path))


def open_source(path: Path) -> Source:
    """Find out by content what a file is; refuses what is empty, binary or damaged."""
    if path.exists() and not path.is_file():
        raise InputError("neither a file nor a folder", "Name a file of results.", where=clean(str(path)))
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise InputError("empty file", "Export the results again.", where=clean(str(path)))
    if start.startswith(b"PAR1"):
        return _open_parquet(path)
    if start.startswith(b"PK") and zipfile.is_zipfile(path):
        return Source(path, "archive")
    if path.suffix.lower() == ".eval":
        raise InputError(
            "not a zip archive although named .eval, or cut off", "Copy the log again.", where=clean(str(path))
        )
    encoding = encoding_of(path)
    shape = _shape_of(path, encoding)
    if shape == "lines":
        return Source(path, "lines", encoding, entries=lambda: _json_lines(path, encoding))
    if shape == "document":
        document = _read_document(path, encoding)
        listed = [document] if isinstance(document, dict) else document
        entries = list_entries(listed) if isinstance(listed, list) else None
        return Source(path, "document", encoding, document, entries=entries)
    return _open_table(path, encoding)


def list_entries(members: Sequence[Any]) -> Entries:
    """The members of a JSON list as entries; what is no object is left out."""

    def entries() -> Iterator[Record | LeftOut]:
        for at, member in enumerate(members, start=1):
            yield Record(at, member) if isinstance(member, dict) else LeftOut(at, "not a JSON object")

    return entries


def parse_json(text: str | bytes) -> Any:
    """Parse JSON, also with NaN and Infinity (read as null), lone surrogates and huge numbers; None if it is none."""
    raw = _with_long_ids_as_text(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return _lenient_json(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


def _with_long_ids_as_text(raw: bytes) -> bytes:
    """An id beyond 64 bits is quoted before it is parsed: as a float, two ids that differ would become one."""
    return _LONG_ID.sub(rb'\1"\2"', raw) if _LONG_NUMBER.search(raw) else raw


def _lenient_json(text: str) -> Any:
    return clean_tree(json.loads(text, strict=False, parse_constant=lambda _: None, parse_int=_whole_number))


def _whole_number(digits: str) -> int | float:
    """Beyond 64 bits a whole number is read as a float, as the fast parser does."""
    if len(digits) < 20:
        return int(digits)
    return float(digits)


def _text(path: Path, encoding: str) -> TextIOWrapper:
    return path.open(encoding=encoding, newline="")


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, str | bytes]]:
    """Lines that are not blank, with their numbers; bytes where the text is UTF-8, which parses fastest."""
    if encoding in ("utf-8", "utf-8-sig"):
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                stripped = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
                if stripped:
                    yield number, stripped
        return
    with path.open(encoding=encoding) as text:
        for number, wide in enumerate(text, start=1):
            if wide.strip():
                yield number, wide.strip()


def _shape_of(path: Path, encoding: str) -> str:
    lines = list(islice(_lines(path, encoding), 6))
    if not lines:
        raise InputError("empty file", "Export the results again.", where=clean(str(path)))
    opening = lines[0][1][:1]
    by_line = [isinstance(parse_json(line), dict) for _, line in lines]
    if opening in ("{", b"{"):
        first_alone = by_line[0] and len(lines) > 1
        if first_alone or (any(by_line[1:]) and _starts_objects(lines) and not _is_document(path, encoding)):
            return "lines"
        return "lines" if by_line[0] and path.suffix.lower() in _LINE_SUFFIXES else "document"
    if any(by_line) and path.suffix.lower() in _LINE_SUFFIXES:
        return "lines"
    return "document" if opening in ("[", b"[") else "table"


def _starts_objects(lines: list[tuple[int, str | bytes]]) -> bool:
    return sum(line[:1] in ("{", b"{") for _, line in lines) > len(lines) / 2


def _is_document(path: Path, encoding: str) -> bool:
    try:
        _read_document(path, encoding)
    except InputError:
        return False
    return True


def _read_document(path: Path, encoding: str) -> Any:
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(
            "a JSON document of more than 1 GiB has to be read as a whole",
            "Write it as JSON lines, one object a line.",
            where=clean(str(path)),
        )
    raw = path.read_bytes()
    if encoding in ("utf-8", "utf-8-sig"):
        raw = _with_long_ids_as_text(raw)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return _lenient_json(raw.decode(encoding))
    except json.JSONDecodeError as error:
        cut = " (it ends in the middle)" if error.pos >= len(error.doc.rstrip()) - 1 else ""
        raise InputError(
            f"not readable as JSON{cut}: {error.msg} at line {error.lineno}, column {error.colno}",
            "Export the results again; a file that was cut off cannot be trusted.",
            where=f"{clean(str(path))}:{error.lineno}",
        ) from None
    except (ValueError, RecursionError):
        raise InputError("JSON nested too deeply to be results", "Check the file.", where=clean(str(path))) from None


def _json_lines(path: Path, encoding: str) -> Iterator[Record | LeftOut]:
    for number, line in _lines(path, encoding):
        value = parse_json(line)
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            damaged = value is None
            yield LeftOut(number, "not readable as JSON, or cut off" if damaged else "not a JSON object", damaged)


def _open_table(path: Path, encoding: str) -> Source:
    with _text(path, encoding) as file:
        first = next((line for line in iter(lambda: file.readline(_LARGEST_CELL), "") if line.strip()), "")
    hinted = first.strip().lower()
    skip = hinted.startswith("sep=") and len(hinted) == 5
    delimiter = first.strip()[4] if skip else None

    def rows() -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(_LARGEST_CELL)
        with _text(path, encoding) as text:
            if skip:
                text.readline()
            reader = csv.reader(text, delimiter=delimiter or _delimiter_of(first))
            try:
                for row in reader:
                    yield reader.line_num + skip, row
            except csv.Error as error:
                raise InputError(
                    f"not readable as a table: {error}",
                    "Check the quotes around the cell that begins there.",
                    where=f"{clean(str(path))}:{reader.line_num + skip}",
                ) from None

    header = next((row for _, row in rows() if any(cell.strip() for cell in row)), [])
    columns = _distinct(cell.strip() for cell in header)

    def entries() -> Iterator[Record | LeftOut]:
        seen_header = False
        for line, row in rows():
            if not any(cell.strip() for cell in row):
                continue
            if not seen_header:
                seen_header = True
                continue
            yield Record(line, dict(zip(columns, row + [""] * len(columns), strict=False)), _ragged(row, columns))

    return Source(path, "table", encoding, header=columns, entries=entries, delimiter=delimiter or _delimiter_of(first))


def _ragged(row: list[str], columns: tuple[str, ...]) -> str | None:
    if len(row) == len(columns):
        return None
    return f"{len(row)} cells under {len(columns)} columns"


def _delimiter_of(first_line: str) -> str:
    """The separator that cuts the first line into the most cells."""
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([first_line], delimiter=mark), [])))


def _distinct(names: Iterator[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    columns = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        columns.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(columns)


def _open_parquet(path: Path) -> Source:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(
            "a Parquet file needs a reader that is not installed",
            "Install it: pip install 'rag-audit[parquet]'.",
            where=clean(str(path)),
        ) from None
    try:
        header = tuple(parquet.ParquetFile(path).schema_arrow.names)
    except Exception as error:  # pyarrow raises types of its own for damaged files
        raise InputError(f"not readable as Parquet: {error}", "Export it again.", where=clean(str(path))) from None

    def entries() -> Iterator[Record | LeftOut]:
        number = 0
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield Record(number, clean_tree(row))

    return Source(path, "table", header=header, entries=entries)
