"""A metric over all runs as a plot in characters, with marks where judge, questions or routing changed."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from rag_audit.model import RunSummary

_LEAST_WIDTH = 24


class Mark(NamedTuple):
    """A run at which something changed that makes numbers before and after it different measurements."""

    place: int
    """1-based, oldest run first."""
    words: tuple[str, ...]


def changes_along(runs: Sequence[RunSummary]) -> list[Mark]:
    """Where judge, questions or routing differ from the run before (oldest first)."""
    marks = []
    for place, (before, after) in enumerate(itertools.pairwise(runs), start=2):
        words = tuple(
            word
            for word, old, new in (
                ("judge", _judge(before), _judge(after)),
                ("questions", before.context.questions_hash, after.context.questions_hash),
                ("routing", _routing(before), _routing(after)),
            )
            if old != new
        )
        if words:
            marks.append(Mark(place, words))
    return marks


def _judge(run: RunSummary) -> object:
    models = {role: run.reported_models.get(role) for role in ("claims", "scores")}
    prompts = {role: run.context.prompts.get(role) for role in ("claims", "scores")}
    return dict(run.context.judges), models, prompts


def _routing(run: RunSummary) -> object:
    return dict(run.context.routing) if not isinstance(run.context.routing, str) else run.context.routing


def plot_metric(runs: Sequence[RunSummary], name: str, width: int, height: int) -> str:
    """Plot one metric's means over runs (oldest first) in `width` by `height` cells, without colour."""
    import plotext

    points = [(place, run.metrics[name].mean) for place, run in enumerate(runs, start=1) if name in run.metrics]
    known = [(place, value) for place, value in points if value is not None]
    if not known:
        return "no run has a value of this metric"
    places, values = [place for place, _ in known], [value for _, value in known]
    figure = plotext.figure
    figure.clear()
    figure.plot_size(max(width, _LEAST_WIDTH), max(height, 6))
    line = figure.signal(places, values, marker="braille")
    line.lines()
    figure.draw(line)
    figure.draw(figure.signal(places, values, marker="o"))
    for mark in changes_along(runs):
        figure.line(mark.place - 0.5, orientation=1, style="dotted")
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or max(abs(high) * 0.05, 0.05)
    figure.ruler("y").lim(low - room, high + room)
    figure.ruler("x").lim(0.5, len(runs) + 0.5)
    step = max(1, -(-len(runs) // 8))
    ticks = list(range(1, len(runs) + 1, step))
    figure.ruler("x").ticks(ticks, [str(tick) for tick in ticks])
    return str(plotext.uncolorize(str(figure.build()))).rstrip("\n")
