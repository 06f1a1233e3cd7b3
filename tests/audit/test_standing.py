"""Which decisions of a set hold."""

import random

from rag_audit.audit.standing import first_blind, first_unblinded, resolve
from rag_audit.model import Decision, Queue
from tests.audit.making import undo_of, verdict_of


def _in_force(*decisions: Decision) -> list[str]:
    return [decision.id for decision in resolve(decisions).in_force]


def test_a_change_replaces_and_its_undo_brings_the_first_back() -> None:
    first = verdict_of("q", "c1", "verified")
    second = verdict_of("q", "c1", "absent", supersedes=first.id)
    third = verdict_of("q", "c1", "contradicted", supersedes=second.id)
    assert _in_force(first, second, third) == [third.id]
    assert _in_force(first, second, third, undo_of(third)) == [second.id]


def test_an_undo_can_be_undone() -> None:
    first = verdict_of("q", "c1", "verified")
    taken_back = undo_of(first)
    assert _in_force(first, taken_back) == []
    assert _in_force(first, taken_back, undo_of(taken_back)) == [first.id]


def test_nobody_undoes_or_changes_what_another_said() -> None:
    first = verdict_of("q", "c1", "verified", "ann")
    change = verdict_of("q", "c1", "absent", "bob", supersedes=first.id)
    assert _in_force(first, undo_of(first, reviewer="bob")) == [first.id]
    assert _in_force(first, change) == [first.id, change.id]


def test_order_and_doubles_do_not_matter() -> None:
    first = verdict_of("q", "c1", "verified")
    second = verdict_of("q", "c1", "absent", supersedes=first.id)
    other = verdict_of("q", "c2", "absent", "bob")
    decisions = [first, second, other, undo_of(second)]
    expected = resolve(decisions)
    for seed in range(10):
        shuffled = decisions * 2
        random.Random(seed).shuffle(shuffled)
        assert resolve(shuffled) == expected


def test_the_first_blind_decision_of_each_reviewer_counts() -> None:
    first = verdict_of("q", "c1", "verified", "ann")
    changed = verdict_of("q", "c1", "absent", "ann", blind=False, supersedes=first.id)
    bob = verdict_of("q", "c1", "contradicted", "bob")
    elsewhere = verdict_of("other", "c1", "absent", "ann")
    assert first_blind(resolve([first, changed, bob, elsewhere]), ["q"]) == [first, bob]


def test_an_undo_before_the_reveal_voids_and_one_after_it_does_not() -> None:
    first = verdict_of("q", "c1", "verified")
    again = verdict_of("q", "c1", "absent")
    assert first_blind(resolve([first, undo_of(first), again]), ["q"]) == [again]
    assert first_blind(resolve([first, undo_of(first, informed=True)]), ["q"]) == [first]


def test_who_has_seen_the_judge_is_not_blind_any_more() -> None:
    seen = verdict_of("q", "c1", "verified", blind=False)
    later = verdict_of("q", "c1", "absent", blind=True, supersedes=seen.id)
    assert first_blind(resolve([seen, later]), ["q"]) == []
    assert first_blind(resolve([seen, undo_of(seen, informed=True), later]), ["q"]) == []


def test_the_flagged_queue_never_enters() -> None:
    flagged = verdict_of("q", "c1", "verified", queue=Queue.FLAGGED)
    unblinded = verdict_of("q", "c2", "verified", blind=False, queue=Queue.FLAGGED)
    standing = resolve([flagged, unblinded])
    assert first_blind(standing, ["q"]) == []
    assert first_unblinded(standing, []) == []


def test_unblinded_verdicts_are_kept_apart() -> None:
    blind = verdict_of("q", "c1", "verified")
    changed = verdict_of("q", "c1", "absent", blind=False, supersedes=blind.id)
    open_eyed = verdict_of("q", "c2", "absent", blind=False)
    standing = resolve([blind, changed, open_eyed])
    assert first_unblinded(standing, first_blind(standing, ["q"])) == [open_eyed]
