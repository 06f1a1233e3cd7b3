"""How often the printed corrected intervals hold the truth: a simulation of audits of runs whose truth is known.

`python -m benchmarks.audit_coverage [--runs 2000] [--wide]` prints a Markdown table; exit code 1 where an interval that
the report prints covers less than 93 % (beyond the simulation's own error) at its nominal 95 %.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

from rag_audit.model import Interval
from rag_audit.statistics.agreement import wilson
from rag_audit.statistics.clustered import clustered_agreement
from rag_audit.statistics.corrected import SplitCounts, corrected_mean, split_guarded

QUESTIONS = 255
LEAST = 0.93


@dataclass(frozen=True)
class Judge:
    """A judge of yes/no values by its two error rates."""

    name: str
    passes_bad: float
    fails_good: float


PERFECT = Judge("0% wrong", 0.0, 0.0)
TABLE_JUDGES = (PERFECT, *(Judge(f"{rate}% wrong", rate / 100, rate / 100) for rate in (5, 15, 30)))
LENIENT = tuple(Judge(f"{rate}% lenient", rate / 100 / 0.2, 0.0) for rate in (5, 15))
"""Wrong in 5 and 15 % of all answers where the rate is 0.8: only bad ones passed as good."""
WIDE_JUDGES = (
    *TABLE_JUDGES,
    Judge("lenient (half of the bad)", 0.5, 0.0),
    Judge("strict (a fifth of the good)", 0.0, 0.2),
    Judge("useless (coin)", 0.5, 0.5),
    Judge("constant (passes all)", 1.0, 0.0),
)
WIDE_RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)


@dataclass(frozen=True)
class Row:
    """The outcome of one setting."""

    metric: str
    n: int
    truth: str
    judge: str
    coverage: float
    width: float
    wilson_coverage: float | None
    wilson_width: float | None


@cache
def _printed_split(judged_good: int, tp: int, fp: int, fn: int, tn: int) -> tuple[float, float]:
    found = split_guarded(SplitCounts(judged_good, QUESTIONS, tp, fp, fn, tn))
    return _bounds(found)


def _bounds(found: Interval) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def yes_no(rate: float, judge: Judge, n: int, runs: int, rng: Generator) -> Row:
    """`no_fabrication`: the printed interval and Wilson beside it, for the true rate."""
    truth = rng.random((runs, QUESTIONS)) < rate
    flip = rng.random((runs, QUESTIONS))
    judged = np.where(truth, flip >= judge.fails_good, flip < judge.passes_bad)
    human, seen = truth[:, :n], judged[:, :n]
    cells = [(seen & human), (seen & ~human), (~seen & human), (~seen & ~human)]
    counts = np.stack([judged, *(np.pad(cell, ((0, 0), (0, QUESTIONS - n))) for cell in cells)]).sum(axis=2).T
    printed = [_printed_split(*(int(count) for count in row)) for row in counts]
    beside = [wilson(int(good), n) for good in human.sum(axis=1)]
    return Row(
        "no_fabrication",
        n,
        f"{rate:g}",
        judge.name,
        *_covered(printed, rate),
        *_covered([(low or 0.0, high or 0.0) for low, high in beside], rate),
    )


def _covered(intervals: Sequence[tuple[float, float]], truth: float) -> tuple[float, float]:
    """Share of the intervals that hold the truth, and their mean width."""
    holds = sum(low <= truth <= high for low, high in intervals)
    return holds / len(intervals), sum(high - low for low, high in intervals) / len(intervals)


def _means(
    metric: str,
    n: int,
    truth: str,
    judge: str,
    runs: int,
    top: float,
    draw: Callable[[], tuple[float, np.ndarray, np.ndarray]],
) -> Row:
    """A metric that is not yes/no: the printed interval for the true mean."""
    printed = []
    true_mean = 0.0
    for _ in range(runs):
        true_mean, judged, human = draw()
        known: list[float | None] = [*human[:n].tolist(), *[None] * (QUESTIONS - n)]
        printed.append(_bounds(corrected_mean(judged.tolist(), known, (0.0, top))))
    return Row(metric, n, truth, judge, *_covered(printed, true_mean), None, None)


def scores(judge_name: str, shift: float, noise: float, n: int, runs: int, rng: Generator) -> Row:
    """Scores of 0 to 10, skewed towards the top, judged with a shift and noise."""
    values = np.arange(11)
    weights = np.array([1, 1, 1, 2, 3, 5, 8, 14, 22, 25, 18], dtype=float)
    shares = weights / weights.sum()

    def draw() -> tuple[float, np.ndarray, np.ndarray]:
        human = rng.choice(values, size=QUESTIONS, p=shares).astype(float)
        judged = np.clip(np.rint(human + shift + noise * rng.standard_normal(QUESTIONS)), 0, 10)
        return float(values @ shares), judged, human

    return _means("scores 0-10", n, "skewed", judge_name, runs, 10.0, draw)


def precision(rate: float, spread: float, error: float, n: int, runs: int, rng: Generator) -> Row:
    """`claim_precision`: one to six claims an answer that hang together (beta-binomial), judged claim by claim."""
    shape = (rate * spread, (1 - rate) * spread)

    def draw() -> tuple[float, np.ndarray, np.ndarray]:
        claims = rng.integers(1, 7, size=QUESTIONS)
        good = rng.binomial(claims, rng.beta(*shape, size=QUESTIONS))
        judged = rng.binomial(good, 1 - error) + rng.binomial(claims - good, error)
        return rate, judged / claims, good / claims

    return _means("claim_precision", n, f"{rate:g}", f"{error:.0%} wrong", runs, 1.0, draw)


def _claim_tables(questions: int, error: float, spread: float, rng: Generator) -> np.ndarray:
    """One 3x3 table of counts a question: two to eight claims whose judge errors hang together."""
    size = rng.integers(2, 9, size=questions)
    wrong = rng.beta(error * spread, (1 - error) * spread, size=questions)
    tables = np.zeros((questions, 3, 3))
    for at in range(questions):
        judged = rng.choice(3, size=size[at], p=(0.75, 0.1, 0.15))
        off = rng.random(size[at]) < wrong[at]
        human = np.where(off, (judged + rng.integers(1, 3, size=size[at])) % 3, judged)
        np.add.at(tables[at], (judged, human), 1)
    return tables


def agreement(error: float, spread: float, n: int, runs: int, rng: Generator) -> Iterator[Row]:
    """Agreement over claims of n questions: raw, kappa and AC1, each against its value over very many questions."""
    truth = clustered_agreement([_claim_tables(200_000, error, spread, rng).sum(axis=0).tolist()])
    names = ("raw agreement", "kappa", "AC1")
    true_values = dict(zip(names, (truth.raw, truth.kappa, truth.ac1), strict=True))
    printed: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for run in range(runs):
        found = clustered_agreement(_claim_tables(n, error, spread, rng).tolist(), seed=run)
        for name, (low, high) in zip(names, (found.raw_bounds, found.kappa_bounds, found.ac1_bounds), strict=True):
            if low is not None and high is not None:
                printed[name].append((low, high))
    for name in names:
        value = true_values[name]
        assert value is not None
        yield Row(name, n, f"{value:.2f}", f"{error:.0%} wrong", *_covered(printed[name], value), None, None)


def settings(runs: int, wide: bool, seed: int) -> Iterator[Row]:
    """Every setting of the table, then the wider grid."""
    rng = np.random.default_rng(seed)
    for rate in (0.8, 0.95, 0.6):
        for judge in TABLE_JUDGES:
            yield yes_no(rate, judge, 26, runs, rng)
    for judge in LENIENT:
        yield yes_no(0.8, judge, 26, runs, rng)
    for n in (50, 100):
        for judge in TABLE_JUDGES[1:3]:
            yield yes_no(0.8, judge, n, runs, rng)
    for n in (26, 50):
        for name, shift, noise in (("exact", 0.0, 0.0), ("noise 1", 0.0, 1.0), ("lenient by 1, noise 2", 1.0, 2.0)):
            yield scores(name, shift, noise, n, runs, rng)
    for rate in (0.6, 0.8, 0.95, 0.98):
        for error in (0.0, 0.05, 0.15, 0.3):
            yield precision(rate, 4.0, error, 26, runs, rng)
    if wide:
        for rate in WIDE_RATES:
            for judge in WIDE_JUDGES:
                yield yes_no(rate, judge, 26, runs, rng)


def _line(row: Row) -> str:
    beside = "–" if row.wilson_coverage is None else f"{row.wilson_coverage:.1%} ({row.wilson_width:.3f})"
    return f"| {row.metric} | {row.n} | {row.truth} | {row.judge} | {row.coverage:.1%} ({row.width:.3f}) | {beside} |"


def main() -> int:
    """Print the table; 1 where something printed covers too little."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="simulated audits a setting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wide", action="store_true", help="64 further settings, useless and constant judges included")
    parser.add_argument("--agreement", action="store_true", help="agreement over claims as well; gates nothing")
    given = parser.parse_args()
    print("| metric | n | truth | judge | coverage (mean width) | Wilson on the n |\n|---|---|---|---|---|---|")
    lowest = 1.0
    if given.agreement:
        rng = np.random.default_rng(given.seed)
        for error in (0.05, 0.15):
            for n in (26, 50):
                for row in agreement(error, 3.0, n, min(given.runs, 1000), rng):
                    print(_line(row))
    for row in settings(given.runs, given.wide, given.seed):
        beside = "–" if row.wilson_coverage is None else f"{row.wilson_coverage:.1%} ({row.wilson_width:.3f})"
        print(
            f"| {row.metric} | {row.n} | {row.truth} | {row.judge} | {row.coverage:.1%} ({row.width:.3f}) | {beside} |"
        )
        sys.stdout.flush()
        lowest = min(lowest, row.coverage)
    error = 2 * math.sqrt(LEAST * (1 - LEAST) / given.runs)
    print(f"\nlowest coverage {lowest:.1%}, {given.runs} simulations a row (error about {error:.1%})", file=sys.stderr)
    return 0 if lowest >= LEAST - error else 1


if __name__ == "__main__":
    sys.exit(main())
