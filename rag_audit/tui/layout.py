"""Lines of pieces as sections of a passage."""

from collections.abc import Iterable, Sequence

from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.passage import Mark, Section

Line = Sequence[Piece]


def section_of(lines: Iterable[Line], *, title: Sequence[Piece] = ()) -> Section:
    """Lines of toned texts as one section."""
    text = ""
    marks: list[Mark] = []
    for at, line in enumerate(lines):
        text += "\n" if at else ""
        for piece, tone in line:
            marks.append(Mark(len(text), len(text) + len(piece), tone))
            text += piece
    return Section(text, tuple(title), tuple(marks))
