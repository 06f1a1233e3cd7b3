"""A run's metrics as columns, as lines with their trend, and in the order that tells most."""

from collections import Counter
from collections.abc import Sequence

from rag_audit.metrics import METRICS
from rag_audit.model import RunSummary
from rag_audit.text.width import pad, width
from rag_audit.tui import wording
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.widgets.passage import Section
from rag_audit.tui.widgets.record_table import Column

_SHOWN_FIRST = ("hit_at_1", "faithfulness", "completeness", "no_fabrication", "keyword_coverage", "hit_at_k", "mrr")
_BARS = "▁▂▃▄▅▆▇█"


def metric_columns(names: Sequence[str]) -> list[Column[RunSummary]]:
    """A column a metric, the less telling ones first to go."""

    def cell(name: str) -> Column[RunSummary]:
        def value(run: RunSummary) -> float | None:
            return run.metrics[name].mean if name in run.metrics else None

        def text(run: RunSummary) -> Piece:
            metric = run.metrics.get(name)
            return (wording.number(metric.mean, metric.range), "plain") if metric else ("–", "quiet")

        cells = max(7, min(width(labels[name]), 16))
        return Column(labels[name], text, cells, 2 + names.index(name), right=True, sort=value)

    labels = wording.headings(names)
    return [cell(name) for name in names]


def metric_order(runs: Sequence[RunSummary]) -> list[str]:
    """The metrics any run has, the most telling ones first; of other tools' those that most runs have."""
    count = Counter(name for run in runs for name in run.metrics)
    known = [name for name in (*_SHOWN_FIRST, *METRICS) if name in count]
    return list(dict.fromkeys([*known, *sorted(count, key=lambda name: (-count[name], name))]))


def sparkline(values: Sequence[float | None]) -> str:
    """Values as bars between their least and greatest; · where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    span = high - low
    return "".join(
        "·" if value is None else _BARS[3] if span == 0 else _BARS[round((value - low) / span * 7)] for value in values
    )


def summary_section(run: RunSummary, runs: Sequence[RunSummary]) -> Section:
    """A run's context and metrics, with the trend of each over `runs`: those up to this one, oldest first."""
    context = run.context
    origin: list[Piece] = [(wording.run_name(run), "strong"), (f"  {run.id}  {run.origin.value}", "quiet")]
    if run.parent:
        origin.append((f" of {run.parent}", "quiet"))
    lines: list[Line] = [
        origin,
        _facts(
            ("generator", context.generator),
            ("claims", context.judges.get("claims")),
            ("scores", context.judges.get("scores")),
        ),
        _facts(
            ("chunks", wording.chunking(context)),
            ("retriever", wording.retriever(context)),
            ("embedder", context.embedder),
            ("routing", wording.routing(context)),
        ),
    ]
    if run.context_parity is not None or run.overlap is not None:
        parity, overlap = wording.number(run.context_parity), wording.number(run.overlap)
        lines.append(_facts(("context parity", parity), ("overlap", overlap)))
    if run.source:
        lines.append(_facts(("from", run.source)))
    lines += [[(note, "warn")] for note in run.notes]
    names = [name for name in metric_order(runs) if name in run.metrics]
    labels = wording.headings(names)
    cells = max((width(label) for label in labels.values()), default=0)
    for name in names:
        metric = run.metrics[name]
        trend = sparkline([r.metrics[name].mean if name in r.metrics else None for r in runs[-24:]])
        why = wording.missing_reasons(metric)
        lines.append(
            [
                (pad(labels[name], cells) + " ", "plain"),
                (f"{wording.number(metric.mean, metric.range):>7} ", "strong"),
                (f"{trend} ", "info"),
                (f"{wording.of_total(metric)}", "quiet"),
                (f"  {why}" if why else "", "warn" if why.startswith("!") else "quiet"),
            ]
        )
    if any(run.claims.values()):
        verdicts = "  ".join(f"{count} {word}" for word, count in run.claims.items() if count)
        lines.append(_facts(("judge's verdicts", verdicts)))
    if run.flags:
        lines.append(_facts(("flags", "  ".join(f"{count} {name}" for name, count in run.flags.items()))))
    return section_of(lines)


def _facts(*facts: tuple[str, str | None]) -> list[Piece]:
    line: list[Piece] = []
    for at, (name, value) in enumerate(facts):
        line += [(("  " if at else "") + name + " ", "quiet"), (value or "–", "plain")]
    return line
