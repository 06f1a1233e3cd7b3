"""The hash graph: every record names the heads it was appended to, so that branches merge by line union (pure)."""

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any


def heads_of(parents: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The records that no other record names as a parent, sorted; `parents` is record to its parents."""
    named = {parent for listed in parents.values() for parent in listed}
    return tuple(sorted(record for record in parents if record not in named))


def in_order(parents: Mapping[str, Sequence[str]], rank: Callable[[str], Any]) -> list[str]:
    """Parents before children, and by rank where the graph leaves it open; unknown parents are ignored.

    The order depends on the records alone, not on the order of the lines, so that it is the same after every merge.
    """
    children: dict[str, list[str]] = {record: [] for record in parents}
    waiting = dict.fromkeys(parents, 0)
    for record, listed in parents.items():
        for parent in set(listed):
            if parent in children:
                children[parent].append(record)
                waiting[record] += 1
    ready = [(rank(record), record) for record, count in waiting.items() if count == 0]
    heapify(ready)
    ordered: list[str] = []
    while ready:
        _, record = heappop(ready)
        ordered.append(record)
        for child in children[record]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(ready, (rank(child), child))
    return ordered
