"""A source document: the unit that a question names by its doc_id."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a document."""

    path: str
    """Relative to the project's folder, with `/`."""
    start: int
    """Offset of the file's text in the document's text, in characters."""
    length: int
    """Characters of the file's text."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of one corpus: a file, or the files of a module folder that has a doc_id of its own."""

    doc_id: str
    corpus: str
    path: str
    """The file (or the module's folder), relative to the project's folder."""
    title: str | None
    files: tuple[SourceFile, ...]
    folder: str
    """The folder below documents/ whose settings apply."""
    digest: str
    """Hash of everything that shapes its chunks apart from the settings: files, their order and their bytes."""
    empty: bool = False
    """Whether it has no text beyond front matter and white space."""
