"""The documents of a project: one scan of documents/ gives every corpus its files, doc_ids and fingerprints."""

import difflib
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from rag_audit.config import CONFIG_FILE
from rag_audit.corpus.problem import Problem
from rag_audit.errors import InputError
from rag_audit.fingerprint import fingerprint
from rag_audit.folders import check_inside, walk_folders
from rag_audit.model import Document, SourceFile
from rag_audit.model.settings import Settings
from rag_audit.text.headings import document_title, has_body
from rag_audit.text.storable import storable

_TEXTS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Documents:
    """Every corpus of a project with its documents, in the order of their doc_ids."""

    project: Path
    corpora: Mapping[str, tuple[Document, ...]]
    warnings: tuple[Problem, ...] = ()
    by_id: Mapping[str, Document] = field(default_factory=dict)

    def get(self, doc_id: str) -> Document | None:
        """The document of a doc_id, or None."""
        return self.by_id.get(doc_id)

    def text(self, doc_id: str) -> str:
        """The document's text, as in its file (line ends kept, so that offsets match); raises InputError if unknown.

        The files of a module with its own doc_id follow one another in the order of `Document.files`.
        """
        document = self.by_id.get(doc_id)
        if document is None:
            raise InputError(f"no document {doc_id}", "rag-audit questions check lists what is known.")
        return _document_text(self.project, document)

    def fingerprint(self, corpus: str) -> str:
        """Hash of a corpus: the doc_ids and bytes of all its documents."""
        return fingerprint(
            part for document in self.corpora.get(corpus, ()) for part in (document.doc_id, document.digest)
        )

    def nearest(self, doc_id: str) -> list[str]:
        """The known doc_ids that are most like this one, best first; at most three."""
        wanted = PurePosixPath(doc_id).with_suffix("").as_posix() if "/" in doc_id or "." in doc_id else doc_id
        if wanted != doc_id and wanted in self.by_id:
            return [wanted]
        same_name = [known for known in self.by_id if known.rpartition("/")[2] == wanted.rpartition("/")[2]]
        alike = difflib.get_close_matches(wanted, self.by_id, n=3, cutoff=0.5)
        return list(dict.fromkeys((*alike[:1], *sorted(same_name)[:2], *alike[1:])))[:3]


def scan_documents(project: Path, settings: Settings) -> Documents:
    """Scan documents/ once; reads every source file to check and fingerprint it.

    Raises InputError for a missing folder, a file that is not UTF-8, a path that leaves the project, or a doc_id that
    two files claim.
    """
    root = project / "documents"
    if not root.is_dir():
        raise InputError("no documents/ folder", "Put each corpus into documents/<corpus>/.", where="documents")
    warnings = [
        Problem(f"documents/{entry.name}", None, None, "not in a corpus folder, ignored")
        for entry in sorted(root.iterdir())
        if not entry.is_dir() and entry.name != CONFIG_FILE and not entry.name.startswith(".")
    ]
    by_id: dict[str, Document] = {}
    corpora: dict[str, tuple[Document, ...]] = {}
    for folder in sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        documents = _scan_corpus(project, folder, settings)
        for document in documents:
            if document.doc_id in by_id:
                raise _duplicate(document.doc_id, by_id[document.doc_id].path, document.path)
            by_id[document.doc_id] = document
            if document.empty:
                warnings.append(Problem(document.path, None, None, "no text"))
        if not documents:
            patterns = ", ".join(settings.items("files", folder.name))
            warnings.append(Problem(f"documents/{folder.name}", None, None, f"no file matches {patterns}"))
        corpora[folder.name] = documents
    if not corpora:
        raise InputError("no corpus", "Put each corpus into a folder of its own below documents/.", where="documents")
    return Documents(project, corpora, tuple(warnings), by_id)


def _duplicate(doc_id: str, first: str, second: str) -> InputError:
    return InputError(
        f"the doc_id {doc_id} belongs to two files: {first} and {second}",
        "Rename one of them, or give its module a doc_id of its own in config.yml.",
        where=second,
    )


