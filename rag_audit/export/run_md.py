"""A run as Markdown: its figures with their balance, and the questions a person should look at."""

from collections.abc import Callable
from typing import TextIO

from rag_audit.export.diff_report import figure, run_name, value_text
from rag_audit.export.markup import code, code_cell
from rag_audit.export.run_report import RunReport
from rag_audit.model import MetricSummary, RunSummary


def write_md(report: RunReport, out: TextIO) -> None:
    """Write the summary, then one table line a question."""
    summary = report.summary
    out.write(f"# Run {code(run_name(summary))}\n\n")
    out.write(f"{summary.status.value}, {summary.origin.value}, started {summary.started_at}.\n\n")
    out.write("| metric | mean | n | of | missing |\n|---|--:|--:|--:|---|\n")
    for name, metric in summary.metrics.items():
        out.write(
            f"| {code_cell(name)} | {figure(metric.mean)} | {metric.n} | {metric.total} | {missing_text(metric)} |\n"
        )
    out.write(f"\nClaims: {claims_text(summary)}.\n\n")
    if len(summary.by_corpus) > 1:
        out.write("| corpus | metric | mean | n |\n|---|---|--:|--:|\n")
        for corpus, metrics in summary.by_corpus.items():
            for name, metric in metrics.items():
                if metric.n:
                    out.write(f"| {code_cell(corpus)} | {code_cell(name)} | {figure(metric.mean)} | {metric.n} |\n")
        out.write("\n")
    _questions(report, out)
    out.write(f"\nHistory head: {code(report.head or '–')}\n")


def _questions(report: RunReport, out: TextIO) -> None:
    out.write(f"| question | {' | '.join(code_cell(name) for name in report.metrics)} | claims | flags |\n")
    out.write(f"|---|{'--:|' * len(report.metrics)}---|---|\n")
    for question in report.questions():
        result = question.result
        name = result.question.id if result.repeat is None else f"{result.question.id} #{result.repeat}"
        scores = " | ".join(value_text(result.scores.get(metric)) for metric in report.metrics)
        claims = ", ".join(
            exported.effective
            if exported.effective == exported.claim.verdict.value
            else f"{exported.claim.verdict.value} → {exported.effective}"
            for exported in question.claims
        )
        flags = ", ".join(sorted({flag.flag.value for flag in result.flags}))
        out.write(f"| {code_cell(name)} | {scores} | {claims} | {flags} |\n")


def claims_text(summary: RunSummary, word: Callable[[str], str] = str) -> str:
    """How many claims have which verdict; where none was judged that is said, not counted as 0."""
    if not any(summary.claims.values()):
        return "none were judged"
    return ", ".join(f"{count} {word(verdict)}" for verdict, count in summary.claims.items())


def missing_text(metric: MetricSummary) -> str:
    """Why values are missing, with how many."""
    return ", ".join(f"{count} {reason}" for reason, count in metric.missing.items())
