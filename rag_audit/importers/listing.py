"""Lists and objects that a table holds as text: JSON, Python and numpy spellings, read without evaluating anything."""

import ast
import re
from typing import Any

from rag_audit.importers.record import ImportedChunk
from rag_audit.importers.source import parse_json
from rag_audit.importers.values import clean, clean_tree, is_blank, json_text, map_of, name_of, number_of
from rag_audit.model import UNKNOWN

_LITERAL = re.compile(r"""[uU]?(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")""", re.DOTALL)
_GAP = re.compile(r"[\s,]*")
_ARRAY = re.compile(r"array\((\[.*\])(?:,\s*dtype=\w+)?\)", re.DOTALL)
_TEXT_KEYS = ("text", "content", "page_content", "chunk", "passage", "document", "body")
_DOC_KEYS = ("doc_id", "document_id", "source", "doc", "file", "file_name", "filename", "path", "url", "id")


def parse_listing(cell: str) -> list[Any] | dict[str, Any] | None:
    """Read a list or object written as text; None where it is cut off or is no such thing.

    Adjacent literals without a comma (numpy's spelling) stay apart: Python itself would join them into one text.
    """
    text = cell.strip()
    array = _ARRAY.fullmatch(text)
    text = array.group(1) if array else text
    if text[:1] not in ("[", "{", "("):
        return None
    parsed = parse_json(text)
    if isinstance(parsed, list | dict):
        return parsed
    literals = _text_literals(text) if text[0] in "[(" else None
    return literals if literals is not None else _python_value(text)


def _text_literals(text: str) -> list[Any] | None:
    """The members of a list of text literals, separated by commas or space; None if it holds anything else."""
    members: list[Any] = []
    at, end = 1, len(text) - 1
    if text[end] not in "])":
        return None
    while True:
        gap = _GAP.match(text, at, end)
        at = gap.end() if gap else at
        if at >= end:
            return members
        literal = _LITERAL.match(text, at, end)
        if literal is None:
            return None
        member = _literal_text(literal.group())
        if member is None:
            return None
        members.append(member)
        at = literal.end()


def _literal_text(literal: str) -> str | None:
    """What one text literal says; most hold no escapes and need no parser."""
    if "\\" not in literal:
        return clean(literal[literal.index(literal[-1]) + 1 : -1])
    value = _python_literal(literal.replace("\n", "\\n").replace("\r", "\\r"))
    return value if isinstance(value, str) else None


def _python_value(text: str) -> list[Any] | dict[str, Any] | None:
    value = _python_literal(text)
    if isinstance(value, tuple):
        value = list(value)
    return value if isinstance(value, list | dict) else None


def _python_literal(text: str) -> Any:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return clean_tree(ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def chunks_of(value: Any) -> tuple[tuple[ImportedChunk, ...] | None, str | None]:
    """Retrieved texts from a cell or a JSON value: (chunks, what could not be read).

    None chunks: the row says nothing of retrieval. A list that is cut off gives none, and says so.
    """
    if isinstance(value, str):
        if is_blank(value):
            return None, None
        parsed = parse_listing(value)
        if parsed is None and value.lstrip()[:1] == "[":
            return None, "the list of contexts is cut off or unreadable"
        value = [value] if parsed is None else parsed
    if isinstance(value, dict):
        value = [value] if _text_in(value) is not None else list(value.values())
    if not isinstance(value, list):
        return None, None
    chunks = (chunk_of(member) for member in value)
    return tuple(chunk for chunk in chunks if chunk is not None), None


def chunk_of(member: Any) -> ImportedChunk | None:
    """One retrieved text: a text, or an object with its text and where it is from."""
    if is_blank(member):
        return None
    if isinstance(member, str):
        return ImportedChunk(member)
    if not isinstance(member, dict):
        return ImportedChunk(json_text(member))
    places = {**map_of(member.get("metadata")), **member}
    doc_id = next((name for key in _DOC_KEYS if (name := name_of(places.get(key))) not in (None, UNKNOWN)), None)
    corpus = name_of(member.get("corpus"))
    text = _text_in(member)
    return ImportedChunk(
        text=json_text(member) if text is None else text,
        doc_id=doc_id,
        corpus=None if corpus == UNKNOWN else corpus,
        score=number_of(member.get("score")),
        relevant=relevant if isinstance(relevant := member.get("relevant"), bool) else None,
    )


def _text_in(member: dict[str, Any]) -> str | None:
    return next((member[key] for key in _TEXT_KEYS if isinstance(member.get(key), str)), None)
