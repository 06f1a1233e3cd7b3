"""Cutting a traceback to fit: the message and the project's own frames stay, library frames go first."""

import re
from dataclasses import dataclass

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line \d+(?:, in .*)?$')
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]Lib[/\\]|<frozen |<string>|[/\\]\.venv[/\\]|[/\\]venv[/\\]"
    r"|node_modules|importlib[/\\]"
)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    rank: int
    """0 message or heading, 1 project frame, 2 other text, 3 library frame: the highest goes first."""


def cut_context(text: str, limit: int) -> tuple[str, str | None]:
    """The text within `limit` characters, and one line on what was cut (None: nothing).

    In a traceback whole frames of libraries are left out first, the oldest before the newest, then other lines, then
    frames of the project; the last line, which names the error, stays. Other text is cut at its end.
    """
    if len(text) <= limit:
        return text, None
    pieces = _pieces(text)
    if not any(piece.rank in (1, 3) for piece in pieces):
        return text[:limit], f"context: cut to {limit:,} of {len(text):,} characters"
    kept = set(range(len(pieces)))
    left_out = {1: 0, 2: 0, 3: 0}
    for at in sorted(kept, key=lambda at: (-pieces[at].rank, at)):
        if sum(len(pieces[index].text) for index in kept) <= limit or pieces[at].rank == 0:
            break
        kept.discard(at)
        left_out[pieces[at].rank] += 1
    shown = "".join(pieces[at].text for at in sorted(kept))
    note = (
        f"context: {left_out[3]} library frames, {left_out[1]} project frames and {left_out[2]} other parts"
        f" of a traceback left out"
    )
    return shown[-limit:], note


def _pieces(text: str) -> list[_Piece]:
    """Frames with their source lines, and the stretches between them; the last line is the message."""
    lines = text.splitlines(keepends=True)
    last = max((at for at, line in enumerate(lines) if line.strip()), default=0)
    pieces: list[_Piece] = []
    at = 0
    while at < len(lines):
        frame = _FRAME.match(lines[at].rstrip("\r\n"))
        if frame is None:
            heading = lines[at].startswith("Traceback") or at >= last
            pieces.append(_Piece(lines[at], 0 if heading else 2))
            at += 1
            continue
        indent = len(lines[at]) - len(lines[at].lstrip())
        end = at + 1
        while end < last and _indent(lines[end]) > indent and not _FRAME.match(lines[end].rstrip("\r\n")):
            end += 1
        library = bool(_LIBRARY.search(frame["file"]))
        pieces.append(_Piece("".join(lines[at:end]), 3 if library else 1))
        at = end
    return pieces


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 1_000
