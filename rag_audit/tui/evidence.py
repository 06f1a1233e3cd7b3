"""Where a claim's evidence and identifiers stand in the excerpt, as marks, and the place to show first."""

from collections.abc import Mapping

from rag_audit.model import Claim, Excerpt
from rag_audit.text.identifiers import find_identifiers, occurrences
from rag_audit.tui.views import place_of
from rag_audit.tui.widgets.passage import Mark

PARTS = ("reference", "context")


def identifiers_of(text: str) -> list[str]:
    """The identifiers of a claim, each once."""
    return list(dict.fromkeys(found.text for found in find_identifiers(text)))


def marks_of(claim: Claim, excerpt: Excerpt, *, judged: bool) -> dict[str, list[Mark]]:
    """Marks by part: the claim's own identifiers wherever they occur, and with `judged` the judge's evidence."""
    marks: dict[str, list[Mark]] = {part: [] for part in PARTS}
    names = identifiers_of(claim.text)
    for part in PARTS:
        text = excerpt.text(part)
        for name in names:
            marks[part] += [Mark(start, end, "identifier") for start, end in occurrences(name, text)]
    if judged:
        for span in claim.evidence_spans:
            marks.setdefault(span.part, []).append(Mark(span.start, span.end, "evidence"))
    return marks


def first_place(excerpt: Excerpt, marks: Mapping[str, list[Mark]]) -> tuple[int, int]:
    """Section and offset to bring into view: the evidence, else the first identifier, else the beginning."""
    for tone in ("evidence", "identifier"):
        for part in PARTS:
            starts = [mark.start for mark in marks.get(part, ()) if mark.tone == tone]
            if starts:
                return place_of(excerpt, part, min(starts))
    return 0, 0
