"""Answers from a model behind the Anthropic protocol, with the prompt exactly as sent."""

from collections.abc import Sequence

from rag_audit.errors import ProviderError
from rag_audit.judging.generation import generation_request
from rag_audit.judging.prompts import load_prompt
from rag_audit.model import Generation, Question, RetrievedChunk
from rag_audit.providers.anthropic_api.service import AnthropicService
from rag_audit.providers.conversation import Turn, rendered
from rag_audit.providers.pacing import CallFailed


class AnthropicGenerator:
    """Generates answers from the retrieved chunks."""

    def __init__(self, service: AnthropicService, context_chars: int) -> None:
        self.model = f"anthropic:{service.model}"
        self.prompt_hash = load_prompt("generate").hash
        self._service = service
        self._context_chars = context_chars

    async def generate(self, question: Question, retrieved: Sequence[RetrievedChunk]) -> Generation:
        """One answer; an empty one and a refusal are answers too (flagged later). Raises ProviderError, KeyRejected."""
        prompt = load_prompt("generate")
        request = generation_request(question, retrieved, self._context_chars)
        turns = [Turn("user", request.text)]
        try:
            reply = await self._service.ask(prompt.system, turns)
        except CallFailed as failure:
            raise ProviderError(
                f"{self.model}: {failure.detail}",
                "The question is recorded as failed; `run --resume` or a new run asks again.",
                reason=failure.reason,
                may_cost=failure.may_cost,
            ) from None
        return Generation(
            answer=reply.text,
            prompt=rendered(prompt.system, turns),
            model=self.model,
            reported_model=reply.model,
            usage=reply.usage,
            stop_reason=reply.stop_reason,
            cut=request.cut,
            cost_usd=reply.cost_usd,
            latency_s=reply.latency_s,
        )

    def notes(self) -> tuple[str, ...]:
        """What a person should know of the service's behaviour."""
        note = self._service.cache_note()
        return (f"generator {note}",) if note else ()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()
