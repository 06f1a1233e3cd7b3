"""Printing: stdout belongs to output, stderr to diagnostics, and untrusted text goes through `visible`."""

import sys
from typing import Any

import click

from rag_audit.text.storable import storable_document
from rag_audit.text.table import table
from rag_audit.text.visible import visible, visible_line

__all__ = ["diagnose", "error_lines", "number", "print_json", "say", "table"]


def error_lines(message: str, hint: str) -> str:
    """The two lines of an error."""
    return f"error: {visible_line(message)}\nhint: {visible_line(hint)}"


def print_json(document: Any) -> None:
    """Print one JSON document on stdout; NaN, infinity and lone surrogates do not exist in it."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    try:
        encoded = orjson.dumps(document, option=options)
    except TypeError:
        encoded = orjson.dumps(storable_document(document), option=options)
    sys.stdout.write(encoded.decode() + "\n")


def say(text: str = "") -> None:
    """Print text on stdout."""
    click.echo(visible(text))


def diagnose(text: str) -> None:
    """Print a diagnostic or progress line on stderr."""
    click.echo(visible(text), err=True)


def number(value: float | None, digits: int = 3) -> str:
    """A number for a person; – where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
