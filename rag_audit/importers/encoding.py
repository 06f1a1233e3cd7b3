"""From the bytes of a file to text: byte order marks, UTF-8, UTF-16, and the one-byte encodings of spreadsheets."""

import codecs
from pathlib import Path

from rag_audit.errors import InputError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 1 << 20


def encoding_of(path: Path) -> str:
    """Name the encoding that reads the whole file without an error; refuses what is not text."""
    with path.open("rb") as file:
        start = file.read(4096)
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            if not _decodes(path, encoding):
                raise InputError(
                    f"not readable as {encoding}, which its byte order mark promises",
                    "The file is damaged; export it again.",
                    where=str(path),
                )
            return encoding
    if b"\0" in start:
        return _wide_encoding(path, start)
    if _decodes(path, "utf-8"):
        return "utf-8"
    return "cp1252" if _decodes(path, "cp1252") else "latin-1"


def _wide_encoding(path: Path, start: bytes) -> str:
    """UTF-16 without a mark has a zero in every other byte of plain text; other zeros mean binary data."""
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if start[offset::2].count(0) > 0.4 * len(start[offset::2]) and _decodes(path, encoding):
            return encoding
    if start.count(0) <= 0.01 * len(start) and _decodes(path, "utf-8"):
        return "utf-8"
    raise InputError("not text", "Results are read from CSV, JSON, JSON lines and .eval files.", where=str(path))


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
