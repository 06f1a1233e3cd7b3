"""Which columns of a table hold scores: found in the cells, not in the names."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_audit.importers.record import Entries, Record
from rag_audit.importers.values import is_blank, number_of

_LABELS = re.compile(
    r"(.*[_ .-])?(ids?|idx|index|row|no|nr|line|page|seed|epoch|repeat|timestamp|ts|time|date|created|version)"
    r"|unnamed: \d+|#?",
    re.IGNORECASE,
)
"""Names of columns that number or date a row."""
MEASUREMENT = re.compile(
    r".*(latency|duration|elapsed|runtime|tokens?|cost|price|usd|length|chars|_ms|_s|seconds|_size)", re.IGNORECASE
)
"""Names of columns that measure something other than quality."""
SUMMARY_WORDS = frozenset(
    {"mean", "average", "avg", "total", "sum", "overall", "median", "std", "stdev", "min", "max", "all", "count"}
)


@dataclass(slots=True)
class Cells:
    """What one column holds."""

    numbers: int = 0
    texts: int = 0
    blank: int = 0


@dataclass(slots=True)
class Survey:
    """The columns of all entries, nested groups of numbers as `group.name`."""

    cells: dict[str, Cells] = field(default_factory=dict)
    rows: int = 0

    def scores(self, known: Callable[[str], bool] | None = None, *, leave: Collection[str] = ()) -> list[str]:
        """Columns whose cells are numbers; a column without any number only if its name is a known metric's."""
        found = []
        for name, cells in self.cells.items():
            if name in leave or _LABELS.fullmatch(name) or MEASUREMENT.fullmatch(name):
                continue
            is_known = known is not None and known(name)
            if (cells.numbers and not cells.texts) or (is_known and cells.texts <= cells.numbers):
                found.append(name)
        return found

    def measurements(self, *, leave: Collection[str] = ()) -> list[str]:
        """Columns of numbers that measure latency, length, tokens or cost."""
        return [
            name
            for name, cells in self.cells.items()
            if name not in leave and cells.numbers and not cells.texts and MEASUREMENT.fullmatch(name)
        ]

    def unread(
        self, scores: Collection[str], known: Callable[[str], bool], *, leave: Collection[str] = ()
    ) -> list[str]:
        """What somebody should know of columns and cells that look like scores but hold texts; `scores` are read."""
        told = []
        for name, cells in self.cells.items():
            if not cells.texts or name in leave or _LABELS.fullmatch(name):
                continue
            if name in scores:
                are = "cell is" if cells.texts == 1 else "cells are"
                told.append(f"column {name}: {cells.texts} {are} no number and no score")
            elif cells.numbers or known(name):
                holds = "numbers and texts" if cells.numbers else "texts"
                told.append(f"column {name} holds {holds} and was not read as a metric")
        return told


def survey_columns(entries: Entries, leave: Collection[str] = ()) -> Survey:
    """Count numbers, texts and blanks of every column but those in `leave`."""
    survey = Survey()
    for entry in entries():
        if not isinstance(entry, Record) or is_summary_row(entry.values):
            continue
        survey.rows += 1
        for name, value in flat_cells(entry.values, leave):
            cells = survey.cells.setdefault(name, Cells())
            if is_blank(value):
                cells.blank += 1
            elif number_of(value) is not None:
                cells.numbers += 1
            else:
                cells.texts += 1
    return survey


def flat_cells(values: Mapping[str, Any], leave: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """The cells of one entry; an object of numbers gives one cell a member."""
    for name, value in values.items():
        if name in leave:
            continue
        if isinstance(value, dict) and value and all(is_blank(v) or number_of(v) is not None for v in value.values()):
            yield from ((f"{name}.{member}", inner) for member, inner in value.items())
        else:
            yield name, value


def is_summary_row(values: Mapping[str, Any]) -> str | None:
    """The word by which a line of a table names itself a summary of the others; None for a question."""
    texts = [value.strip() for value in values.values() if isinstance(value, str) and not is_blank(value)]
    words = [text for text in texts if number_of(text) is None]
    if len(words) == 1 and words[0].lower().strip(".:*= ") in SUMMARY_WORDS:
        return words[0]
    return None
