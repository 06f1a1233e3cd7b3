"""A run and a question as text for a person."""

from collections.abc import Mapping

from rag_audit.cli.output import number, table
from rag_audit.model import (
    NOT_APPLICABLE,
    MetricSummary,
    QuestionResult,
    RunContext,
    RunSummary,
    Verdict,
)

VERDICT_MARKS = {
    Verdict.VERIFIED: "✓ verified",
    Verdict.CONTRADICTED: "✗ contradicted",
    Verdict.ABSENT: "○ absent",
    Verdict.UNPARSED: "? unparsed",
}
"""Mark and word of each verdict: no status depends on colour."""


def missing_text(missing: Mapping[str, int]) -> str:
    """Why values are missing, failures first: `2 timeout (failed); 5 unanswerable`."""
    failed = [f"{count} {reason} (failed)" for reason, count in missing.items() if reason not in NOT_APPLICABLE]
    inapplicable = [f"{count} {reason}" for reason, count in missing.items() if reason in NOT_APPLICABLE]
    return "; ".join(failed + inapplicable)


def metric_rows(metrics: Mapping[str, MetricSummary]) -> list[list[str]]:
    """Name, mean, n of total and why the rest is missing, one row a metric."""
    return [
        [name, number(metric.mean), f"{metric.n}/{metric.total}", _range(metric), missing_text(metric.missing)]
        for name, metric in metrics.items()
    ]


def _range(metric: MetricSummary) -> str:
    low, high = ("?" if end is None else f"{end:g}" for end in metric.range)
    return f"{low}–{high}"


def context_line(context: RunContext) -> str:
    """The context in one line."""
    judges = ", ".join(f"{role} {model}" for role, model in context.judges.items())
    return f"generator {context.generator} · embedder {context.embedder} · judges {judges}"


def summary_text(summary: RunSummary) -> str:
    """A run with every metric and its balance."""
    label = f" “{summary.label}”" if summary.label else ""
    duration = "" if summary.duration_s is None else f" · {summary.duration_s:.1f} s"
    lines = [
        f"run {summary.id}{label} · {summary.status} · {summary.origin} · {summary.started_at}{duration}",
        context_line(summary.context),
    ]
    if summary.source:
        lines.append(f"from {summary.source}")
    lines += ["", table(("metric", "mean", "n", "range", "missing"), metric_rows(summary.metrics), right=(1, 2))]
    if len(summary.by_corpus) > 1:
        lines += ["", *_corpus_lines(summary)]
    lines += ["", f"claims: {_claims_text(summary.claims)}"]
    if summary.flags:
        lines.append("flags: " + " · ".join(f"{flag} {count}" for flag, count in summary.flags.items()))
    lines.append(_cost_line(summary))
    lines += [f"note: {note}" for note in summary.notes]
    return "\n".join(lines)


def _claims_text(claims: Mapping[str, int]) -> str:
    if not any(claims.values()):
        return "–, no claims were judged"
    return " · ".join(f"{mark} {claims.get(verdict.value, 0)}" for verdict, mark in VERDICT_MARKS.items())


def _corpus_lines(summary: RunSummary) -> list[str]:
    corpora = list(summary.by_corpus)
    rows = [[name, *(_mean_of(summary.by_corpus[corpus].get(name)) for corpus in corpora)] for name in summary.metrics]
    return [table(("by corpus", *corpora), rows)]


def _mean_of(metric: MetricSummary | None) -> str:
    return "–" if metric is None else f"{number(metric.mean)} ({metric.n}/{metric.total})"


def _cost_line(summary: RunSummary) -> str:
    cost, tokens = summary.cost, summary.tokens
    unknown = f" · {cost.unknown_calls} calls of unknown price" if cost.unknown_calls else ""
    return (
        f"cost: generation {number(cost.generation_usd, 4)} · judge {number(cost.judge_usd, 4)} USD{unknown}"
        f" · tokens {tokens.input} in, {tokens.cached_input} cached, {tokens.output} out"
    )


def result_text(result: QuestionResult, effective: Mapping[str, str]) -> str:
    """One question with all that each layer saw."""
    question, generation, judgment = result.question, result.generation, result.claim_judgment
    repeat = "" if result.repeat is None else f" (repeat {result.repeat})"
    lines = [
        f"{question.id}{repeat}: {question.question}",
        f"doc_id {question.doc_id or '–'} · routed to {', '.join(result.route.corpora) or '–'} by {result.route.rule}"
        + (f" · MISROUTED, its documents are in {', '.join(result.route.home)}" if result.route.misrouted else ""),
    ]
    if result.error:
        lines.append(f"failed: {result.error}")
    lines += [f"note: {note}" for note in result.notes]
    lines += ["", "reference answer", _indented(question.reference_answer or "–")]
    lines += ["", "answer", _indented(generation.answer if generation else "–"), ""]
    lines += [
        f"{name:<18} {number(result.scores.get(name))}"
        + (f"  ({result.missing[name]})" if name in result.missing else "")
        for name in dict.fromkeys((*result.scores, *result.missing))
    ]
    for found in result.retrieved:
        relevant = {True: "relevant", False: "not relevant", None: "relevance unknown"}[found.relevant]
        chunk = found.chunk
        place = f"#{found.rank} {chunk.corpus}:{chunk.doc_id}"
        lines += ["", f"{place} · score {number(found.score)} · {relevant}", _indented(chunk.text)]
    for claim in judgment.claims if judgment else ():
        verdict = VERDICT_MARKS[claim.verdict]
        decided = effective.get(claim.id, claim.verdict.value)
        lines += ["", f"{claim.id} {verdict}: {claim.text}"]
        lines += [f"   reviewers: {decided}"] if decided != claim.verdict.value else []
        lines += [f"   evidence: {claim.evidence}"] if claim.evidence else []
    lines += [f"flag {flag.flag}{f' ({flag.claim_id})' if flag.claim_id else ''}: {flag.why}" for flag in result.flags]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
