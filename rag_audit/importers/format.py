"""What a format is: a name, how a file of it is recognised, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass

from rag_audit.errors import InputError
from rag_audit.importers.record import ForeignRun
from rag_audit.importers.source import Source


@dataclass(frozen=True, slots=True)
class Format:
    """One format of results."""

    name: str
    """As `--format` takes it."""
    title: str
    """The tool, for people."""
    recognises: Callable[[Source], bool]
    """Whether the content is of this format, a look-alike or a part of it included: `read` then says what is wrong."""
    read: Callable[[Source], tuple[ForeignRun, ...]]
    """The runs in the file; refuses what is no run with an InputError."""


def refuse(source: Source, why: str, hint: str) -> InputError:
    """The error for a file that is no run."""
    return InputError(why, hint, where=source.where)
