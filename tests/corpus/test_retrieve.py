import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from rag_audit.corpus.documents import scan_documents
from rag_audit.corpus.retrieve import Retriever, open_retriever
from rag_audit.errors import ConfigError
from tests.corpus.projects import asked, settings_of, to, two_corpora


def opened(project: Path, *overrides: str) -> Retriever:
    settings = settings_of(project, *overrides)
    return open_retriever(project, scan_documents(project, settings), settings)


def many(folder: Path) -> Path:
    extra = {
        f"documents/{corpus}/p{n}.md": f"# Page {n}\n\nThe {corpus} valve number {n} has a delay of {n} ms.\n"
        for corpus in ("old", "new")
        for n in range(12)
    }
    return two_corpora(folder, **extra)


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_best_chunk_comes_first(tmp_path: Path, mode: str) -> None:
    retriever = opened(two_corpora(tmp_path), f"retriever.mode={mode}", "chunking.size=90")
    retrieved = retriever.retrieve(asked("warm-up while the coolant is cold", doc_id="old/idle"), to("old"))
    assert "1100 rpm" in retrieved[0].chunk.text
    assert [chunk.rank for chunk in retrieved] == list(range(1, len(retrieved) + 1))
    assert all(a.score >= b.score for a, b in pairwise(retrieved) if a.score and b.score)


def test_score_is_the_weighted_reciprocal_rank(tmp_path: Path) -> None:
    first = opened(many(tmp_path), "retriever.rrf_k=60").retrieve(asked("delay of valve 7"), to("old"))[0]
    parts = first.score_parts
    assert first.score == pytest.approx(1 / (60 + parts["bm25_rank"]) + 0.3 / (60 + parts["vector_rank"]))
    alone = opened(tmp_path, "retriever.mode=vector").retrieve(asked("delay of valve 7"), to("old"))[0]
    assert alone.score == pytest.approx(1 / 61)
    assert set(alone.score_parts) == {"vector", "vector_rank"}


def test_every_routed_corpus_contributes(tmp_path: Path) -> None:
    retriever = opened(many(tmp_path), "retriever.top_k=6")
    retrieved = retriever.retrieve(asked("old valve delay"), to("new", "old"))
    assert [chunk.chunk.corpus for chunk in retrieved].count("old") == 3
    assert [chunk.score for chunk in retrieved] == sorted((c.score for c in retrieved if c.score), reverse=True)
    assert retrieved[0].score_parts["corpus_rank"] == 1


def test_only_routed_corpora_are_asked(tmp_path: Path) -> None:
    retriever = opened(many(tmp_path))
    assert {chunk.chunk.corpus for chunk in retriever.retrieve(asked("old valve"), to("new"))} == {"new"}
    assert retriever.retrieve(asked("old valve"), to()) == ()


def test_same_question_gives_the_same_list_from_any_thread(tmp_path: Path) -> None:
    retriever = opened(many(tmp_path))
    questions = [asked(f"valve number {n} delay") for n in range(12)] * 4
    alone = [retriever.retrieve(question, to("old", "new")) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda question: retriever.retrieve(question, to("old", "new")), questions)) == alone


def test_relevance_is_the_documents_narrowed_to_gold(tmp_path: Path) -> None:
    retriever = opened(two_corpora(tmp_path), "chunking.size=90", "chunking.overlap=0")

    def relevant(**fields: object) -> dict[str, bool | None]:
        found = retriever.retrieve(asked("idle speed", **fields), to("old", "new"))
        return {f"{c.chunk.doc_id}:{'1100' in c.chunk.text}": c.relevant for c in found}

    assert set(relevant(doc_id="old/idle").values()) == {True, False}
    assert relevant(doc_id="old/idle")["old/idle:False"]
    narrowed = relevant(doc_id="old/idle", gold=("the idle  speed is\n1100 rpm",))
    assert (narrowed["old/idle:True"], narrowed["old/idle:False"]) == (True, False)
    both = relevant(doc_id="old/idle", also_docs=("new/idle",))
    assert all(both.values())
    assert set(relevant().values()) == {None}


@pytest.mark.parametrize("question", ["", "???", "\u200b", "zzzz qqqq", "a" * 50_000, "NULL\x00' OR 1=1 --"])
def test_strange_questions_are_no_error(tmp_path: Path, question: str) -> None:
    retriever = opened(two_corpora(tmp_path))
    assert len(retriever.retrieve(asked(question), to("old", "new"))) <= 5


def test_context_names_the_embedder_and_fingerprints(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    context = opened(project).context()
    assert context["embedder"].startswith("wordllama:")
    assert context["corpora"]["old"]["index"] != context["corpora"]["new"]["index"]
    assert opened(project, "retriever.mode=bm25").context()["embedder"] == "none"


def test_off_reads_no_index(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    assert opened(project, "retriever.mode=off").retrieve(asked("x"), to("old")) == ()
    assert not (project / ".rag-audit").exists()


def test_embedders_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    with pytest.raises(ConfigError, match="has no embedder"):
        opened(project, "retriever.mode=vector", "embedder=none")
    with pytest.raises(ConfigError, match="no such model 'wordlama'"):
        opened(project, "embedder=wordlama")


def test_cache_may_be_deleted_while_it_is_in_use(tmp_path: Path) -> None:
    project = many(tmp_path)
    retriever = opened(project)
    before = retriever.retrieve(asked("valve number 3"), to("old"))
    shutil.rmtree(project / ".rag-audit")
    with ThreadPoolExecutor(8) as pool:
        again = list(pool.map(lambda _: retriever.retrieve(asked("valve number 3"), to("old")), range(16)))
    assert again == [before] * 16


def test_closed_retriever_fails_at_once(tmp_path: Path) -> None:
    retriever = opened(many(tmp_path))
    retriever.close()
    with pytest.raises(apsw.ConnectionClosedError):
        retriever.retrieve(asked("valve number 3"), to("old"))


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_a_corpus_without_text_gives_nothing(tmp_path: Path, mode: str) -> None:
    project = two_corpora(tmp_path, **{"documents/bare/empty.md": "\n"})
    for _ in ("built", "found in the cache"):
        retriever = opened(project, f"retriever.mode={mode}")
        assert retriever.retrieve(asked("idle speed"), to("bare")) == ()
        found = retriever.retrieve(asked("idle speed", doc_id="old/idle"), to("bare", "old"))
        assert {chunk.chunk.corpus for chunk in found} == {"old"}
