"""Short cells in columns, for a terminal."""

from collections.abc import Sequence

from rag_audit.text.visible import visible_line
from rag_audit.text.width import pad, width


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: int = 0) -> str:
    """Lay out short cells in columns, widths in terminal cells; `right` lists right-aligned columns."""
    lines = [[visible_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        " " * indent + "  ".join(pad(cell, widths[at], right=at in right) for at, cell in enumerate(line)).rstrip()
        for line in lines
    )
