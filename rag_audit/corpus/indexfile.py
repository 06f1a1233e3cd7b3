"""The SQLite file of one index: written once, then read by any number of threads and processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import orjson

from rag_audit.corpus.terms import terms_of
from rag_audit.model import Chunk

if TYPE_CHECKING:
    import apsw

    from rag_audit.corpus.bm25 import PostingsBM25
    from rag_audit.providers.protocols import Vectors

_VECTOR_SEARCH_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with the text that is searched: its title and headings, then the chunk itself."""

    chunk: Chunk
    indexed: str

    @property
    def text_hash(self) -> bytes:
        """What the vector belongs to."""
        return blake2b(self.indexed.encode(), digest_size=16).digest()


def write_index(path: Path, chunks: Sequence[IndexedChunk], vectors: "Vectors | None", language: str) -> None:
    """Write a complete index file; vectors that are zero or not finite are left out, their chunks are not."""
    import numpy

    from rag_audit.corpus.bm25 import PostingsBM25

    connection = _connect(path, read_only=False)
    try:
        connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = NORMAL")
        with connection:
            connection.execute(
                "CREATE TABLE chunks (id INTEGER PRIMARY KEY, doc_id TEXT, corpus TEXT, start INTEGER, heading TEXT,"
                " text TEXT, text_hash BLOB);"
                "CREATE TABLE postings (name TEXT PRIMARY KEY, data BLOB)"
            )
            connection.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        at,
                        one.chunk.doc_id,
                        one.chunk.corpus,
                        one.chunk.start,
                        orjson.dumps(one.chunk.heading).decode(),
                        one.chunk.text,
                        one.text_hash,
                    )
                    for at, one in enumerate(chunks)
                ),
            )
            ranking = PostingsBM25(terms_of(one.indexed, language) for one in chunks)
            connection.executemany("INSERT INTO postings VALUES (?, ?)", ranking.pack().items())
            if vectors is not None:
                column = f"embedding float[{vectors.shape[1]}] distance_metric=cosine"
                connection.execute(f"CREATE VIRTUAL TABLE vectors USING vec0({column})")
                usable = numpy.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)
                connection.executemany(
                    "INSERT INTO vectors (rowid, embedding) VALUES (?, ?)",
                    ((at, vectors[at].astype("<f4").tobytes()) for at in range(len(chunks)) if usable[at]),
                )
    finally:
        connection.close()


class IndexFile:
    """A finished index, searched by meaning and by terms; safe to use from several threads.

    All connections are opened at once, so that the file may be deleted while it is in use.
    """

    def __init__(self, path: Path, has_vectors: bool, connections: int = 4) -> None:
        self.path = path
        self.has_vectors = has_vectors
        self._free: SimpleQueue[apsw.Connection] = SimpleQueue()
        for _ in range(connections):
            self._free.put(_connect(path, read_only=True))

    @property
    def key(self) -> str:
        """The hash of everything that shaped it."""
        return self.path.stem

    def _rows(self, query: str, *values: "str | int | bytes") -> list[tuple[Any, ...]]:
        connection = self._free.get()
        try:
            return list(connection.execute(query, values))
        finally:
            self._free.put(connection)

    def ranking(self, k1: float, b: float) -> "PostingsBM25":
        """BM25 over the chunks, by their numbers."""
        from rag_audit.corpus.bm25 import PostingsBM25

        return PostingsBM25.unpack(dict(self._rows("SELECT name, data FROM postings")), k1, b)

    def by_vector(self, vector: "Vectors", limit: int) -> list[tuple[int, float]]:
        """The nearest chunks, (chunk number, cosine similarity), best first, ties in the order of the documents."""
        if not self.has_vectors or not vector.any():
            return []
        rows = self._rows(
            "SELECT distance, rowid FROM vectors WHERE embedding MATCH ? AND k = ?",
            vector.astype("<f4").tobytes(),
            min(limit, _VECTOR_SEARCH_LIMIT),
        )
        return [(number, 1.0 - distance) for distance, number in sorted(rows)]

    def chunk(self, number: int) -> Chunk:
        """One chunk by its number."""
        ((doc_id, corpus, text, start, heading),) = self._rows(
            "SELECT doc_id, corpus, text, start, heading FROM chunks WHERE id = ?", number
        )
        return Chunk(doc_id, corpus, text, start, tuple(orjson.loads(heading)))

    def vectors_by_text(self) -> dict[bytes, bytes]:
        """The stored vectors by the hash of the text they belong to."""
        query = "SELECT text_hash, embedding FROM vectors JOIN chunks ON chunks.id = vectors.rowid"
        return dict(self._rows(query)) if self.has_vectors else {}

    def close(self) -> None:
        """Close the file; a search that is still under way keeps its connection, a later one fails."""
        for _ in range(self._free.qsize()):
            try:
                connection = self._free.get_nowait()
            except Empty:
                return
            connection.close()
            self._free.put(connection)


def _connect(path: Path, *, read_only: bool) -> "apsw.Connection":
    import apsw
    import sqlite_vec

    if read_only:
        connection = apsw.Connection(
            f"{path.resolve().as_uri()}?immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
    else:
        connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    return connection
