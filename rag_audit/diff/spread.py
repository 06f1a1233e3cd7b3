"""Figures beside the differences: the runs' own means, the same by corpus, and what repeats vary by themselves."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from rag_audit.diff.columns import Column
from rag_audit.diff.pairing import Pair
from rag_audit.metrics import mean
from rag_audit.model import QuestionRow, RunSummary


def own_means(
    metrics: Sequence[str], before: RunSummary, after: RunSummary
) -> dict[str, tuple[float | None, int, float | None, int]]:
    """Mean and n of each run over everything it scored itself: beside the paired means, never instead of them."""
    found = {}
    for name in metrics:
        earlier, later = before.metrics.get(name), after.metrics.get(name)
        found[name] = (
            earlier.mean if earlier else None,
            earlier.n if earlier else 0,
            later.mean if later else None,
            later.n if later else 0,
        )
    return found


def corpus_means(
    columns: Mapping[str, Column], pairs: Sequence[Pair]
) -> dict[str, dict[str, tuple[float | None, float | None, int]]]:
    """Corpus to metric to (before, after, n): the paired means of the questions that count for each corpus."""
    import numpy as np

    corpora = [pair.corpus for pair in pairs]
    found: dict[str, dict[str, tuple[float | None, float | None, int]]] = {}
    for corpus in sorted({corpus for corpus in corpora if corpus is not None}):
        own = np.array([one == corpus for one in corpora], dtype=bool)
        found[corpus] = {}
        for name, column in columns.items():
            usable = column.usable[own[column.usable]]
            if usable.size:
                means = mean(column.before[usable].tolist()), mean(column.after[usable].tolist())
                found[corpus][name] = (*means, len(usable))
    return found


def noise_floor(metrics: Sequence[str], *runs: Sequence[QuestionRow]) -> dict[str, float]:
    """Metric to the standard deviation that repeats of one question show, pooled over questions and runs.

    In the metric's own units; a metric without repeats that both have a value is left out.
    """
    repeats: defaultdict[tuple[int, str], list[QuestionRow]] = defaultdict(list)
    for number, rows in enumerate(runs):
        for row in rows:
            if row.repeat is not None:
                repeats[number, row.id].append(row)
    groups = [rows for rows in repeats.values() if len(rows) > 1]
    floors = {}
    for name in metrics:
        squares, freedom = 0.0, 0
        for rows in groups:
            values = [value for row in rows if (value := row.scores.get(name)) is not None]
            centre = mean(values)
            if centre is not None and len(values) > 1:
                squares += math.fsum((value - centre) ** 2 for value in values)
                freedom += len(values) - 1
        if freedom:
            floors[name] = math.sqrt(squares / freedom)
    return floors
