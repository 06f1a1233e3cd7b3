"""Printing: stdout belongs to output, stderr to diagnostics, and untrusted text goes through `visible`."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from rag_audit.text.visible import visible, visible_line


def error_lines(message: str, hint: str) -> str:
    """The two lines of an error."""
    return f"error: {visible_line(message)}\nhint: {visible_line(hint)}"


def print_json(document: Any) -> None:
    """Print one JSON document on stdout; NaN and infinity do not exist in it."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    sys.stdout.write(orjson.dumps(document, option=options).decode() + "\n")


def say(text: str = "") -> None:
    """Print text on stdout."""
    click.echo(visible(text))


def diagnose(text: str) -> None:
    """Print a diagnostic or progress line on stderr."""
    click.echo(visible(text), err=True)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Lay out short cells in columns, widths in terminal cells; `right` lists right-aligned columns."""
    from rag_audit.text.width import pad, width

    lines = [[visible_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(width(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(pad(cell, widths[at], right=at in right) for at, cell in enumerate(line)).rstrip() for line in lines
    )


def number(value: float | None, digits: int = 3) -> str:
    """A number for a person; – where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
