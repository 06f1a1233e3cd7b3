"""What the pipeline asks of a model, whoever answers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rag_audit.model import (
    Claim,
    ClaimJudgment,
    Excerpt,
    Generation,
    JudgeCall,
    JudgeIdentity,
    Question,
    RetrievedChunk,
    ScoreJudgment,
)

if TYPE_CHECKING:
    import numpy

    Vectors = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

OnWait = Callable[[str], None]
"""Told, in words for a person, that a call waits: `waiting 12 s, rate limit`."""


class Generator(Protocol):
    """Answers a question from the retrieved chunks."""

    model: str
    """As asked for: `offline` or `anthropic:MODEL`."""
    prompt_hash: str

    async def generate(self, question: Question, retrieved: Sequence[RetrievedChunk]) -> Generation:
        """One answer; raises ProviderError, whose `reason` is the missing-reason word."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the service's behaviour in this run; empty where there is nothing."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class ClaimJudge(Protocol):
    """Lists the checkable claims of an answer, each with a verdict against the excerpt."""

    identity: JudgeIdentity

    async def judge_claims(
        self, question: Question, answer: str, excerpt: Excerpt, claims: Sequence[Claim] | None = None
    ) -> tuple[ClaimJudgment, tuple[JudgeCall, ...]]:
        """Judge the answer, or exactly the given claims; failures are in `.error`; raises only KeyRejected."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the service's behaviour in this run; empty where there is nothing."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class ScoreJudge(Protocol):
    """Scores an answer for faithfulness and completeness, 0 to 10."""

    identity: JudgeIdentity

    async def judge_scores(
        self, question: Question, answer: str, retrieved: Sequence[RetrievedChunk]
    ) -> tuple[ScoreJudgment, tuple[JudgeCall, ...]]:
        """Score the answer; failures are in `.error`; raises only KeyRejected."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the service's behaviour in this run; empty where there is nothing."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one length; the same text always gives the same vector."""

    identity: str
    """Model and version: two vectors may be compared only where it is equal."""

    def embed_documents(self, texts: Sequence[str]) -> "Vectors":
        """One row a text, float32, unit length; a text without content gives a row of zeros. Raises ProviderError."""
        ...

    def embed_query(self, text: str) -> "Vectors":
        """One vector, float32, unit length; zeros for a text without content. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...


class Reranker(Protocol):
    """Scores passages against a query; safe to use from several threads."""

    identity: str

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The relevance of every text, in their order; higher is better. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Release connections."""
        ...
