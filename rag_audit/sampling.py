"""The audit sample: a seeded draw of questions that does not depend on their order and grows without losing any.

All ids are ordered by a hash of seed and id; a draw is a prefix of that order, taken within each stratum where the
draw is stratified. The question is the unit: however many repeats and claims it has, it is drawn once.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

WHOLE = "all"
"""The one stratum of a simple draw."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw: question ids in queue order, and each stratum's (drawn, population)."""

    questions: tuple[str, ...]
    strata: Mapping[str, tuple[int, int]]
    population: int


def seed_of_run(run_id: str) -> int:
    """The default seed of a run's draw (0 to 2^31 - 1): another run, other questions."""
    return int.from_bytes(hashlib.sha256(b"audit sample of " + run_id.encode()).digest()[:4]) & 0x7FFFFFFF


def sample_size(fraction: float, population: int) -> int:
    """Questions in a draw: the fraction of the population, rounded up, at most all of it."""
    return min(population, math.ceil(Fraction(str(fraction)) * population))


def draw_questions(
    strata_of: Mapping[str, str], size: int, seed: int, *, earlier: Mapping[str, tuple[int, int]] | None = None
) -> Draw:
    """Draw `size` questions; `strata_of` maps every question id to its stratum.

    Each stratum gets its proportional share by largest remainder: floor or ceil of size * N_h / N, together exactly
    `size`. `earlier` is what an earlier draw with the same seed took of each stratum; no stratum gets less, so that
    every question drawn before is drawn again.
    """
    members: dict[str, list[str]] = {}
    for question in sorted(strata_of, key=lambda name: _place(seed, name)):
        members.setdefault(strata_of[question], []).append(question)
    sizes = {stratum: len(questions) for stratum, questions in members.items()}
    least = {stratum: min(sizes.get(stratum, 0), taken) for stratum, (taken, _) in (earlier or {}).items()}
    shares = allocate(sizes, min(size, len(strata_of)), least)
    drawn = {question for stratum, questions in members.items() for question in questions[: shares[stratum]]}
    return Draw(
        questions=in_queue_order(drawn, seed),
        strata={stratum: (shares[stratum], sizes[stratum]) for stratum in sorted(sizes)},
        population=len(strata_of),
    )


def in_queue_order(questions: Iterable[str], seed: int) -> tuple[str, ...]:
    """The questions in the order in which they are audited."""
    return tuple(sorted(questions, key=lambda name: _place(seed, name)))


def _place(seed: int, question: str) -> tuple[bytes, str]:
    return hashlib.sha256(f"{seed}\0{question}".encode("utf-8", "surrogatepass")).digest(), question


def allocate(sizes: Mapping[str, int], size: int, least: Mapping[str, int] | None = None) -> dict[str, int]:
    """Proportional allocation by largest remainder, no stratum below `least`, together exactly `size`.

    Where `least` alone asks for more than a proportional share leaves (strata that an earlier draw rounded up), the
    other strata give way, those with the smallest remainder first.
    """
    population = sum(sizes.values())
    if population == 0:
        return {}
    quota = {stratum: Fraction(size * count, population) for stratum, count in sizes.items()}
    bottom = {stratum: (least or {}).get(stratum, 0) for stratum in sizes}
    shares = {stratum: max(math.floor(quota[stratum]), bottom[stratum]) for stratum in sizes}
    by_remainder = sorted(sizes, key=lambda stratum: (shares[stratum] - quota[stratum], stratum))
    while sum(shares.values()) < size:
        for stratum in by_remainder:
            if sum(shares.values()) < size and shares[stratum] < sizes[stratum]:
                shares[stratum] += 1
    while sum(shares.values()) > max(size, sum(bottom.values())):
        for stratum in reversed(by_remainder):
            if sum(shares.values()) > size and shares[stratum] > bottom[stratum]:
                shares[stratum] -= 1
    return shares
