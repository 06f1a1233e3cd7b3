"""The properties of the audit sample."""

import hashlib
import math
import random

import pytest

from rag_audit.sampling import allocate, draw_questions, sample_size, seed_of_run


def _strata(**sizes: int) -> dict[str, str]:
    return {f"{name}-{at:03d}": name for name, size in sizes.items() for at in range(size)}


def test_a_draw_does_not_depend_on_the_order_of_the_questions() -> None:
    strata = _strata(old=130, new=125)
    names = list(strata)
    random.Random(1).shuffle(names)
    shuffled = {name: strata[name] for name in names}
    assert draw_questions(strata, 26, 7) == draw_questions(shuffled, 26, 7)
    assert draw_questions(strata, 26, 7).questions != draw_questions(strata, 26, 8).questions


def test_a_draw_is_the_same_on_every_platform() -> None:
    by_hash = sorted("abcdefgh", key=lambda name: hashlib.sha256(f"1\0{name}".encode()).hexdigest())
    drawn = draw_questions(dict.fromkeys("abcdefgh", "all"), 3, 1).questions
    assert drawn == tuple(by_hash[:3]) == ("a", "h", "e")
    assert seed_of_run("20260101-000000-abc") == seed_of_run("20260101-000000-abc") != seed_of_run("other")


@pytest.mark.parametrize(
    ("fraction", "population", "size"), [(0.1, 255, 26), (0.07, 100, 7), (1.0, 5, 5), (0.001, 1, 1), (0.1, 0, 0)]
)
def test_the_size_is_rounded_up(fraction: float, population: int, size: int) -> None:
    assert sample_size(fraction, population) == size


def test_a_draw_is_without_replacement_and_no_larger_than_the_run() -> None:
    draw = draw_questions(_strata(old=3, new=2), 9, 1)
    assert sorted(draw.questions) == sorted(_strata(old=3, new=2))
    assert draw_questions({}, 3, 1).questions == ()


@pytest.mark.parametrize("size", range(1, 40))
def test_each_stratum_gets_its_share(size: int) -> None:
    sizes = {"a": 7, "b": 61, "c": 1, "d": 30}
    shares = allocate(sizes, size)
    assert sum(shares.values()) == size
    for name, count in sizes.items():
        assert math.floor(size * count / 99) <= shares[name] <= math.ceil(size * count / 99)


def test_a_larger_draw_keeps_the_smaller_one() -> None:
    # Largest remainder alone takes a place from stratum c when 10 questions become 11 (the Alabama paradox).
    strata = _strata(a=6, b=6, c=2)
    assert allocate({"a": 6, "b": 6, "c": 2}, 10)["c"] > allocate({"a": 6, "b": 6, "c": 2}, 11)["c"]
    before = draw_questions(strata, 10, 3)
    after = draw_questions(strata, 11, 3, earlier=before.strata)
    assert set(before.questions) < set(after.questions)
    assert len(after.questions) == 11


@pytest.mark.parametrize("seed", range(20))
def test_growing_step_by_step_never_loses_a_question(seed: int) -> None:
    chance = random.Random(seed)
    strata = _strata(**{name: chance.randint(1, 40) for name in "abcde"})
    draw = draw_questions(strata, 1, seed)
    for size in range(2, len(strata) + 1):
        larger = draw_questions(strata, size, seed, earlier=draw.strata)
        assert set(draw.questions) <= set(larger.questions)
        assert len(larger.questions) == size
        draw = larger


def test_every_question_is_drawn_equally_often() -> None:
    strata = _strata(old=12, new=8)
    counts = dict.fromkeys(strata, 0)
    for seed in range(2000):
        for name in draw_questions(strata, 5, seed).questions:
            counts[name] += 1
    chi_square = sum((n - 500) ** 2 / 500 for n in counts.values())
    assert chi_square < 40, "far beyond what 19 degrees of freedom allow"
