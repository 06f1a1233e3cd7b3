"""How retrieval scales: build, refresh, open and query an index of made-up documents, and BM25 beside rank_bm25.

python -m benchmarks.retrieval_scale [CHUNKS]
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from rank_bm25 import BM25Okapi

from rag_audit.config import load_settings
from rag_audit.corpus.bm25 import PostingsBM25
from rag_audit.corpus.documents import scan_documents
from rag_audit.corpus.retrieve import open_retriever, refresh_indexes
from rag_audit.corpus.terms import terms_of
from rag_audit.model import Question, Route

T = TypeVar("T")
_SECTIONS = 40
_QUERIES = 30


def write_corpus(folder: Path, chunks: int) -> None:
    """Write documents of `_SECTIONS` sections each, every section about one chunk long."""
    draw = random.Random(0)
    syllables = [consonant + vowel for consonant in "bcdfglmnprst" for vowel in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 5))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    for number in range(max(chunks // _SECTIONS, 1)):
        sections = [
            f"## Section {at}\n\n" + " ".join(draw.choices(words, weights, k=110)) + f" {number * at} ms\n"
            for at in range(_SECTIONS)
        ]
        path = folder / "documents" / "made" / f"d{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(sections), "utf-8")


def main() -> int:
    """Measure and print one line a step, in seconds of processor time, so that a busy machine does not show."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        write_corpus(project, wanted)
        settings = load_settings(project, (), {})
        documents = _timed("scan", lambda: scan_documents(project, settings))
        (report,) = _timed("build", lambda: refresh_indexes(documents, settings))
        print(f"chunks        {report.chunks}")
        changed = project / "documents" / "made" / "d0.md"
        changed.write_text(changed.read_text("utf-8") + "\none more line\n", "utf-8")
        documents = scan_documents(project, settings)
        _timed("one file new", lambda: refresh_indexes(documents, settings))
        retriever = _timed("open", lambda: open_retriever(project, documents, settings))
        texts = [documents.text(document.doc_id)[200:260] for document in documents.corpora["made"][:_QUERIES]]
        route = Route(("made",), "doc_id")
        taken = [_seconds(partial(retriever.retrieve, Question("q", text), route)) for text in texts]
        print(f"query p50     {median(taken) * 1000:.1f} ms")
        sections = [
            terms_of(section)
            for document in documents.corpora["made"]
            for section in documents.text(document.doc_id).split("\n## ")
        ]
        stock, ours = BM25Okapi(sections), PostingsBM25(sections)
        queries = [terms_of(text) for text in texts[:5]]
        slow = median(_seconds(partial(stock.get_scores, query)) for query in queries)
        fast = median(_seconds(partial(ours.get_scores, query)) for query in queries)
        same = all((stock.get_scores(query) == ours.get_scores(query)).all() for query in queries)
        print(f"rank_bm25     {slow * 1000:.1f} ms a query, ours {fast * 1000:.2f} ms, identical: {same}")
    return 0


def _timed(name: str, work: Callable[[], T]) -> T:
    started = time.process_time()
    result = work()
    print(f"{name:<13} {time.process_time() - started:.2f} s")
    return result


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
