"""Do two raters, or many, say the same? Raw agreement, kappa, AC1 and alpha.

They treat ratings as independent; claims, which hang together within a question, are for `statistics.clustered`.
Undefined is None, never NaN, 0 or 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.statistics.distributions import Z95, t95

CLASSES = ("verified", "contradicted", "absent")
"""Always the three, even where one never occurs: chance agreement depends on how many there could be."""

Bounds = tuple[float | None, float | None]
NO_BOUNDS: Bounds = (None, None)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An agreement coefficient with its standard error and 95 % interval, not cut to the possible range."""

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int
    agreement: float | None = None
    """Share of agreement (0-1) before chance is taken out."""
    chance: float | None = None
    n_pairable: int = 0
    """Items with at least two ratings."""


def wilson(agree: float, n: float) -> Bounds:
    """Wilson's 95 % interval for a share of `agree` in `n`, without continuity correction; (None, None) for n = 0.

    Wilson 1927; Brown, Cai & DasGupta 2001.
    """
    if n <= 0:
        return NO_BOUNDS
    share = agree / n
    spread = Z95 * Z95 / n
    centre = (share + spread / 2) / (1 + spread)
    half = Z95 * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return (0.0 if agree == 0 else centre - half), (1.0 if agree == n else centre + half)


def count_pairs(
    rater_a: Sequence[str | None], rater_b: Sequence[str | None], classes: Sequence[str] = CLASSES
) -> list[list[float]]:
    """Table of counts: row = rater A's class, column = rater B's; pairs with a missing side are left out."""
    table = [[0.0] * len(classes) for _ in classes]
    place = {name: at for at, name in enumerate(classes)}
    for a, b in zip(rater_a, rater_b, strict=True):
        if a is not None and b is not None:
            table[place[a]][place[b]] += 1
    return table


def cohen_kappa(table: Sequence[Sequence[float]]) -> Coefficient:
    """Cohen's kappa of a square table of counts, with the non-null standard error and the normal interval.

    Cohen 1960; Fleiss, Cohen & Everitt 1969. None where both raters used only one and the same class.
    """
    size = range(len(table))
    n = math.fsum(map(math.fsum, table))
    if n == 0:
        return Coefficient(None, None, None, None, 0)
    rows = [math.fsum(table[i]) / n for i in size]
    columns = [math.fsum(table[i][j] for i in size) / n for j in size]
    agreed = math.fsum(table[i][i] for i in size) / n
    chance = math.fsum(r * c for r, c in zip(rows, columns, strict=True))
    if any(r == 1 and c == 1 for r, c in zip(rows, columns, strict=True)):
        return Coefficient(None, None, None, None, round(n), agreed, 1.0, round(n))
    kappa = (agreed - chance) / (1 - chance)
    variance = (
        math.fsum(table[i][i] / n * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in size)
        + (1 - kappa) ** 2
        * math.fsum(table[i][j] / n * (columns[i] + rows[j]) ** 2 for i in size for j in size if i != j)
        - (kappa - chance * (1 - kappa)) ** 2
    ) / ((1 - chance) ** 2 * n)
    se = math.sqrt(variance) if variance > 1e-15 else 0.0
    return Coefficient(kappa, se, kappa - Z95 * se, kappa + Z95 * se, round(n), agreed, chance, round(n))


def gwet_ac1(ratings: Sequence[Sequence[str | None]], classes: Sequence[str] = CLASSES) -> Coefficient:
    """Gwet's AC1 of two or more raters (one sequence each, over the same items; None where one did not rate).

    Gwet 2008, as in irrCAC: standard error by linearised item values, t interval with n - 1, upper end cut at 1.
    """
    items = [tally for tally in _tallies(ratings, classes) if sum(tally)]
    n = len(items)
    paired = [tally for tally in items if sum(tally) >= 2]
    if not paired:
        return Coefficient(None, None, None, None, n)
    item_agreement = [_item_agreement(tally) for tally in items]
    agreed = math.fsum(item_agreement) / len(paired)
    shares = [math.fsum(tally[k] / sum(tally) for tally in items) / n for k in range(len(classes))]
    chance = math.fsum(share * (1 - share) for share in shares) / (len(classes) - 1)
    value = (agreed - chance) / (1 - chance)
    if n == 1:
        return Coefficient(value, None, None, None, n, agreed, chance, len(paired))
    squares = []
    for tally, own in zip(items, item_agreement, strict=True):
        weight = n / len(paired) if sum(tally) >= 2 else 0.0
        own_value = weight * (own - chance) / (1 - chance)
        own_chance = math.fsum(count / sum(tally) * (1 - share) for count, share in zip(tally, shares, strict=True)) / (
            len(classes) - 1
        )
        linear = own_value - 2 * (1 - value) * (own_chance - chance) / (1 - chance)
        squares.append((linear - value) ** 2)
    se = math.sqrt(math.fsum(squares) / (n * (n - 1)))
    se = 0.0 if se < 2e-15 else se
    half = t95(n - 1) * se
    return Coefficient(value, se, value - half, min(1.0, value + half), n, agreed, chance, len(paired))


def krippendorff_alpha(ratings: Sequence[Sequence[str | None]], classes: Sequence[str] = CLASSES) -> Coefficient:
    """Krippendorff's nominal alpha of two or more raters; items with fewer than two ratings drop out wholly.

    Krippendorff 2004; Hayes & Krippendorff 2007. None where nothing is pairable or only one class occurs.
    """
    units = [tally for tally in _tallies(ratings, classes) if sum(tally) >= 2]
    totals = [sum(unit[k] for unit in units) for k in range(len(classes))]
    n = sum(totals)
    expected = math.fsum(total * (n - total) for total in totals) / (n * (n - 1)) if units else 0.0
    if expected == 0:
        return Coefficient(None, None, None, None, len(units), n_pairable=len(units))
    observed = math.fsum(math.fsum(m * (sum(unit) - m) for m in unit) / (sum(unit) - 1) for unit in units) / n
    return Coefficient(1 - observed / expected, None, None, None, len(units), n_pairable=len(units))


def _tallies(ratings: Sequence[Sequence[str | None]], classes: Sequence[str]) -> list[list[int]]:
    """Item by item, how many raters chose each class."""
    place = {name: at for at, name in enumerate(classes)}
    tallies = []
    for item in zip(*ratings, strict=True):
        tally = [0] * len(classes)
        for rating in item:
            if rating is not None:
                tally[place[rating]] += 1
        tallies.append(tally)
    return tallies


def _item_agreement(tally: Sequence[int]) -> float:
    raters = sum(tally)
    return math.fsum(m * (m - 1) for m in tally) / (raters * (raters - 1)) if raters >= 2 else 0.0


def weighted_kappa(a: Sequence[float | None], b: Sequence[float | None]) -> float | None:
    """Quadratic-weighted kappa (Cohen 1968) of two series of scores; None where both are one and the same value."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not pairs:
        return None
    n = len(pairs)
    mean_a, mean_b = math.fsum(x for x, _ in pairs) / n, math.fsum(y for _, y in pairs) / n
    variance = math.fsum((x - mean_a) ** 2 for x, _ in pairs) / n + math.fsum((y - mean_b) ** 2 for _, y in pairs) / n
    # Disagreement expected by chance: the mean squared distance of any a to any b.
    expected = variance + (mean_a - mean_b) ** 2
    if expected == 0:
        return None
    return 1 - math.fsum((x - y) ** 2 for x, y in pairs) / n / expected
