"""BM25 over postings: the scores of rank_bm25.BM25Okapi, bit for bit, without walking every document."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
from rank_bm25 import BM25Okapi


class PostingsBM25(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi (ATIRE BM25 with floored idf) that keeps, for each term, the documents it occurs in.

    Terms are added to the scores in the order of the query, as in the original, so that every rounding is the same.
    """

    def __init__(self, documents: Iterable[Sequence[str]], k1: float = 1.5, b: float = 0.75, epsilon: float = 0.25):
        number_of: dict[str, int] = {}
        terms = array("q")
        lengths = array("q")
        for document in documents:
            lengths.append(len(document))
            terms.extend([number_of.setdefault(term, len(number_of)) for term in document])
        count = max(len(lengths), 1)
        document_of = numpy.repeat(numpy.arange(len(lengths), dtype=numpy.int64), lengths)
        # Sorted by term, then document; a term's number is the order of its first appearance, as in the original.
        pairs, frequencies = numpy.unique(
            numpy.array(terms, dtype=numpy.int64) * count + document_of, return_counts=True
        )
        self._set(
            list(number_of),
            numpy.searchsorted(pairs, numpy.arange(len(number_of) + 1, dtype=numpy.int64) * count),
            (pairs % count).astype(numpy.int32),
            frequencies.astype(numpy.int32),
            numpy.array(lengths, dtype=numpy.int64),
            (k1, b, epsilon),
        )

    def _set(self, terms: list[str], ends: Any, postings: Any, frequencies: Any, lengths: Any, constants: Any) -> None:
        self.k1, self.b, self.epsilon = constants
        self._terms, self._ends, self._postings, self._frequencies, self._lengths = (
            terms,
            ends,
            postings,
            frequencies,
            lengths,
        )
        self._number_of = {term: number for number, term in enumerate(terms)}
        self.idf: dict[str, float] = {}
        self.corpus_size = len(lengths)
        if terms:
            self.avgdl = int(lengths.sum()) / self.corpus_size
            self._calc_idf(dict(zip(terms, numpy.diff(ends).tolist(), strict=True)))
            self._norms = self.k1 * (1 - self.b + self.b * lengths / self.avgdl)

    def get_scores(self, query: Sequence[str]) -> Any:
        """The score of every document, in their order."""
        scores = numpy.zeros(self.corpus_size)
        for term in query:
            number = self._number_of.get(term)
            if number is None:
                continue
            here = slice(self._ends[number], self._ends[number + 1])
            documents, counts = self._postings[here], self._frequencies[here].astype(numpy.int64)
            scores[documents] += self.idf[term] * (counts * (self.k1 + 1) / (counts + self._norms[documents]))
        return scores

    def rank(self, query: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """The best `limit` documents that hold any term of the query, best first, ties in their order."""
        numbers = [self._number_of[term] for term in dict.fromkeys(query) if term in self._number_of]
        if not numbers:
            return []
        scores = self.get_scores(query)
        holds = numpy.zeros(self.corpus_size, dtype=bool)
        for number in numbers:
            holds[self._postings[self._ends[number] : self._ends[number + 1]]] = True
        found = numpy.flatnonzero(holds)
        if len(found) > limit:
            least = numpy.partition(scores[found], len(found) - limit)[len(found) - limit]
            found = found[scores[found] >= least]
        order = numpy.lexsort((found, -scores[found]))[:limit]
        return [(int(found[at]), float(scores[found[at]])) for at in order]

    def pack(self) -> dict[str, bytes]:
        """Everything needed to build it again with `unpack`."""
        return {
            "terms": "\n".join(self._terms).encode(),
            "ends": self._ends.astype("<i8").tobytes(),
            "postings": self._postings.astype("<i4").tobytes(),
            "frequencies": self._frequencies.astype("<i4").tobytes(),
            "lengths": self._lengths.astype("<i8").tobytes(),
        }

    @classmethod
    def unpack(
        cls, packed: Mapping[str, bytes], k1: float = 1.5, b: float = 0.75, epsilon: float = 0.25
    ) -> "PostingsBM25":
        """The index that `pack` gave."""
        made = cls.__new__(cls)
        terms = packed["terms"].decode()
        made._set(
            terms.split("\n") if terms else [],
            numpy.frombuffer(packed["ends"], dtype="<i8"),
            numpy.frombuffer(packed["postings"], dtype="<i4"),
            numpy.frombuffer(packed["frequencies"], dtype="<i4"),
            numpy.frombuffer(packed["lengths"], dtype="<i8"),
            (k1, b, epsilon),
        )
        return made
