"""Schema numbers: every line says which one it was written with; older lines are upgraded when they are read."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import orjson

from rag_audit.errors import HistoryError

SCHEMA = 1
"""The schema that is written."""

Upgrade = Callable[[str, dict[str, Any]], dict[str, Any]]
UPGRADES: Mapping[int, Upgrade] = {}
"""Schema number to the function that makes (kind, document) of it one of the next number."""

Record = TypeVar("Record")


def upgrade(
    kind: str, document: Any, upgrades: Mapping[int, Upgrade] = UPGRADES, current: int = SCHEMA
) -> dict[str, Any]:
    """Bring a parsed line to the current schema; kind is ledger, decision, sample, or the kind of a run file's line."""
    number = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(number, int) or number < 1:
        raise HistoryError("this line has no schema number", "Run `rag-audit verify`.")
    if number > current:
        raise HistoryError(
            f"this line has schema {number}; this version reads up to {current}", "Install a newer rag-audit."
        )
    upgraded: dict[str, Any] = document
    for step in range(number, current):
        upgraded = {**upgrades[step](kind, upgraded), "schema": step + 1}
    return upgraded


def parse(kind: str, data: bytes, where: str) -> dict[str, Any]:
    """Parse one line and bring it to the current schema; HistoryError at `where` if it cannot be read."""
    try:
        return upgrade(kind, orjson.loads(data))
    except HistoryError as error:
        raise HistoryError(error.message, error.hint, where=where) from error
    except ValueError as error:
        raise unreadable(where, str(error)) from error


def as_record(document: Any, record: type[Record], where: str) -> Record:
    """Make a frozen record of a parsed object; HistoryError at `where` if it does not fit."""
    try:
        return msgspec.convert(document, record)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise unreadable(where, str(error)) from error


def unreadable(where: str, why: str) -> HistoryError:
    """The error for a line that cannot be read."""
    return HistoryError(f"this line cannot be read: {why}", "Run `rag-audit verify` to see what is wrong.", where=where)
