"""The formats that can be read, and finding out by content which one a file is."""

from collections.abc import Mapping
from pathlib import Path

from rag_audit.importers.format import Format
from rag_audit.importers.formats import azure, plain, ragas
from rag_audit.importers.record import ForeignRun
from rag_audit.importers.source import Source, open_source

FORMATS: Mapping[str, Format] = {format.name: format for format in (azure.FORMAT, plain.FORMAT, ragas.FORMAT)}
"""In the order they are tried: formats with marks of their own first."""


def detect_format(source: Source) -> Format | None:
    """The first format that recognises the content; None for a file of no known tool."""
    return next((format for format in FORMATS.values() if format.recognises(source)), None)


def read_foreign(path: Path, format_name: str = "auto") -> tuple[ForeignRun, ...]:
    source = open_source(path)
    format = FORMATS.get(format_name) or detect_format(source)
    assert format
    return format.read(source)