def _scan_corpus(project: Path, folder: Path, settings: Settings) -> tuple[Document, ...]:
    """The documents of one corpus, by doc_id."""
    files_of: dict[str, list[Path]] = {}
    named: dict[str, str] = {}
    for path in _source_files(project, folder, settings):
        inner = path.relative_to(project / "documents")
        nearest = _nearest_config(project, path.parent)
        own_id = settings.corpora.get(nearest, {}).get("doc_id")
        doc_id = str(own_id) if own_id else inner.with_suffix("").as_posix()
        claimed_by = nearest if own_id else inner.as_posix()
        if named.setdefault(doc_id, claimed_by) != claimed_by:
            raise _duplicate(doc_id, f"documents/{named[doc_id]}", f"documents/{claimed_by}")
        files_of.setdefault(doc_id, []).append(path)
    return tuple(
        _read_document(project, folder.name, doc_id, files_of[doc_id], settings) for doc_id in sorted(files_of)
    )


def _nearest_config(project: Path, folder: Path) -> str:
    """The folder (below documents/) of the nearest config.yml at or above a folder."""
    documents = project / "documents"
    while folder != documents:
        if (folder / CONFIG_FILE).is_file():
            return folder.relative_to(documents).as_posix()
        folder = folder.parent
    return ""


def _source_files(project: Path, corpus: Path, settings: Settings) -> Iterator[Path]:
    """The files of a corpus that match its patterns, sorted."""
    for here, names in walk_folders(corpus, project):
        inner = here.relative_to(project / "documents").as_posix()
        patterns = settings.items("files", inner)
        for name in names:
            below = f"{inner}/{name}".partition("/")[2]
            if name != CONFIG_FILE and any(
                fnmatch.fnmatchcase(below if "/" in pattern else name, pattern) for pattern in patterns
            ):
                check_inside(here / name, project)
                shown = f"documents/{inner}/{name}"
                if storable(shown) != shown:  # A doc_id is text.
                    raise InputError("the name is not UTF-8", "Rename it.", where=shown)
                yield here / name


def _read_document(project: Path, corpus: str, doc_id: str, paths: list[Path], settings: Settings) -> Document:
    files: list[SourceFile] = []
    texts: list[str] = []
    length = 0
    for path in paths:
        shown = path.relative_to(project).as_posix()
        text = read_source(path, shown)
        files.append(SourceFile(shown, length, len(text)))
        texts.append(text)
        length += len(text)
    folder = paths[0].parent.relative_to(project / "documents").as_posix()
    own_title = settings.corpora.get(folder, {}).get("title") if len(paths) > 1 else None
    return Document(
        doc_id=doc_id,
        corpus=corpus,
        path=files[0].path if len(files) == 1 else f"documents/{folder}",
        title=str(own_title) if own_title else next(filter(None, map(document_title, texts)), None),
        files=tuple(files),
        folder=folder,
        digest=_digest(files, texts),
        empty=not any(map(has_body, texts)),
    )


def read_source(path: Path, shown: str) -> str:
    """A source file's text, as in the file; raises InputError with the line of the first byte that is not UTF-8."""
    if path.exists() and not path.is_file():  # Reading a pipe would wait for ever.
        raise InputError("is no file", "Remove it, or leave it out with the setting `files`.", where=shown)
    try:
        data = path.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", "Check the file and its permissions.", where=shown
        ) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not UTF-8 (byte 0x{data[error.start]:02x})",
            "Save it as UTF-8, or leave it out with the setting `files`.",
            where=f"{shown}:{line}",
        ) from error


@lru_cache(maxsize=_TEXTS_KEPT)
def _document_text(project: Path, document: Document) -> str:
    texts = [read_source(project / file.path, file.path) for file in document.files]
    if _digest(document.files, texts) != document.digest:
        raise InputError("has changed since the documents were read", "Start again.", where=document.path)
    return "".join(texts)


def _digest(files: Sequence[SourceFile], texts: Sequence[str]) -> str:
    return fingerprint(part for file, text in zip(files, texts, strict=True) for part in (file.path, text))
