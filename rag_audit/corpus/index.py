"""One cached index per corpus: chunks, vectors (sqlite-vec) and BM25 postings in one file that is never changed.

An index's file is named by the hash of everything that shapes it, is written beside its place and moved there when it
is complete, and carries a receipt with the digest of the file. So processes may build at the same time, a run keeps
reading what it opened, and a damaged file is noticed. Vectors of unchanged chunks are taken from the index before.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import orjson

from rag_audit import __version__
from rag_audit.corpus.chunking import Chunking, chunk_document
from rag_audit.corpus.documents import Documents
from rag_audit.corpus.indexfile import IndexedChunk, IndexFile, write_index
from rag_audit.errors import InputError, ProviderError
from rag_audit.fingerprint import fingerprint
from rag_audit.model.settings import Settings

if TYPE_CHECKING:
    from rag_audit.providers.protocols import Embedder, Vectors

SCHEMA = 1
"""Raised whenever chunking, terms or the layout of the file change what an index holds."""
_KEPT = 8

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an index file was made from, and the digest that shows whether it is still whole."""

    key: str
    digest: str
    chunks: int
    embedder: str
    """Identity of the embedder; `none` without vectors."""
    shape: dict[str, object]
    """Everything but the documents that shapes the index."""
    documents: dict[str, str] = field(default_factory=dict)
    """doc_id to digest."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What refreshing one corpus's index did."""

    corpus: str
    files: int
    chunks: int
    added: int
    changed: int
    removed: int
    """Documents, compared with the index before."""
    embedded: int
    """Chunks whose vector had to be computed."""
    rebuilt: str | None
    """Why an index that was there could not be used; None where it could, or where there was none."""


def refresh_index(
    corpus: str, documents: Documents, settings: Settings, embedder: "Embedder | None", progress: Progress
) -> tuple[IndexFile, IndexReport]:
    """Open the index of a corpus, building what is missing; raises InputError where the cache cannot be written."""
    folder = _cache_folder(documents.project, corpus)
    shape = _shape(corpus, documents, settings, embedder)
    digests = {document.doc_id: document.digest for document in documents.corpora[corpus]}
    key = fingerprint([orjson.dumps(shape, option=orjson.OPT_SORT_KEYS).decode(), documents.fingerprint(corpus)])
    with _exclusive(folder):
        receipts = _receipts(folder)
        here = next((receipt for receipt in receipts if receipt.key == key), None)
        damage = _damage(folder, here) if here else _orphan(folder, key)
        previous = next((receipt for receipt in receipts if receipt.key != key or here is None), None)
        files = sum(len(document.files) for document in documents.corpora[corpus])
        if here and damage is None:
            os.utime(_receipt_path(folder, key))
            report = IndexReport(corpus, files, here.chunks, 0, 0, 0, 0, None)
            return _opened(folder, here), report
        progress(f"indexing {corpus}")
        chunks = _chunks(corpus, documents, settings)
        vectors, embedded = _vectors(chunks, embedder, folder, receipts, progress)
        before = here.documents if here else previous.documents if previous else {}
        with _writing():
            receipt = _write(folder, key, chunks, vectors, shape, digests, settings.text("language", corpus), embedder)
            _prune(folder)
    report = IndexReport(
        corpus,
        files,
        receipt.chunks,
        added=len(digests.keys() - before.keys()),
        changed=sum(before[doc_id] != digest for doc_id, digest in digests.items() if doc_id in before),
        removed=len(before.keys() - digests.keys()),
        embedded=embedded,
        rebuilt=damage or (_changed_shape(previous.shape, shape) if previous else None),
    )
    return _opened(folder, receipt), report


def _opened(folder: Path, receipt: Receipt) -> IndexFile:
    """The file of a receipt; a corpus without chunks has no vectors to search, whatever its embedder."""
    return IndexFile(_file_path(folder, receipt.key), receipt.embedder != "none" and receipt.chunks > 0)


def _shape(corpus: str, documents: Documents, settings: Settings, embedder: "Embedder | None") -> dict[str, object]:
    """Everything apart from the documents' texts that shapes an index."""
    folders = sorted({document.folder for document in documents.corpora[corpus]})
    cuts = {folder: Chunking.of(settings, folder) for folder in folders}
    own = Chunking.of(settings, corpus)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "corpus": corpus,
        "chunking": own,
        "modules": {folder: cut for folder, cut in cuts.items() if cut != own},
        "language": settings.text("language", corpus),
        "embedder": embedder.identity if embedder else "none",
        "titles": fingerprint(document.title for document in documents.corpora[corpus]),
    }


def _changed_shape(before: dict[str, object], now: dict[str, object]) -> str | None:
    """Which part of the shape differs from the index before, in words; None where only documents changed."""
    plain = orjson.loads(orjson.dumps(now))
    changed = [name for name in plain if before.get(name) != plain[name] and name != "titles"]
    return f"{', '.join(changed)} changed" if changed else None


