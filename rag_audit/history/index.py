"""The index line of a closed run: fixed-width entries sorted by question, searched where they lie on disk."""

from collections.abc import Iterable

from rag_audit.history import jsonl

_KEY = 16
ENTRY = _KEY + 8 + 12 + 8
"""Hex digits of one entry: key of the question id, repeat (0: none), offset, length."""


def key_of(question_id: str) -> str:
    """The key a question is sorted by."""
    return jsonl.digest(jsonl.encode(question_id))[:_KEY]


def index_entry(question_id: str, repeat: int | None, offset: int, length: int) -> str:
    """One entry."""
    return f"{key_of(question_id)}{repeat or 0:08x}{offset:012x}{length:08x}"


def index_line(entries: Iterable[str]) -> tuple[bytes, int]:
    """The index line and where in it the first entry begins."""
    opening = b'{"schema":1,"kind":"index","entries":"'
    line = jsonl.seal(opening + "".join(sorted(entries)).encode() + b'"}')
    return line, jsonl.BODY_AT + len(opening) - 1


def read_entry(handle: int, start: int, number: int) -> tuple[str, int, int, int]:
    """Entry by number: (key, repeat, offset, length)."""
    text = jsonl.read_at(handle, start + number * ENTRY, ENTRY).decode("ascii", "replace")
    return text[:_KEY], int(text[_KEY:-20], 16), int(text[-20:-8], 16), int(text[-8:], 16)


def entries_of_question(handle: int, index: tuple[int, int], question_id: str) -> list[tuple[int, int]]:
    """Offset and length of every line whose question has this id's key, by repeat; found by bisection."""
    start, count = index
    wanted = key_of(question_id)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if read_entry(handle, start, middle)[0] < wanted:
            low = middle + 1
        else:
            high = middle
    found: list[tuple[int, int]] = []
    while low < count:
        key, _, offset, length = read_entry(handle, start, low)
        if key != wanted:
            break
        found.append((offset, length))
        low += 1
    return found
