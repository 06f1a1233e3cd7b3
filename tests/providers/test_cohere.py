from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from rag_audit.corpus.documents import scan_documents
from rag_audit.corpus.retrieve import Retriever, open_retriever
from rag_audit.errors import ConfigError, KeyRejected, ProviderError
from rag_audit.providers.cohere_api import CohereEmbedder, CohereReranker, CohereService, open_cohere
from tests.corpus.projects import asked, settings_of, to, two_corpora
from tests.providers.cohere_server import CohereServer, cohere_server

KEY = "secret-key-123"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[CohereServer]:
    monkeypatch.setenv("CO_API_KEY", KEY)
    with cohere_server() as running:
        yield running


@pytest.fixture
def services(server: CohereServer) -> Iterator["Services"]:
    made = Services(server)
    yield made
    for opened in made.opened:
        opened.close()


class Services:
    """Opens the service at the loopback server without really waiting."""

    def __init__(self, server: CohereServer) -> None:
        self.server = server
        self.waits: list[float] = []
        self.opened: list[CohereService] = []

    def open(self, url: str | None = None, retries: int = 3) -> CohereService:
        """One service; every wait is noted in `waits`."""
        real = open_cohere(
            base_url=url or self.server.url, timeout_s=5, retries=retries, max_wait_s=20, on_wait=lambda _: None
        )
        self.opened.append(real)
        return replace(real, sleep=self.waits.append)


def test_documents_and_queries_are_embedded_as_such(server: CohereServer, services: "Services") -> None:
    embedder = CohereEmbedder(services.open(), "embed-v4.0")
    vectors = embedder.embed_documents(["one", " ", "three"])
    assert vectors.shape == (3, 3)
    assert numpy.allclose(numpy.linalg.norm(vectors, axis=1), [1, 0, 1])
    assert embedder.embed_query("one").shape == (3,)
    assert [call["input_type"] for call in server.calls] == ["search_document", "search_query"]
    assert server.calls[0]["texts"] == ["one", "three"]


def test_many_texts_go_in_several_calls(server: CohereServer, services: "Services") -> None:
    assert CohereEmbedder(services.open(), "m").embed_documents(["text"] * 200).shape == (200, 3)
    assert [len(call["texts"]) for call in server.calls] == [96, 96, 8]


def test_passing_failures_are_tried_again_at_the_pace_the_service_asks_for(
    server: CohereServer, services: "Services"
) -> None:
    server.failures = [(429, {"retry-after": "7"}), (503, {}), (429, {"retry-after": "999"})]
    assert CohereReranker(services.open(), "rerank-v3.5").rerank("q", ["a", "3 rpm"]) == [0.0, 0.1]
    assert services.waits == [7.0, 2.0, 20.0]


@pytest.mark.parametrize(
    ("failures", "reason", "calls"),
    [
        ([(429, {})] * 9, "rate_limit", 4),
        ([(500, {})] * 9, "overloaded", 4),
        ([(400, {})], "bad_request", 1),
        ([(422, {})], "bad_request", 1),
    ],
)
def test_other_failures_have_a_name(
    server: CohereServer, services: "Services", failures: list[tuple[int, dict[str, str]]], reason: str, calls: int
) -> None:
    server.failures = failures
    with pytest.raises(ProviderError) as caught:
        CohereReranker(services.open(), "m").rerank("q", ["a"])
    assert (caught.value.reason, len(server.calls)) == (reason, calls)
    assert "failing with" in caught.value.message
    assert KEY not in str(caught.value)


def test_refused_key_ends_everything(server: CohereServer, services: "Services") -> None:
    server.failures = [(401, {})]
    with pytest.raises(KeyRejected) as caught:
        CohereEmbedder(services.open(), "m").embed_query("x")
    assert (caught.value.hint, len(server.calls)) == ("Check CO_API_KEY.", 1)


def test_absent_server_is_named(services: "Services") -> None:
    with pytest.raises(ProviderError) as caught:
        CohereEmbedder(services.open("http://127.0.0.1:9", retries=0), "m").embed_query("x")
    assert caught.value.reason == "connection"


def test_unusable_answers_are_not_used(server: CohereServer, services: "Services") -> None:
    server.broken = True
    with pytest.raises(ProviderError, match="1 vectors for 2 texts"):
        CohereEmbedder(services.open(), "m").embed_documents(["a", "b"])
    with pytest.raises(ProviderError, match="scores for 1 of 2 passages"):
        CohereReranker(services.open(), "m").rerank("q", ["a", "b"])


def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CO_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="CO_API_KEY is not set"):
        open_cohere(base_url=None, timeout_s=1, retries=0, max_wait_s=0, on_wait=lambda _: None)


def opened(project: Path, server: CohereServer, *overrides: str) -> Retriever:
    settings = settings_of(
        project, f"embedder.base_url={server.url}", f"reranker.base_url={server.url}", "chunking.size=90", *overrides
    )
    return open_retriever(project, scan_documents(project, settings), settings)


def test_retrieval_with_a_service(server: CohereServer, tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    retriever = opened(project, server, "embedder=cohere:embed-v4.0", "reranker=cohere:rerank-v3.5")
    retrieved = retriever.retrieve(asked("idle speed"), to("old", "new"))
    assert [chunk.score for chunk in retrieved] == sorted((c.score or 0 for c in retrieved), reverse=True)
    assert retrieved[0].score_parts["rerank"] == retrieved[0].score
    assert {"fused", "bm25", "vector"} <= set(retrieved[0].score_parts)
    assert retriever.context()["embedder"] == "cohere:embed-v4.0"
    assert server.keys == {f"Bearer {KEY}"}
    retriever.close()
    asked_before = len(server.calls)
    opened(project, server, "embedder=cohere:embed-v4.0").close()
    assert len(server.calls) == asked_before
    assert not any(KEY in path.read_text("latin-1") for path in (project / ".rag-audit").rglob("*") if path.is_file())
