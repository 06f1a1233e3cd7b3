"""Agreement over claims: they hang together within a question, so the question is what is resampled."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_audit.statistics.agreement import CLASSES, NO_BOUNDS, Bounds, cohen_kappa, gwet_ac1, wilson

TEXTBOOK = "one claim a question: Wilson; Fleiss, Cohen & Everitt; Gwet"
_ENOUGH_QUESTIONS = 100
"""From here on the bootstrap over questions needs no warning; see docs/design.md, "Measured: audit coverage"."""


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """Agreement of judge and people over claims, with intervals that take the question as the unit."""

    n: float
    """Claims; one that several people decided counts once, shared between them."""
    n_questions: int
    raw: float | None
    raw_bounds: Bounds
    kappa: float | None
    kappa_bounds: Bounds
    ac1: float | None
    ac1_bounds: Bounds
    table: Mapping[str, Mapping[str, float]]
    """Judge's class to people's class to number of claims."""
    method: str
    notes: tuple[str, ...] = ()


def clustered_agreement(tables: Sequence[Sequence[Sequence[float]]], seed: int = 0) -> ClaimAgreement:
    """Agreement from one 3x3 table of counts a question (row = judge, column = people).

    One claim a question: the textbook intervals (Wilson; Fleiss, Cohen & Everitt; Gwet). Otherwise raw agreement has
    the hull of the bootstrap over questions and Wilson at n = questions; kappa and AC1 the bootstrap, and no interval
    where more than 5 % of the resamples leave them undefined.
    """
    total = [[math.fsum(table[i][j] for table in tables) for j in range(3)] for i in range(3)]
    n = math.fsum(map(math.fsum, total))
    kappa = cohen_kappa(total)
    ac1, agreed = _ac1_of_table(total)
    if all(sorted(value for row in table for value in row) == [0.0] * 8 + [1.0] for table in tables):
        method = TEXTBOOK
        textbook = gwet_ac1(_as_ratings(total))
        bounds = (
            wilson(math.fsum(total[i][i] for i in range(3)), n),
            (kappa.low, kappa.high),
            (textbook.low, textbook.high),
        )
    else:
        method = "bootstrap over questions; raw agreement: hull with Wilson at n = questions"
        bounds = _bootstrap_bounds(tables, agreed, seed)
    return ClaimAgreement(
        n=n,
        n_questions=len(tables),
        raw=agreed,
        raw_bounds=bounds[0],
        kappa=kappa.value,
        kappa_bounds=bounds[1],
        ac1=ac1,
        ac1_bounds=bounds[2],
        table={a: dict(zip(CLASSES, total[i], strict=True)) for i, a in enumerate(CLASSES)},
        method=method,
        notes=_remarks(len(tables), kappa.value, bounds) + _narrow(method, len(tables), bounds),
    )


def _narrow(method: str, n_questions: int, bounds: tuple[Bounds, Bounds, Bounds]) -> tuple[str, ...]:
    """The warning that bootstrap intervals of kappa and AC1 need at few questions; raw agreement's hull does not."""
    shown = bounds[1] != NO_BOUNDS or bounds[2] != NO_BOUNDS
    if method == TEXTBOOK or not shown or n_questions >= _ENOUGH_QUESTIONS:
        return ()
    return (
        f"kappa and AC1 over {n_questions} questions: nominal 95 %, measured 85 to 93 % at 26; trust raw agreement",
    )


def _remarks(n_questions: int, kappa: float | None, bounds: tuple[Bounds, Bounds, Bounds]) -> tuple[str, ...]:
    """What must be said beside the intervals: undefined, without width, or beyond what is possible."""
    remarks = []
    if n_questions and kappa is None:
        remarks.append("kappa is undefined: judge and people used only one and the same class")
    for name, (low, high) in zip(("raw agreement", "kappa", "AC1"), bounds, strict=True):
        if low is None or high is None:
            if n_questions and not (name == "kappa" and kappa is None):
                remarks.append(f"{name}: too few questions, or too uniform, for an interval")
        elif low == high:
            remarks.append(f"{name}: the interval has no width, which is not certainty (n = {n_questions} questions)")
        elif low < -1 or high > 1:
            remarks.append(f"{name}: the interval reaches past what is possible (n = {n_questions} questions)")
    return tuple(remarks)


def _as_ratings(table: Sequence[Sequence[float]]) -> list[list[str | None]]:
    """Two raters' ratings that give the table."""
    pairs = [(i, j) for i in range(3) for j in range(3) for _ in range(round(table[i][j]))]
    return [[CLASSES[i] for i, _ in pairs], [CLASSES[j] for _, j in pairs]]


def _ac1_of_table(table: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """(AC1, raw agreement) of two raters from their table of counts."""
    n = math.fsum(map(math.fsum, table))
    if n == 0:
        return None, None
    agreed = math.fsum(table[i][i] for i in range(3)) / n
    shares = [math.fsum(table[k][j] + table[j][k] for j in range(3)) / (2 * n) for k in range(3)]
    chance = math.fsum(share * (1 - share) for share in shares) / 2
    return (agreed - chance) / (1 - chance), agreed


def _bootstrap_bounds(
    tables: Sequence[Sequence[Sequence[float]]], agreed: float | None, seed: int
) -> tuple[Bounds, Bounds, Bounds]:
    """Percentile intervals of raw agreement, kappa and AC1 over resampled questions."""
    questions = len(tables)
    if questions < 2 or agreed is None:
        return wilson(agreed * questions, questions) if agreed is not None else NO_BOUNDS, NO_BOUNDS, NO_BOUNDS

    import numpy as np

    from rag_audit.statistics.paired import RESAMPLES

    flat = np.array(tables, dtype=float).reshape(questions, 9)
    distinct, counts = np.unique(flat, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    cells = (rng.multinomial(questions, counts / questions, size=RESAMPLES) @ distinct).reshape(-1, 3, 3)
    cells = cells / cells.sum(axis=(1, 2), keepdims=True)
    diagonal = cells[:, [0, 1, 2], [0, 1, 2]].sum(axis=1)
    rows, columns = cells.sum(axis=2), cells.sum(axis=1)
    shares = (rows + columns) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        by_chance = (rows * columns).sum(axis=1)
        kappas = np.where(by_chance > 1 - 1e-12, np.nan, (diagonal - by_chance) / (1 - by_chance))
        gwet_chance = (shares * (1 - shares)).sum(axis=1) / 2
        ac1s = (diagonal - gwet_chance) / (1 - gwet_chance)
    raw_low, raw_high = np.percentile(diagonal, [2.5, 97.5])
    low, high = wilson(agreed * questions, questions)
    assert low is not None
    assert high is not None
    return (
        (min(float(raw_low), low), max(float(raw_high), high)),
        _percentiles(kappas),
        _percentiles(ac1s),
    )


def _percentiles(values: Any) -> Bounds:
    import numpy as np

    defined = values[~np.isnan(values)]
    if len(defined) < 0.95 * len(values):
        return NO_BOUNDS
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)
