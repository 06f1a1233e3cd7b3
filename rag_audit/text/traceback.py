"""Cutting a Python traceback to a length without losing the frame that names the failing function.

Library frames go first: the project's own frames and the exception itself are what a question is about.
"""

import re
from dataclasses import dataclass

_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]*)", line \d+')
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|<frozen |[/\\]Lib[/\\]|importlib[/\\]_bootstrap"
)
_MARK = "  … {count} {kind} left out"


@dataclass(slots=True)
class _Piece:
    """A frame with its source lines, or a line between frames (head, exception, chain message)."""

    text: str
    kind: str
    """library | project | between."""
    kept: bool = True


def shorten_context(text: str, limit: int) -> tuple[str, tuple[str, ...]]:
    """Cut a question's context to about `limit` characters; returns the text and what was cut, in words.

    A traceback loses library frames first, then project frames from the outermost in; other text loses its middle.
    """
    if len(text) <= limit:
        return text, ()
    pieces = _pieces(text)
    if not any(piece.kind != "between" for piece in pieces):
        return _without_middle(text, limit)
    dropped: dict[str, int] = {"library": 0, "project": 0}
    for kind in dropped:
        candidates = [piece for piece in pieces if piece.kind == kind]
        for piece in candidates[:-1] if kind == "project" else candidates:
            if len(_joined(pieces)) <= limit:
                break
            piece.kept = False
            dropped[kind] += 1
    cut = tuple(f"context: {count} {kind} frames left out" for kind, count in dropped.items() if count)
    shortened = _joined(pieces)
    if len(shortened) > limit:
        shortened, further = _without_middle(shortened, limit)
        cut += further
    return shortened, cut


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    in_frame = False
    for line in text.splitlines():
        frame = _FRAME.match(line)
        if frame:
            pieces.append(_Piece(line, "library" if _LIBRARY.search(frame["path"]) else "project"))
            in_frame = True
        elif in_frame and line.startswith("    "):
            pieces[-1].text += "\n" + line
        else:
            in_frame = False
            pieces.append(_Piece(line, "between"))
    return pieces


def _joined(pieces: list[_Piece]) -> str:
    lines: list[str] = []
    skipped = 0
    for piece in pieces:
        if piece.kept:
            if skipped:
                lines.append(_MARK.format(count=skipped, kind="frames"))
                skipped = 0
            lines.append(piece.text)
        else:
            skipped += 1
    return "\n".join(lines)


def _without_middle(text: str, limit: int) -> tuple[str, tuple[str, ...]]:
    head = limit // 2
    tail = limit - head
    cut = len(text) - limit
    return f"{text[:head]}\n… {cut:,} characters left out …\n{text[-tail:]}", (f"context: {cut:,} characters left out",)
