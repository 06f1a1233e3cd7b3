"""The stretch of Python code a question is about: the function around a line, and the siblings it reaches.

Found by position, never by name: the first function of that name may belong to another class. Siblings are taken one
level in both directions, so that neither half of a recursion is missing.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_audit.judging.sections import Stretch

_AROUND = 15
"""Lines shown on each side where no function holds the line, or the text is no Python."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_SOURCE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _Place:
    """A function with the class it is a method of."""

    function: Function
    owner: ast.ClassDef | None

    @property
    def heading(self) -> tuple[str, ...]:
        return (self.owner.name, self.function.name) if self.owner else (self.function.name,)


def split_source(source: str) -> tuple[str, int] | None:
    """`file:line` as (file, line); None where it is no such thing."""
    match = _SOURCE.fullmatch(source.strip())
    return (match["file"], int(match["line"])) if match and int(match["line"]) > 0 else None


def code_stretches(text: str, line: int, limit: int) -> tuple[list[Stretch], int]:
    """The function whose body contains the 1-based line, then what it calls and what calls it, in document order.

    At most `limit` characters, the function itself first; also returns how many characters did not fit. No stretch
    where the text has no such line.
    """
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    if line > len(starts):
        return [], 0
    try:
        places = list(_places(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        places = []
    here = [place for place in places if _first_line(place.function) <= line <= (place.function.end_lineno or 0)]
    if not here:
        low, high = max(line - 1 - _AROUND, 0), min(line + _AROUND, len(starts))
        wanted = [Stretch(starts[low], starts[high] if high < len(starts) else len(text))]
    else:
        wanted = [_stretch(place, starts, text) for place in (here[0], *_reached(here[0], places))]
    kept: list[Stretch] = []
    left, left_out = limit, 0
    for stretch in wanted:
        size = stretch.end - stretch.start
        if size <= left:
            kept.append(stretch)
            left -= size
        elif not kept:
            kept.append(Stretch(stretch.start, stretch.start + left, stretch.heading))
            left_out, left = left_out + size - left, 0
        else:
            left_out += size
    return sorted(kept, key=lambda stretch: stretch.start), left_out


def _places(tree: ast.Module) -> Iterator[_Place]:
    """Functions of the module and methods of its classes; a nested function belongs to the one around it."""

    def within(body: Sequence[ast.stmt], owner: ast.ClassDef | None) -> Iterator[_Place]:
        for node in body:
            if isinstance(node, Function):
                yield _Place(node, owner)
            elif isinstance(node, ast.ClassDef):
                yield from within(node.body, node)
            else:
                inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
                yield from within(inner, owner)

    return within(tree.body, None)


def _reached(here: _Place, places: Sequence[_Place]) -> list[_Place]:
    """Siblings that the function calls, then siblings that call it."""
    family = _family(here, places)
    called = _calls(here)
    callees = [place for place in places if place is not here and _is_called(place, called, family)]
    callers = [
        place
        for place in places
        if place is not here and place not in callees and _is_called(here, _calls(place), _family(place, places))
    ]
    return callees + callers


def _family(place: _Place, places: Sequence[_Place]) -> frozenset[str]:
    """The class of a method and those of its bases that the module defines, whose methods `self` reaches."""
    classes = {other.owner.name: other.owner for other in places if other.owner}
    names: set[str] = set()
    waiting = [place.owner.name] if place.owner else []
    while waiting:
        name = waiting.pop()
        if name in classes and name not in names:
            names.add(name)
            waiting += [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
    return frozenset(names)


def _calls(place: _Place) -> frozenset[tuple[str, str]]:
    """What a function refers to: (receiver, name), the receiver empty for plain names, `self` for its own object."""
    found: set[tuple[str, str]] = set()
    arguments = place.function.args.posonlyargs + place.function.args.args
    own = arguments[0].arg if place.owner and arguments else None
    for node in ast.walk(place.function):
        if isinstance(node, ast.Attribute):
            value = node.value
            if isinstance(value, ast.Name):
                found.add(("self" if value.id == own else value.id, node.attr))
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super":
                found.add(("self", node.attr))
        elif isinstance(node, ast.Name):
            found.add(("", node.id))
    return frozenset(found)


def _is_called(place: _Place, calls: frozenset[tuple[str, str]], family: frozenset[str]) -> bool:
    name = place.function.name
    if place.owner is None:
        return ("", name) in calls
    return (place.owner.name, name) in calls or (place.owner.name in family and ("self", name) in calls)


def _first_line(function: Function) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _stretch(place: _Place, starts: Sequence[int], text: str) -> Stretch:
    last = place.function.end_lineno or place.function.lineno
    end = starts[last] if last < len(starts) else len(text)
    start = starts[_first_line(place.function) - 1]
    return Stretch(start, start + len(text[start:end].rstrip()), place.heading)
