"""The ledger's per-question rows as compact columns, and back (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from rag_audit.history.schema import as_record
from rag_audit.model import QuestionRow

_BY_NAME = ("scores", "missing")
_PLAIN = tuple(field.name for field in fields(QuestionRow) if field.name not in _BY_NAME)


def columns_of(rows: Sequence[QuestionRow]) -> dict[str, Any]:
    """One list per field; scores and missing reasons one entry per metric."""
    return {
        **{name: [getattr(row, name) for row in rows] for name in _PLAIN},
        "scores": _spread([row.scores for row in rows]),
        "missing": _spread([row.missing for row in rows]),
    }


def rows_of(columns: Mapping[str, Any], where: str) -> tuple[QuestionRow, ...]:
    """The rows that were put into columns; HistoryError at `where` if they do not fit together."""
    try:
        count = len(columns["id"])
        plain = {name: columns[name] for name in _PLAIN if name in columns}
        documents = [{name: values[at] for name, values in plain.items()} for at in range(count)]
        for name in _BY_NAME:
            for at, gathered in enumerate(_gather(columns[name], count)):
                documents[at][name] = gathered
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        documents = [{"columns": f"{type(error).__name__}: {error}"}]
    return as_record(documents, tuple[QuestionRow, ...], where)


def _spread(mappings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Key to {"at": row numbers, "values": values}; `at` is left out where every row has the key."""
    names = dict.fromkeys(name for mapping in mappings for name in mapping)
    spread: dict[str, Any] = {}
    for name in names:
        at = [number for number, mapping in enumerate(mappings) if name in mapping]
        values = [mappings[number][name] for number in at]
        spread[str(name)] = {"values": values} if len(at) == len(mappings) else {"at": at, "values": values}
    return spread


def _gather(spread: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    gathered: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, column in spread.items():
        for number, value in zip(column.get("at", range(count)), column["values"], strict=True):
            gathered[number][name] = value
    return gathered
