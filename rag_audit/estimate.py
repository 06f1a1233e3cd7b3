"""What a run would do and cost, before anything is spent: the routing table, the calls, the tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_audit.config import load_settings
from rag_audit.corpus.check import chosen_questions, prepare
from rag_audit.model import Question, Route
from rag_audit.model.settings import Settings
from rag_audit.providers.open import check_models
from rag_audit.providers.prices import BilledTokens, Price, price_of
from rag_audit.routing import route_question

CHARS_PER_TOKEN = 4
"""A rule of thumb for English prose; the estimate says that it is one."""

TYPICAL_ANSWER_TOKENS = 300
TYPICAL_JUDGMENT_TOKENS = 700
INSTRUCTION_TOKENS = 800


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The calls of one role: how many, roughly how many tokens, and the cost; cost None: the price is unknown."""

    role: str
    """generator | claims | scores."""
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Where every question would go, and what would be called."""

    routes: tuple[tuple[Question, Route], ...]
    calls: tuple[CallEstimate, ...]

    @property
    def cost_usd(self) -> float | None:
        """Sum over the roles; None where one price is unknown."""
        costs = [call.cost_usd for call in self.calls]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def plan_run(project: Path, overrides: Sequence[str], only: Sequence[str] = ()) -> RunPlan:
    """Check what a run checks before its first call, keys apart, and estimate the rest; calls no model."""
    prepared = prepare(project, load_settings(project, overrides))
    settings = prepared.settings
    check_models(settings)
    questions = chosen_questions(prepared.questions, only)
    routes = tuple((question, route_question(question, prepared.table, settings)) for question in questions)
    return RunPlan(routes, tuple(_estimates(settings, len(questions))))


def unpriced_models(settings: Settings) -> list[str]:
    """The models in use whose price is not in the settings; a cost limit cannot be kept with them."""
    models = {settings.text(key) for key in ("generator", "judge.claims", "judge.scores")}
    return sorted(model for model in models - {"offline", "none"} if _price(settings, model) is None)


def _price(settings: Settings, model: str) -> Price | None:
    return price_of(settings.mapping("prices"), model, model.partition(":")[2])


def _estimates(settings: Settings, questions: int) -> list[CallEstimate]:
    context_tokens = 0
    if settings.text("retriever.mode") != "off":
        characters = settings.integer("chunking.size") * (
            CHARS_PER_TOKEN if settings.text("chunking.unit") == "tokens" else 1
        )
        context_tokens = settings.integer("retriever.top_k") * characters // CHARS_PER_TOKEN
    reference_tokens = settings.integer("judge.reference_chars") // CHARS_PER_TOKEN
    judged = questions * settings.integer("judge.repeats")
    roles = (
        ("generator", settings.text("generator"), questions, context_tokens, TYPICAL_ANSWER_TOKENS),
        ("claims", settings.text("judge.claims"), judged, context_tokens + reference_tokens, TYPICAL_JUDGMENT_TOKENS),
        ("scores", settings.text("judge.scores"), judged, context_tokens, TYPICAL_JUDGMENT_TOKENS // 2),
    )
    return [
        _estimate(settings, role, model, calls, context + INSTRUCTION_TOKENS, output)
        for role, model, calls, context, output in roles
        if model != "none"
    ]


def _estimate(settings: Settings, role: str, model: str, calls: int, input_each: int, output_each: int) -> CallEstimate:
    if model == "offline":
        return CallEstimate(role, model, calls, 0, 0, 0.0)
    price = _price(settings, model)
    tokens = BilledTokens(fresh=calls * input_each, cache_write=0, cache_read=0, output=calls * output_each)
    return CallEstimate(role, model, calls, tokens.fresh, tokens.output, price.cost(tokens) if price else None)
