"""Judges behind the Anthropic protocol: one request, at most one repair, every call kept as sent and as answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rag_audit.judging.claims import (
    ListedClaim,
    claims_prompt,
    claims_request,
    claims_schema,
    judged_claims,
    read_claims,
    salvage_claims,
)
from rag_audit.judging.prompts import Prompt, joint_hash, load_prompt
from rag_audit.judging.replies import UnusableReply
from rag_audit.judging.scores import Scores, read_scores, scores_request, scores_schema
from rag_audit.model import (
    Claim,
    ClaimJudgment,
    Excerpt,
    JudgeCall,
    JudgeIdentity,
    Question,
    RetrievedChunk,
    ScoreJudgment,
    Verdict,
)
from rag_audit.providers.anthropic_api.service import AnthropicService
from rag_audit.providers.conversation import Reply, Turn, rendered
from rag_audit.providers.pacing import CallFailed

T = TypeVar("T")
_REPAIRS = 1
_NO_REPAIR = frozenset({"refusal"})
_OWN_REASONS = frozenset({"refusal", "max_tokens", "skipped_lookup"})
"""Failures of a reply that are a missing score's reason; every other one is `unparsed`."""


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[T]):
    """What came of one judgment: a reading, or the reason why there is none."""

    reading: T | None
    calls: tuple[JudgeCall, ...]
    error: str | None = None
    reported_model: str | None = None
    unusable: Reply | None = None
    """The last reply, where it could not be read."""


class _Judge:
    """What both judges share: their service, their identity, and the conversation with one repair."""

    role = ""

    def __init__(self, service: AnthropicService, *prompts: Prompt) -> None:
        self._service = service
        self.identity = JudgeIdentity(
            model=f"anthropic:{service.model}",
            prompt_hash=joint_hash(*prompts, load_prompt("repair")),
            parameters={"max_tokens": str(service.max_tokens), "base_url": service.base_url or ""},
        )

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the service's behaviour."""
        note = self._service.cache_note()
        return (f"{self.role} judge {note}",) if note else ()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()

    async def _judge(
        self, prompt: Prompt, request: str, schema: Mapping[str, Any], read: Callable[[Reply], T]
    ) -> _Outcome[T]:
        """Ask, read strictly, and ask once more with the error shown; raises only KeyRejected."""
        turns = [Turn("user", request)]
        calls: list[JudgeCall] = []
        error = "unparsed"
        reply: Reply | None = None
        for _ in range(1 + _REPAIRS):
            try:
                reply = await self._service.ask(prompt.system, turns, schema)
            except CallFailed as failure:
                calls.append(self._failed_call(rendered(prompt.system, turns), failure))
                return _Outcome(None, tuple(calls), failure.reason, reply.model if reply else None)
            try:
                reading = read(reply)
            except UnusableReply as unusable:
                calls.append(self._call(rendered(prompt.system, turns), reply, unusable.failure))
                error = unusable.failure if unusable.failure in _OWN_REASONS else "unparsed"
                if unusable.failure in _NO_REPAIR:
                    break
                repair = load_prompt("repair").filled({"error": unusable.detail})
                turns = [*turns, Turn("assistant", reply.text or "(empty)"), Turn("user", repair)]
            else:
                calls.append(self._call(rendered(prompt.system, turns), reply, None))
                return _Outcome(reading, tuple(calls), None, reply.model)
        return _Outcome(None, tuple(calls), error, reply.model if reply else None, reply)

    def _call(self, prompt: str, reply: Reply, failure: str | None) -> JudgeCall:
        return JudgeCall(
            judge=self.role,
            prompt=prompt,
            reply=reply.text,
            model=reply.model,
            usage=reply.usage,
            error=failure,
            cost_usd=reply.cost_usd,
            latency_s=reply.latency_s,
            cached=reply.cached,
        )

    def _failed_call(self, prompt: str, failure: CallFailed) -> JudgeCall:
        cost = None if failure.may_cost else 0.0
        return JudgeCall(judge=self.role, prompt=prompt, reply=failure.detail, error=failure.reason, cost_usd=cost)


class AnthropicClaimJudge(_Judge):
    """Lists and judges the claims of an answer."""

    role = "claims"

    def __init__(self, service: AnthropicService) -> None:
        super().__init__(service, load_prompt("judge_claims"), load_prompt("judge_given_claims"))

    async def judge_claims(
        self, question: Question, answer: str, excerpt: Excerpt, claims: Sequence[Claim] | None = None
    ) -> tuple[ClaimJudgment, tuple[JudgeCall, ...]]:
        """Judge the answer, or exactly the given claims; failures are in `.error`; raises only KeyRejected.

        An answer without any text is not sent. Of a list that stays unusable after the repair, the claims that can be
        read are kept, those without a verdict as unparsed.
        """
        if not answer.strip() or (claims is not None and not claims):
            return ClaimJudgment(excerpt, (), self.identity), ()
        outcome = await self._judge(
            claims_prompt(claims),
            claims_request(question, answer, excerpt, claims),
            claims_schema(claims),
            lambda reply: read_claims(reply.text, reply.stop_reason, answer, claims),
        )
        listed, error = outcome.reading, outcome.error
        if listed is None and outcome.unusable is not None:
            listed = _salvaged(outcome.unusable, claims)
        judged = judged_claims(listed, excerpt, claims) if listed is not None else ()
        if judged and all(claim.verdict is not Verdict.UNPARSED for claim in judged):
            error = None
        return ClaimJudgment(excerpt, judged, self.identity, outcome.reported_model, error), outcome.calls


class AnthropicScoreJudge(_Judge):
    """Scores an answer for faithfulness and completeness."""

    role = "scores"

    def __init__(self, service: AnthropicService) -> None:
        super().__init__(service, load_prompt("judge_scores"))

    async def judge_scores(
        self, question: Question, answer: str, retrieved: Sequence[RetrievedChunk]
    ) -> tuple[ScoreJudgment, tuple[JudgeCall, ...]]:
        """Score the answer; failures are in `.error`; raises only KeyRejected.

        An empty answer is not sent: it says nothing complete, and claims nothing that could be faithful.
        """
        if not answer.strip():
            return ScoreJudgment(completeness=0, identity=self.identity, error="no_claims"), ()
        outcome: _Outcome[Scores] = await self._judge(
            load_prompt("judge_scores"),
            scores_request(question, answer, retrieved),
            scores_schema(),
            lambda reply: read_scores(reply.text, reply.stop_reason),
        )
        scores = outcome.reading
        judgment = ScoreJudgment(
            faithfulness=scores.faithfulness if scores else None,
            completeness=scores.completeness if scores else None,
            justification=scores.justification if scores else None,
            identity=self.identity,
            reported_model=outcome.reported_model,
            error=outcome.error,
        )
        return judgment, outcome.calls


def _salvaged(reply: Reply, claims: Sequence[Claim] | None) -> list[ListedClaim] | None:
    """What can be read of an unusable list; None where there is nothing."""
    try:
        listed = salvage_claims(reply.text, reply.stop_reason, claims)
    except UnusableReply:
        return None
    return listed or None
