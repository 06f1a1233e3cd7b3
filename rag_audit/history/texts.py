"""Texts of a result that may repeat (chunks, prompts, excerpts): taken out of a question's line and put back (pure)."""

from collections.abc import Iterator
from typing import Any

Path = list[str | int]
"""Keys and indexes from the result down to one text."""

LONG = 256
"""Characters from which a text gets a line of its own."""


def take_texts(tree: Any) -> list[tuple[Path, str]]:
    """Replace every long text in the tree by null; returns where each was and what it said."""
    taken = [(path, text) for path, text in _texts(tree, []) if path and len(text) >= LONG]
    for path, _ in taken:
        put_text(tree, path, None)
    return taken


def put_text(tree: Any, path: Path, text: str | None) -> None:
    """Put one text at its place; LookupError or TypeError if the tree has no such place."""
    for step in path[:-1]:
        tree = tree[step]
    tree[path[-1]] = text


def _texts(tree: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(tree, str):
        yield path, tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _texts(value, [*path, key])
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from _texts(value, [*path, at])
