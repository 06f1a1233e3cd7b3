"""The stretches of a Python file that a question about one line needs: its function, and the siblings it reaches.

A look-up by name returns the first function of that name, which may be another class's; a look-up by line cannot.
The siblings that the function calls and those that call it come with it, one level, so that no recursion is halved.
"""

import ast
from collections.abc import Iterator, Sequence

from rag_audit.judging.sections import Stretch

_LINES_AROUND = 20
"""Lines shown on each side where no function contains the line, or the file is not Python."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Owner = ast.Module | ast.ClassDef


def choose_code(text: str, line: int, limit: int) -> tuple[list[Stretch], int]:
    """The stretches for one 1-based line, in file order and at most `limit` characters, and how many did not fit.

    The function whose body contains the line comes first, then the siblings that it calls, then those that call it.
    """
    offsets = _line_offsets(text)
    line = max(1, min(line, len(offsets) - 1))
    found = _function_at(text, line)
    if found is None:
        stretch = _window(offsets, line)
        return [_narrowed(stretch, offsets[line - 1], limit)], max(0, stretch.end - stretch.start - limit)
    function, owners = found
    heading = tuple(owner.name for owner in owners if isinstance(owner, ast.ClassDef))
    siblings = [node for node in owners[-1].body if isinstance(node, _Function) and node is not function]
    wanted = [function, *_called_by(function, siblings), *_callers_of(function, siblings)]
    stretches: list[Stretch] = []
    left_out = 0
    for node in dict.fromkeys(wanted):
        whole = _stretch(text, offsets, node, heading)
        size = whole.end - whole.start
        if size <= limit:
            stretches.append(whole)
            limit -= size
        elif node is function:
            stretches.append(_narrowed(whole, offsets[line - 1], limit))
            left_out, limit = left_out + size - limit, 0
        else:
            left_out += size
    return sorted(stretches, key=lambda stretch: stretch.start), left_out


def _function_at(text: str, line: int) -> tuple[_Function, Sequence[_Owner]] | None:
    """The method or module-level function around a line, with the module and classes that it stands in."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    owners: list[_Owner] = [tree]
    while True:
        inside = next((node for node in owners[-1].body if _first_line(node) <= line <= (node.end_lineno or 0)), None)
        if isinstance(inside, _Function):
            return inside, owners
        if not isinstance(inside, ast.ClassDef):
            return None
        owners.append(inside)


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _Function | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _called_by(function: _Function, siblings: Sequence[_Function]) -> Iterator[_Function]:
    names = _names_used(function)
    return (sibling for sibling in siblings if sibling.name in names)


def _callers_of(function: _Function, siblings: Sequence[_Function]) -> Iterator[_Function]:
    return (sibling for sibling in siblings if function.name in _names_used(sibling))


def _names_used(function: _Function) -> set[str]:
    """Names that a body uses as a bare name or as an attribute of its object (`self.x`, `cls.x`)."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    own = {argument.arg for argument in function.args.args[:1]} | {"self", "cls"}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in own:
            names.add(node.attr)
    return names


def _line_offsets(text: str) -> list[int]:
    """Offset of every line's first character, and of the text's end; lines end as Python's parser counts them."""
    offsets = [0]
    for line in text.replace("\f", " ").split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    offsets[-1] = len(text)
    return offsets


def _stretch(text: str, offsets: Sequence[int], node: _Function, heading: tuple[str, ...]) -> Stretch:
    start, end = offsets[_first_line(node) - 1], offsets[node.end_lineno or node.lineno]
    return Stretch(start, start + len(text[start:end].rstrip()), (*heading, node.name))


def _window(offsets: Sequence[int], line: int) -> Stretch:
    return Stretch(offsets[max(0, line - 1 - _LINES_AROUND)], offsets[min(len(offsets) - 1, line + _LINES_AROUND)])


def _narrowed(stretch: Stretch, around: int, limit: int) -> Stretch:
    """At most `limit` characters of a stretch, around one offset."""
    if stretch.end - stretch.start <= limit:
        return stretch
    start = max(stretch.start, min(around - limit // 2, stretch.end - limit))
    return Stretch(start, start + limit, stretch.heading)
