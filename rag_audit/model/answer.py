"""What the generator and the judges were sent and what they said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_audit.model.vocabulary import Support, Verdict


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the service reported them; None where it did not say."""

    input_tokens: int | None = None
    """Fresh input, without what was read from a cache."""
    cached_input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """One answer with the prompt exactly as sent."""

    answer: str
    prompt: str | None = None
    """None for imported answers."""
    model: str | None = None
    """The model as asked for."""
    reported_model: str | None = None
    """The model the reply names."""
    usage: Usage = Usage()
    stop_reason: str | None = None
    cut: tuple[str, ...] = ()
    """What was cut to fit, one readable line each."""
    cost_usd: float | None = None
    """None: unknown."""
    latency_s: float | None = None
    """Seconds the successful call took, without waiting for rate limits."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in one part of the rendered excerpt."""

    part: str
    """reference | context."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement of an answer with the judge's verdict."""

    id: str
    """Stable within the question: c1, c2, ... in the order of the answer."""
    text: str
    verdict: Verdict
    evidence: str | None = None
    """The judge's verbatim quote."""
    evidence_spans: tuple[Span, ...] = ()
    """Where the quote really is; empty when it is not in the excerpt."""
    support: Support = Support.NONE
    reason: str | None = None
    """The judge's reasoning for this claim, when it gave one."""
    count: int = 1
    """How many identical claims the judge listed."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source document (or an imported text) inside an excerpt."""

    text: str
    doc_id: str | None = None
    corpus: str | None = None
    start: int | None = None
    """Offset in the document's text, in characters."""
    line: int | None = None
    """1-based line of `start` in the file."""
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What the claim judge could see: a run-independent reference part and the generator's context."""

    reference: tuple[Passage, ...] = ()
    context: tuple[Passage, ...] = ()
    cut: tuple[str, ...] = ()
    """What was left out to stay within bounds, one readable line each."""

    def text(self, part: str) -> str:
        """The rendering of one part (reference | context) that spans count in."""
        passages = self.reference if part == "reference" else self.context
        return "\n\n".join(passage.text for passage in passages)


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Everything that makes one judge a different measuring instrument from another."""

    model: str
    """As asked for: `offline`, `anthropic:MODEL`, or the name an imported file gives."""
    prompt_hash: str
    """Hash of the judging prompt or of the rule set; `unknown` for imports."""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One call of one judge, as sent and as answered; failed and repaired calls are kept too."""

    judge: str
    """claims | scores."""
    prompt: str
    reply: str
    model: str | None = None
    """The model the reply names."""
    usage: Usage = Usage()
    error: str | None = None
    """Named failure of this call: unparsable, refusal, max_tokens, ..."""
    cost_usd: float | None = None
    latency_s: float | None = None
    cached: bool = False
    """Whether the reply came from the reply cache."""


@dataclass(frozen=True, slots=True)
class ClaimJudgment:
    """The claim judge's verdict list for one answer."""

    excerpt: Excerpt
    claims: tuple[Claim, ...] = ()
    identity: JudgeIdentity | None = None
    reported_model: str | None = None
    error: str | None = None
    """Why there are no usable claims: a failed reason such as `unparsed` or `timeout`."""


@dataclass(frozen=True, slots=True)
class ScoreJudgment:
    """Faithfulness and completeness, whole numbers from 0 to 10."""

    faithfulness: int | None = None
    completeness: int | None = None
    justification: str | None = None
    identity: JudgeIdentity | None = None
    reported_model: str | None = None
    error: str | None = None
