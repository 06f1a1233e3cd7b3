"""Retrieval: each routed corpus ranks its chunks by terms and by meaning, and the rankings are fused by rank."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_audit.corpus.documents import Documents
from rag_audit.corpus.index import IndexReport, refresh_index
from rag_audit.corpus.indexfile import IndexFile
from rag_audit.corpus.relevance import Relevance
from rag_audit.corpus.terms import terms_of
from rag_audit.errors import ConfigError
from rag_audit.model import Chunk, Question, RetrievedChunk, Route
from rag_audit.model.settings import Settings
from rag_audit.providers.retrieval import open_embedder, open_reranker

if TYPE_CHECKING:
    from rag_audit.providers.protocols import Embedder, Reranker

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A chunk of one corpus with its places in that corpus's rankings."""

    corpus: str
    number: int
    score: float
    """What the order follows: the fused score, or the reranker's."""
    parts: Mapping[str, float]

    @property
    def order(self) -> tuple[float, float, float, float, str, int]:
        """Sorts best first, and the same way every time; of equals first what its own corpus is surest of."""
        own, meaning, terms = (self.parts.get(name, 0.0) for name in ("corpus_score", "vector", "bm25"))
        return (-self.score, -own, -meaning, -terms, self.corpus, self.number)


class Retriever:
    """The opened indexes of a project; safe to use from several threads."""

    def __init__(
        self,
        documents: Documents,
        settings: Settings,
        indexes: Mapping[str, IndexFile],
        embedders: "Mapping[str, Embedder | None]",
        reranker: "Reranker | None" = None,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._indexes = indexes
        self._embedders = embedders
        self._reranker = reranker
        k1, b = settings.number("retriever.bm25_k1"), settings.number("retriever.bm25_b")
        self._terms = {corpus: index.ranking(k1, b) for corpus, index in indexes.items()}

    def retrieve(self, question: Question, route: Route) -> tuple[RetrievedChunk, ...]:
        """The `retriever.top_k` best chunks of the routed corpora, best first.

        With several corpora the score is that of fusing their lists by rank, so that each contributes its share. A
        reranker puts the best `retriever.candidates` into its own order. Raises ProviderError where a service fails.
        """
        lists = [self._rank(corpus, question.question) for corpus in route.corpora if corpus in self._indexes]
        best = lists[0] if len(lists) == 1 else _merge(lists, self._settings.integer("retriever.rrf_k"))
        if self._reranker is not None:
            best = self._reranked(self._reranker, question.question, best)
        relevance = Relevance(question, self._documents.text)
        retrieved = []
        for rank, candidate in enumerate(best[: self._settings.integer("retriever.top_k")], start=1):
            chunk = self._chunk(candidate)
            retrieved.append(RetrievedChunk(chunk, rank, candidate.score, candidate.parts, relevance.of(chunk)))
        return tuple(retrieved)

    def _chunk(self, candidate: _Candidate) -> Chunk:
        return self._indexes[candidate.corpus].chunk(candidate.number)

    def _reranked(self, reranker: "Reranker", query: str, best: Sequence[_Candidate]) -> list[_Candidate]:
        asked = best[: _candidates(self._settings)]
        if not asked:
            return []
        scores = reranker.rerank(query, [_with_headings(self._chunk(candidate)) for candidate in asked])
        reranked = [
            replace(candidate, score=score, parts={**candidate.parts, "fused": candidate.score, "rerank": score})
            for candidate, score in zip(asked, scores, strict=True)
        ]
        return sorted(reranked, key=lambda candidate: candidate.order)

    def _rank(self, corpus: str, query: str) -> list[_Candidate]:
        """One corpus's chunks by reciprocal rank fusion (Cormack, Clarke, Buettcher 2009): sum of weight / (k + rank).

        Terms weigh 1, meaning `retriever.vector_weight` where both rank.
        """
        settings = self._settings
        limit = _candidates(settings)
        mode = settings.text("retriever.mode")
        index, embedder = self._indexes[corpus], self._embedders[corpus]
        rankings: dict[str, list[tuple[int, float]]] = {}
        if mode in ("hybrid", "bm25"):
            terms = terms_of(query, settings.text("language", corpus))
            rankings["bm25"] = self._terms[corpus].rank(terms, limit)
        if mode in ("hybrid", "vector") and embedder is not None:
            rankings["vector"] = index.by_vector(embedder.embed_query(query), limit)
        constant = settings.integer("retriever.rrf_k")
        weights = {"vector": settings.number("retriever.vector_weight")} if len(rankings) > 1 else {}
        fused: dict[int, float] = {}
        parts: dict[int, dict[str, float]] = {}
        for name, ranking in rankings.items():
            for rank, (number, score) in enumerate(ranking, start=1):
                fused[number] = fused.get(number, 0.0) + weights.get(name, 1.0) / (constant + rank)
                parts.setdefault(number, {}).update({name: score, f"{name}_rank": rank})
        candidates = [_Candidate(corpus, number, score, parts[number]) for number, score in fused.items()]
        return sorted(candidates, key=lambda candidate: candidate.order)

    def close(self) -> None:
        """Close the indexes and release the connections of the embedders and of the reranker."""
        _close(*self._indexes.values(), *self._embedders.values(), self._reranker)

    def context(self) -> dict[str, Any]:
        """What the settings alone do not say of the run: the embedder in use, and every corpus's fingerprints."""
        identities = {corpus: e.identity if e else "none" for corpus, e in self._embedders.items()}
        distinct = sorted(set(identities.values()))
        return {
            "embedder": distinct[0] if len(distinct) == 1 else "; ".join(f"{c}={i}" for c, i in identities.items()),
            "corpora": {
                corpus: {
                    "documents": self._documents.fingerprint(corpus),
                    "index": self._indexes[corpus].key if corpus in self._indexes else "none",
                }
                for corpus in self._documents.corpora
            },
        }


def _with_headings(chunk: Chunk) -> str:
    return "\n".join((" > ".join(chunk.heading), chunk.text)) if chunk.heading else chunk.text


def _candidates(settings: Settings) -> int:
    return max(settings.integer("retriever.candidates"), settings.integer("retriever.top_k"))


def _close(*opened: "IndexFile | Embedder | Reranker | None") -> None:
    for one in opened:
        if one is not None:
            one.close()


def _merge(lists: Sequence[Sequence[_Candidate]], constant: int) -> list[_Candidate]:
    """Fuse the lists of several corpora by rank; the corpus's own fused score is kept as a part."""
    merged = [
        _Candidate(
            candidate.corpus,
            candidate.number,
            1.0 / (constant + rank),
            {**candidate.parts, "corpus_score": candidate.score, "corpus_rank": rank},
        )
        for ranked in lists
        for rank, candidate in enumerate(ranked, start=1)
    ]
    return sorted(merged, key=lambda candidate: candidate.order)


def open_retriever(
    project: Path, documents: Documents, settings: Settings, *, progress: Progress = lambda _: None
) -> Retriever:
    """Refresh and open the index of every corpus; with retriever.mode=off nothing is indexed.

    Raises ConfigError where vectors are asked for without an embedder, ProviderError where it cannot be loaded.
    """
    if settings.text("retriever.mode") == "off":
        return Retriever(documents, settings, {}, dict.fromkeys(documents.corpora))
    embedders = _open_embedders(documents, settings, progress)
    indexes = {
        corpus: refresh_index(corpus, documents, settings, embedders[corpus], progress)[0]
        for corpus in documents.corpora
    }
    return Retriever(documents, settings, indexes, embedders, open_reranker(settings, progress))


def refresh_indexes(
    documents: Documents,
    settings: Settings,
    corpora: Sequence[str] = (),
    *,
    progress: Progress = lambda _: None,
) -> list[IndexReport]:
    """Build or refresh the indexes of these corpora (default: all) and say what was done."""
    embedders = _open_embedders(documents, settings, progress)
    reports = []
    try:
        for corpus in corpora or documents.corpora:
            index, report = refresh_index(corpus, documents, settings, embedders[corpus], progress)
            index.close()
            reports.append(report)
        return reports
    finally:
        _close(*embedders.values())


def _open_embedders(documents: Documents, settings: Settings, progress: Progress) -> "dict[str, Embedder | None]":
    """The embedder of each corpus; None where it has none or only terms are searched."""
    mode = settings.text("retriever.mode")
    opened: dict[tuple[str, str | None], Embedder | None] = {}
    embedders: dict[str, Embedder | None] = {}
    for corpus in documents.corpora:
        name = "none" if mode == "bm25" else settings.text("embedder", corpus)
        if mode == "vector" and name == "none":
            raise ConfigError(
                f"retriever.mode is vector, but the corpus {corpus} has no embedder",
                "Set embedder to wordllama, or retriever.mode to bm25.",
            )
        service = (name, settings.optional("embedder.base_url", corpus))
        if service not in opened:
            opened[service] = None if name == "none" else open_embedder(settings, corpus, progress)
        embedders[corpus] = opened[service]
    return embedders
