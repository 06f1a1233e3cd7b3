"""A run as CSV: one line a question, safe to open in a spreadsheet."""

import csv
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from rag_audit.export.run_report import ExportedQuestion, RunReport
from rag_audit.model import Verdict
from rag_audit.text.visible import visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the beginning of a formula."""

Cell = str | float | int | None
_AUDITED = ("no_fabrication", "claim_precision", "faithfulness", "completeness")


def write_csv(report: RunReport, out: TextIO) -> None:
    """Write one line a question: scores as numbers, missing ones empty with the reason beside them."""
    writer = csv.writer(out, lineterminator="\n")
    adjusted = [name for name in report.metrics if name in _AUDITED]
    writer.writerow([safe_cell(name) for name in _header(report.metrics, adjusted)])
    for question in report.questions():
        writer.writerow([safe_cell(cell) for cell in _cells(question, report, adjusted)])


def safe_cell(value: Cell) -> Cell:
    """A cell that no spreadsheet runs and no terminal obeys: visible text, with an apostrophe where it could be a
    formula; numbers stay numbers.
    """
    if not isinstance(value, str):
        return "" if value is None else value
    shown = visible(value)
    could_run = value.startswith(_FORMULA) or shown.lstrip().startswith(_FORMULA)
    return f"'{shown}" if could_run else shown


def _header(metrics: list[str], adjusted: list[str]) -> list[str]:
    return [
        *("run", "label", "question_id", "repeat", "doc_id", "question", "reference_answer", "answer"),
        *("route", "route_rule", "misrouted", "retrieved"),
        *(column for name in metrics for column in (name, f"{name}.missing")),
        *(f"{name}.adjusted" for name in adjusted),
        *(f"claims.{verdict.value}" for verdict in Verdict),
        *(f"claims.{verdict.value}.effective" for verdict in Verdict),
        *("claims.added", "flags", "tags", "reviewed", "error", "history_head"),
    ]


def _cells(question: ExportedQuestion, report: RunReport, adjusted: list[str]) -> Iterator[Cell]:
    result = question.result
    yield from (report.summary.id, report.summary.label, result.question.id, result.repeat, result.question.doc_id)
    yield from (result.question.question, result.question.reference_answer)
    yield result.generation.answer if result.generation else None
    yield from (" ".join(result.route.corpora), result.route.rule, str(result.route.misrouted).lower())
    yield " ".join(f"{found.rank}:{found.chunk.doc_id}" for found in result.retrieved)
    for name in report.metrics:
        value = result.scores.get(name)
        yield value
        yield result.missing.get(name, "no_score") if value is None else None
    yield from (question.adjusted.get(name) for name in adjusted)
    judged = Counter(exported.claim.verdict.value for exported in question.claims)
    effective = Counter(exported.effective for exported in question.claims)
    effective.update(verdict for _, verdict in question.added)
    yield from (judged[verdict.value] for verdict in Verdict)
    yield from (effective[verdict.value] for verdict in Verdict)
    yield len(question.added)
    yield " ".join(sorted({flag.flag.value for flag in result.flags}))
    yield " ".join(result.question.tags)
    yield None if result.question.reviewed is None else str(result.question.reviewed).lower()
    yield from (result.error, report.head)
