"""Numbers, times and counts as the screens print them; what is missing is –, never 0."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rag_audit.model import UNKNOWN, MetricSummary, Route, RunContext, RunSummary, is_failed

SHORT_NAMES: Mapping[str, str] = {
    "hit_at_1": "hit@1",
    "hit_at_k": "hit@k",
    "mrr": "mrr",
    "keyword_coverage": "kw cov",
    "keyword_recall": "kw rec",
    "faithfulness": "faith",
    "completeness": "compl",
    "no_fabrication": "no fab",
    "claim_precision": "cl prec",
}


def short_name(metric: str) -> str:
    """A metric's name as a column heading; names of other tools lose their prefix."""
    return SHORT_NAMES.get(metric) or metric.rpartition(".")[2]


def headings(metrics: Iterable[str], own: Mapping[str, str] = SHORT_NAMES) -> dict[str, str]:
    """Metrics as headings beside each other; two that would read the same keep their whole names."""
    short = {name: own.get(name) or name.rpartition(".")[2] for name in metrics}
    count = Counter(short.values())
    return {name: label if count[label] == 1 else name for name, label in short.items()}


def number(value: float | None, range_: tuple[float | None, float | None] = (0.0, 1.0)) -> str:
    """A value with as many digits as its range makes meaningful."""
    if value is None:
        return "–"
    high = range_[1]
    digits = 3 if high is not None and high <= 1 else 2
    if abs(value) >= 1e6 or value != value:
        return f"{value:.3g}"
    return f"{value:.{digits}f}"


def score(value: float | None) -> str:
    """One question's value: whole numbers without decimals."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.2g}"


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return "–" if value is None else f"{value:+.3f}"


def of_total(metric: MetricSummary | None) -> str:
    """n scored of n total."""
    return "" if metric is None else f"{metric.n}/{metric.total}"


def missing_reasons(metric: MetricSummary) -> str:
    """Why values are missing: failed reasons first and marked with !, then those that do not apply."""
    reasons = sorted(metric.missing.items(), key=lambda item: not is_failed(item[0]))
    return ", ".join(
        f"{'! ' if is_failed(reason) else ''}{count} {reason.replace('_', ' ')}" for reason, count in reasons
    )


def when(started_at: str) -> str:
    """A stored time as date and minute, UTC."""
    return started_at[:16].replace("T", " ")


def duration(seconds: float | None) -> str:
    """Seconds as a person says them."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"


def usd(value: float | None) -> str:
    """A cost in US dollars."""
    return "unknown" if value is None else f"${value:.2f}"


def plain_value(value: Any) -> str:
    """A setting's value as text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {plain_value(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_value(item) for item in value)
    return str(value)


def chunking(context: RunContext) -> str:
    """Chunk size and overlap in a few words."""
    if not isinstance(context.chunking, Mapping):
        return str(context.chunking)
    size, overlap = context.chunking.get("size"), context.chunking.get("overlap")
    if size is None:
        return plain_value(context.chunking)
    return f"{size}/{overlap} {context.chunking.get('unit', 'chars')}"


def routing(context: RunContext) -> str:
    """Whether questions were routed."""
    if not isinstance(context.routing, Mapping):
        return str(context.routing)
    if context.routing.get("enabled", True):
        return "on"
    return f"off → {plain_value(context.routing.get('default_corpus'))}"


def retriever(context: RunContext) -> str:
    """The retriever's mode and depth in a few words."""
    if not isinstance(context.retriever, Mapping):
        return str(context.retriever)
    mode, top_k = context.retriever.get("mode"), context.retriever.get("top_k")
    return plain_value(context.retriever) if mode is None else f"{mode} top {top_k}"


def route(route: Route | None) -> str:
    """Where a question was routed and by which rule."""
    if route is None:
        return "–"
    corpora = " + ".join(corpus for corpus in route.corpora if corpus != UNKNOWN)
    if corpora:
        return f"routed to {corpora} by {route.rule}"
    return "route unknown" if route.rule == "imported" else "routed nowhere"


def run_name(summary: RunSummary) -> str:
    """The label, or the id where there is none."""
    return summary.label or summary.id


def time_left(seconds: float) -> str:
    """Time left, as `3m 20s left`."""
    return f"{duration(seconds)} left"


def plural(count: int, noun: str) -> str:
    """`1 claim`, `3 claims`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
