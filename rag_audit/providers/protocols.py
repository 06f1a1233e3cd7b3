"""What the pipeline asks of a model, whoever answers."""

from collections.abc import Callable, Sequence
from typing import Protocol

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

    async def aclose(self) -> None:
        """Release connections."""
        ...
