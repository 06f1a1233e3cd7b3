"""Cohere's embedding and reranking through its SDK; the waits between attempts are ours, so that they show and end."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from rag_audit.errors import ConfigError, KeyRejected, ProviderError
from rag_audit.providers.pacing import retry_after_s

if TYPE_CHECKING:
    from rag_audit.providers.protocols import OnWait, Vectors

KEY_VARIABLE = "CO_API_KEY"
_TEXTS_A_CALL = 96
_FIRST_WAIT_S = 1.0
_PASSING = frozenset({408, 409, 429, 499})
_REFUSED = frozenset({401, 403})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CohereService:
    """The service with one key, and how long it is tried; safe to use from several threads."""

    client: Any
    connections: Any
    retries: int
    max_wait_s: float
    on_wait: "OnWait"
    sleep: Callable[[float], None] = time.sleep

    def call(self, attempt: Callable[[], T]) -> T:
        """Make a call, again after failures that may pass; raises KeyRejected or ProviderError."""
        import httpx
        from cohere.core.api_error import ApiError

        for tried in range(self.retries + 1):
            asked = None
            try:
                return attempt()
            except ApiError as error:
                failure, passing = _failure_of(error)
                asked = retry_after_s(error.headers or {}, time.time())
            except httpx.TimeoutException:
                failure, passing = _failed("timeout", "no reply in time"), True
            except httpx.TransportError as error:
                failure, passing = _failed("connection", f"no connection: {error}"), True
            if not passing or tried == self.retries:
                raise failure
            wait_s = min(_FIRST_WAIT_S * 2**tried if asked is None else max(asked, 0.0), self.max_wait_s)
            self.on_wait(f"waiting {wait_s:.0f} s, {failure.reason.replace('_', ' ')}")
            self.sleep(wait_s)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def close(self) -> None:
        """Release the connections."""
        self.connections.close()


def open_cohere(
    *, base_url: str | None, timeout_s: float, retries: int, max_wait_s: float, on_wait: "OnWait"
) -> CohereService:
    """Open the service with the key of the environment; raises ConfigError without one."""
    key = os.environ.get(KEY_VARIABLE)
    if not key:
        raise ConfigError(f"{KEY_VARIABLE} is not set", "Set it in the environment, or choose another embedder.")
    import cohere
    import httpx

    connections = httpx.Client(timeout=timeout_s)
    address = base_url or os.environ.get("CO_API_URL")
    client = cohere.ClientV2(key, base_url=address, httpx_client=connections, max_retries=0)
    return CohereService(client, connections, retries, max_wait_s, on_wait)


class CohereEmbedder:
    """Embeds documents and queries with one of Cohere's models."""

    def __init__(self, service: CohereService, model: str) -> None:
        self._service = service
        self._model = model
        self.identity = f"cohere:{model}"

    def embed_documents(self, texts: Sequence[str]) -> "Vectors":
        """One row a text, float32, unit length; zeros for a text without content."""
        return self._embed(texts, "search_document")

    def embed_query(self, text: str) -> "Vectors":
        """One vector, float32, unit length; zeros for a text without content."""
        vector: Vectors = self._embed([text], "search_query")[0]
        return vector

    def close(self) -> None:
        """Release the connections."""
        self._service.close()

    def _embed(self, texts: Sequence[str], kind: str) -> "Vectors":
        import numpy

        filled = [at for at, text in enumerate(texts) if text.strip()]
        rows: list[list[float]] = []
        for first in range(0, len(filled), _TEXTS_A_CALL):
            rows += self._embed_batch([texts[at] for at in filled[first : first + _TEXTS_A_CALL]], kind)
        vectors = numpy.zeros((len(texts), len(rows[0]) if rows else 1), dtype=numpy.float32)
        if rows:
            raw = numpy.asarray(rows, dtype=numpy.float32)
            lengths = numpy.linalg.norm(raw, axis=1, keepdims=True)
            if not numpy.isfinite(raw).all() or not (lengths > 0).all():
                raise _unusable("a vector that is zero or not finite")
            vectors[filled] = raw / lengths
        return vectors

    def _embed_batch(self, texts: list[str], kind: str) -> list[list[float]]:
        reply = self._service.call(
            lambda: self._service.client.embed(
                model=self._model, texts=texts, input_type=kind, embedding_types=["float"]
            )
        )
        rows: list[list[float]] = reply.embeddings.float_ or []
        if len(rows) != len(texts) or len({len(row) for row in rows}) != 1:
            raise _unusable(f"{len(rows)} vectors for {len(texts)} texts")
        return rows


class CohereReranker:
    """Scores passages against a query with one of Cohere's models."""

    def __init__(self, service: CohereService, model: str) -> None:
        self._service = service
        self._model = model
        self.identity = f"cohere:{model}"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The relevance of every text, in their order; higher is better."""
        reply = self._service.call(
            lambda: self._service.client.rerank(model=self._model, query=query, documents=list(texts), top_n=len(texts))
        )
        scores = {result.index: float(result.relevance_score) for result in reply.results}
        if scores.keys() != set(range(len(texts))) or not all(map(isfinite, scores.values())):
            raise _unusable(f"scores for {len(scores)} of {len(texts)} passages")
        return [scores[at] for at in range(len(texts))]

    def close(self) -> None:
        """Release the connections."""
        self._service.close()


def _failure_of(error: Any) -> tuple[ProviderError, bool]:
    """What a refused call means, and whether it may pass."""
    status: int = error.status_code or 0
    detail = _detail(error.body)
    if status in _REFUSED:
        hint = f"Check {KEY_VARIABLE}."
        return KeyRejected(f"cohere refused the key ({status}){detail}", hint, reason="key_rejected"), False
    reason = "rate_limit" if status == 429 else "overloaded" if status >= 500 else "bad_request"
    return _failed(reason, f"status {status}{detail}"), status in _PASSING or status >= 500


def _detail(body: object) -> str:
    message = body.get("message") if isinstance(body, Mapping) else None
    return f": {message}" if isinstance(message, str) else ""


def _failed(reason: str, detail: str) -> ProviderError:
    return ProviderError(f"cohere: {detail}", "Try again later, or choose another model.", reason=reason)


def _unusable(what: str) -> ProviderError:
    return ProviderError(f"cohere answered with {what}", "Try again, or choose another model.", reason="unparsed")
