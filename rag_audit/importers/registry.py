"""The formats that can be read, and finding out by content which one a file is."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rag_audit.errors import InputError
from rag_audit.importers.format import Format, refuse
from rag_audit.importers.formats import (
    azure,
    deepeval,
    django_explain_errors,
    generic,
    inspect_ai,
    plain,
    promptfoo,
    ragas,
    ragchecker,
    trulens,
)
from rag_audit.importers.mapping import FieldMap
from rag_audit.importers.record import ForeignRun
from rag_audit.importers.source import Source, open_source
from rag_audit.importers.values import clean

FORMATS: Mapping[str, Format] = {
    format.name: format
    for format in (
        deepeval.FORMAT,
        django_explain_errors.FORMAT,
        ragchecker.FORMAT,
        promptfoo.FORMAT,
        inspect_ai.FORMAT,
        trulens.FORMAT,
        azure.FORMAT,
        plain.FORMAT,
        ragas.FORMAT,
    )
}
"""In the order they are tried: formats with marks of their own first."""

Confirm = Callable[[FieldMap, Source], bool]
"""Asks a person whether a guessed mapping is right."""


def detect_format(source: Source) -> Format | None:
    """The first format that recognises the content; None for a file of no known tool."""
    return next((format for format in FORMATS.values() if format.recognises(source)), None)


def read_file(
    path: Path, format_name: str = "auto", mapping: FieldMap | None = None, confirm: Confirm | None = None
) -> tuple[ForeignRun, ...]:
    """The runs in a file: by the mapping where there is one, else as its own format; a guess has to be confirmed."""
    try:
        source = open_source(path)
        format = _format_of(source, format_name, mapping)
        if format is not None:
            return _doubting(format, source, format.read(source))
        if mapping is None:
            mapping = _confirmed(source, confirm)
        return generic.read(source, mapping)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Check the path.", where=clean(str(path))) from None


def is_recognised(path: Path) -> bool:
    """Whether a file is of a known tool, though it may hold no run."""
    try:
        return detect_format(open_source(path)) is not None
    except (InputError, OSError):
        return False


def _format_of(source: Source, name: str, mapping: FieldMap | None) -> Format | None:
    if mapping is not None or name == "generic":
        return None
    return FORMATS[name] if name in FORMATS else detect_format(source)


def _doubting(format: Format, source: Source, runs: tuple[ForeignRun, ...]) -> tuple[ForeignRun, ...]:
    """The runs, with a warning where the file was only taken for this format because somebody said so."""
    if format.recognises(source):
        return runs
    warning = f"this does not look like a file of {format.title}; parts of it may not have been read"
    return tuple(replace(run, warnings=(warning, *run.warnings)) for run in runs)


def _confirmed(source: Source, confirm: Confirm | None) -> FieldMap:
    guessed = generic.guess(source)
    if confirm is not None and confirm(guessed, source):
        return guessed
    raise refuse(
        source,
        "not the file of a known tool; a mapping can only be guessed",
        f"If this guess is right, import it with: {guessed.as_options()}",
    )
