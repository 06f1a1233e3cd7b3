"""A run as one HTML page: figures with their balance, then each question down to its texts."""

from collections.abc import Iterator
from typing import TextIO

from rag_audit.export.diff_report import figure, run_name, value_text
from rag_audit.export.markup import html_text
from rag_audit.export.page import html_table, page_end, page_start, tagged
from rag_audit.export.run_md import claims_text, missing_text
from rag_audit.export.run_report import ExportedClaim, ExportedQuestion, RunReport
from rag_audit.model import RetrievedChunk, RunSummary


def write_html(report: RunReport, out: TextIO) -> None:
    """Write the page, question by question."""
    out.write(page_start(f"Run {run_name(report.summary)}"))
    out.writelines(_summary(report.summary))
    out.write("<h2>Questions</h2>\n")
    for question in report.questions():
        out.writelines(_question(question))
    out.write(page_end(report.head))


def _summary(summary: RunSummary) -> Iterator[str]:
    yield f"<p>{summary.status.value}, {summary.origin.value}, started {html_text(summary.started_at)}</p>\n"
    rows = [
        [html_text(name), figure(metric.mean), str(metric.n), str(metric.total), html_text(missing_text(metric))]
        for name, metric in summary.metrics.items()
    ]
    yield html_table(["metric", "mean", "n", "of", "missing"], rows, numbers=(1, 2, 3))
    yield f"<p>Claims, as judged: {claims_text(summary, tagged)}</p>\n"
    if len(summary.by_corpus) > 1:
        yield "<h2>By corpus</h2>\n"
        figures = [
            [html_text(corpus), html_text(name), figure(metric.mean), str(metric.n)]
            for corpus, metrics in summary.by_corpus.items()
            for name, metric in metrics.items()
            if metric.n
        ]
        yield html_table(["corpus", "metric", "mean", "n"], figures, numbers=(2, 3))


def _question(question: ExportedQuestion) -> Iterator[str]:
    result = question.result
    name = result.question.id if result.repeat is None else f"{result.question.id}, repeat {result.repeat}"
    yield f'<section class="question"><h3>{html_text(name)}</h3>\n<p>{html_text(result.question.question)}</p>\n'
    if result.error:
        yield f'<p class="regressed">{html_text(result.error)}</p>\n'
    scores = [
        f"{html_text(metric)} {value_text(value)}"
        + (f" ({html_text(result.missing[metric])})" if metric in result.missing else "")
        for metric, value in result.scores.items()
    ]
    yield f'<p class="dim">{", ".join(scores)}</p>\n<div class="sides"><div><h3>Answer</h3>\n'
    yield f"<pre>{html_text(result.generation.answer if result.generation else '–')}</pre></div>\n"
    yield f"<div><h3>Reference</h3>\n<pre>{html_text(result.question.reference_answer or '–')}</pre></div></div>\n"
    if question.claims or question.added:
        yield html_table(["claim", "judge", "effective", "evidence"], _claims(question))
    if result.retrieved:
        corpora = html_text(", ".join(result.route.corpora) or "–")
        yield f"<h3>Retrieved from {corpora} ({html_text(result.route.rule)})</h3>\n"
        yield html_table(["rank", "document", "text"], map(_chunk, result.retrieved), numbers=(0,))
    flags = sorted({f"{flag.flag.value}: {flag.why}" for flag in result.flags})
    if flags:
        yield f"<p>Flags: {html_text('; '.join(flags))}</p>\n"
    yield "</section>\n"


def _claims(question: ExportedQuestion) -> Iterator[list[str]]:
    for exported in question.claims:
        yield _claim(exported)
    for text, verdict in question.added:
        yield [html_text(text), '<span class="dim">missed</span>', tagged(verdict), ""]


def _claim(exported: ExportedClaim) -> list[str]:
    claim = exported.claim
    found = "" if not claim.evidence or claim.evidence_spans else ' <span class="dim">(not in the excerpt)</span>'
    return [
        html_text(claim.text),
        tagged(claim.verdict.value),
        tagged(exported.effective),
        html_text(claim.evidence or "") + found,
    ]


def _chunk(found: RetrievedChunk) -> list[str]:
    relevant = " · relevant" if found.relevant else ""
    return [
        str(found.rank),
        f"{html_text(found.chunk.doc_id)}<br><span class='dim'>{html_text(found.chunk.corpus)}{relevant}</span>",
        f"<pre>{html_text(found.chunk.text)}</pre>",
    ]
