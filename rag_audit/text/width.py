"""Widths in terminal cells, never in characters: cut, pad and wrap what is shown."""

from rich.cells import cell_len, set_cell_size, split_graphemes


def width(text: str) -> int:
    """Cells that one line of text takes."""
    return len(text) if text.isascii() else cell_len(text)


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Cut (with …) or pad one line to exactly so many cells; `right` aligns to the right."""
    taken = width(text)
    if taken > cells:
        return set_cell_size(text, max(cells - 1, 0)) + "…" if cells > 0 else ""
    return " " * (cells - taken) + text if right else text + " " * (cells - taken)


def fit(text: str, cells: int) -> str:
    """Cut one line (with …) to at most so many cells, without padding."""
    return text if width(text) <= cells else pad(text, cells)


def wrap(text: str, cells: int) -> list[tuple[int, int]]:
    """Wrap visible text to lines of at most so many cells; returns (start, end) offsets, one a line.

    Breaks at spaces where there are any, else between graphemes; a space at a break belongs to no line.
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for paragraph in text.split("\n"):
        wrapped = _wrap_ascii if paragraph.isascii() else _wrap_graphemes
        lines.extend((start + low, start + high) for low, high in wrapped(paragraph, max(cells, 2)))
        start += len(paragraph) + 1
    return lines


def _wrap_ascii(line: str, cells: int) -> list[tuple[int, int]]:
    length = len(line)
    if length <= cells:
        return [(0, length)]
    spans: list[tuple[int, int]] = []
    start = 0
    while start < length:
        end = min(start + cells, length)
        if end < length and line[end] != " ":
            space = line.rfind(" ", start + 1, end)
            end = space if space > start else end
        spans.append((start, end))
        start = end + 1 if end < length and line[end] == " " else end
    return spans


def _wrap_graphemes(line: str, cells: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = taken = 0
    space: tuple[int, int] | None = None
    """Offset of the last space of the line under way, and the cells taken up to and with it."""
    for low, high, size in split_graphemes(line)[0]:
        if taken + size > cells and low > start:
            if line[low] == " ":
                spans.append((start, low))
                start, taken, space = high, 0, None
                continue
            if space is not None:
                spans.append((start, space[0]))
                start, taken = space[0] + 1, taken - space[1]
            else:
                spans.append((start, low))
                start, taken = low, 0
            space = None
        taken += size
        if line[low] == " " and low > start:
            space = (low, taken)
    spans.append((start, len(line)))
    return spans