def _chunks(corpus: str, documents: Documents, settings: Settings) -> list[IndexedChunk]:
    chunks: list[IndexedChunk] = []
    for document in documents.corpora[corpus]:
        text = documents.text(document.doc_id)
        for chunk in chunk_document(document, text, Chunking.of(settings, document.folder)):
            above = " > ".join(dict.fromkeys((*([document.title] if document.title else []), *chunk.heading)))
            chunks.append(IndexedChunk(chunk, f"{above}\n{chunk.text}" if above else chunk.text))
    return chunks


def _vectors(
    chunks: list[IndexedChunk], embedder: "Embedder | None", folder: Path, receipts: list[Receipt], progress: Progress
) -> "tuple[Vectors | None, int]":
    """The vectors of all chunks and how many had to be computed."""
    if embedder is None:
        return None, 0
    import numpy

    known: dict[bytes, bytes] = {}
    for receipt in receipts:
        if receipt.embedder == embedder.identity and _damage(folder, receipt) is None:
            before = IndexFile(_file_path(folder, receipt.key), True, connections=1)
            known = before.vectors_by_text()
            before.close()
            break
    rows = [numpy.frombuffer(known.get(chunk.text_hash, b""), dtype="<f4") for chunk in chunks]
    missing = [at for at, row in enumerate(rows) if not row.size]
    if missing:
        progress(f"embedding {len(missing)} chunks")
        computed = embedder.embed_documents([chunks[at].indexed for at in missing])
        for at, vector in zip(missing, computed, strict=True):
            rows[at] = vector
    if len({row.size for row in rows}) > 1:
        raise ProviderError(f"{embedder.identity} gives vectors of several lengths", "Choose another embedder.")
    return numpy.array(rows, dtype=numpy.float32) if rows else numpy.zeros((0, 1), dtype=numpy.float32), len(missing)


def _write(
    folder: Path,
    key: str,
    chunks: list[IndexedChunk],
    vectors: "Vectors | None",
    shape: dict[str, object],
    digests: dict[str, str],
    language: str,
    embedder: "Embedder | None",
) -> Receipt:
    """Write the file beside its place, then move it there, then its receipt."""
    draft = folder / f".{key}.{os.getpid()}.tmp"
    try:
        draft.unlink(missing_ok=True)
        write_index(draft, chunks, vectors, language)
        receipt = Receipt(
            key=key,
            digest=_file_digest(draft.read_bytes()),
            chunks=len(chunks),
            embedder=embedder.identity if embedder else "none",
            shape=shape,
            documents=digests,
        )
        draft.replace(_file_path(folder, key))
        draft.write_bytes(orjson.dumps(receipt))
        draft.replace(_receipt_path(folder, key))
    finally:
        draft.unlink(missing_ok=True)
    return receipt


def _receipts(folder: Path) -> list[Receipt]:
    """The receipts of a corpus, the last used first; unreadable ones are left out."""
    found = []
    for path in sorted(folder.glob("*.json"), key=lambda path: (-path.stat().st_mtime_ns, path.name)):
        with contextlib.suppress(msgspec.MsgspecError, orjson.JSONDecodeError, UnicodeDecodeError):
            receipt = msgspec.convert(orjson.loads(path.read_bytes()), Receipt)
            if receipt.key == path.stem:
                found.append(receipt)
    return found


def _damage(folder: Path, receipt: Receipt) -> str | None:
    """Why an index file cannot be used; None if it is whole."""
    try:
        data = _file_path(folder, receipt.key).read_bytes()
    except OSError:
        return "the index file is gone"
    return None if _file_digest(data) == receipt.digest else "the index file is damaged"


def _orphan(folder: Path, key: str) -> str | None:
    return "the index file has no valid receipt" if _file_path(folder, key).exists() else None


def _prune(folder: Path) -> None:
    """Drop the oldest indexes; another process may still read one of the recent ones."""
    for receipt in _receipts(folder)[_KEPT:]:
        _file_path(folder, receipt.key).unlink(missing_ok=True)
        _receipt_path(folder, receipt.key).unlink(missing_ok=True)


def _file_path(folder: Path, key: str) -> Path:
    return folder / f"{key}.sqlite"


def _receipt_path(folder: Path, key: str) -> Path:
    return folder / f"{key}.json"


def _cache_folder(project: Path, corpus: str) -> Path:
    """The corpus's folder below .rag-audit/indexes/, readable by its owner alone."""
    readable = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in corpus)[:40]
    root = project / ".rag-audit"
    folder = root / "indexes" / f"{readable}-{fingerprint([corpus])[:8]}"
    with _writing():
        folder.mkdir(parents=True, exist_ok=True)
        root.chmod(0o700)
    return folder


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """Turn what the system or SQLite says while the cache is written into an InputError with a hint."""
    import apsw

    try:
        yield
    except (OSError, apsw.FullError, apsw.IOError, apsw.CantOpenError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(
            f"the cache cannot be written: {why}",
            "Make room and the project's folder writable, then run the command again.",
            where=".rag-audit/",
        ) from error


@contextlib.contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Let one process build at a time; where files cannot be locked, two may do the same work twice, harmlessly."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _file_digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
