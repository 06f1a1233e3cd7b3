"""Widths in terminal cells, never in characters: cut, pad and wrap what is shown."""

from rich.cells import cell_len, chop_cells, set_cell_size


def width(text: str) -> int:
    """Cells that one line of text takes."""
    return cell_len(text)


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Cut (with …) or pad one line to exactly so many cells; `right` aligns to the right."""
    if cell_len(text) > cells:
        return set_cell_size(text, max(cells - 1, 0)) + "…" if cells > 0 else ""
    return " " * (cells - cell_len(text)) + text if right else set_cell_size(text, cells)


def wrap(text: str, cells: int) -> list[tuple[int, int]]:
    """Wrap visible text to lines of at most so many cells; returns (start, end) offsets, one a line.

    Breaks at spaces where there are any, else inside the word; a space at a break belongs to no line.
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for paragraph in text.split("\n"):
        lines.extend((start + low, start + high) for low, high in _wrap_line(paragraph, max(cells, 2)))
        start += len(paragraph) + 1
    return lines


def _wrap_line(line: str, cells: int) -> list[tuple[int, int]]:
    if cell_len(line) <= cells:
        return [(0, len(line))]
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(line):
        piece = chop_cells(line[start : start + cells + 1], cells)[0] or line[start]
        end = start + len(piece)
        if end < len(line) and line[end] != " ":
            space = line.rfind(" ", start + 1, end)
            end = space if space > start else end
        spans.append((start, end))
        start = end + 1 if end < len(line) and line[end] == " " else end
    return spans
