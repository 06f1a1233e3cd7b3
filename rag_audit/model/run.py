"""One question's result, a run's context and summary, and the ledger's compact view of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_audit.model.answer import ClaimJudgment, Generation, JudgeCall, ScoreJudgment
from rag_audit.model.question import Question, RetrievedChunk, Route
from rag_audit.model.vocabulary import UNKNOWN, Direction, FlagName, Origin, RunStatus


@dataclass(frozen=True, slots=True)
class Flag:
    """One reason to look at a claim (or, without claim_id, at the question)."""

    flag: FlagName
    why: str
    claim_id: str | None = None
    matches: tuple[str, ...] = ()
    """The tokens that raised it, as they stand in the text."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """All that each layer saw and said for one question (of one repeat)."""

    question: Question
    route: Route
    repeat: int | None = None
    """1-based where a question is answered or judged several times, else None."""
    retrieved: tuple[RetrievedChunk, ...] = ()
    generation: Generation | None = None
    claim_judgment: ClaimJudgment | None = None
    score_judgment: ScoreJudgment | None = None
    judge_calls: tuple[JudgeCall, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Metric name to value; None beside a reason in `missing`."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Metric name to the reason why it has no value."""
    flags: tuple[Flag, ...] = ()
    context_parity: float | None = None
    """Share (0-1) of the generator's context that the judge could see."""
    overlap: float | None = None
    """Share (0-1) of the reference excerpt that the generator saw."""
    measurements: Mapping[str, float] = field(default_factory=dict)
    """Latency, lengths, tokens: numbers that are no quality scores."""
    notes: tuple[str, ...] = ()
    """What an importer wants a person to know of this row."""
    error: str | None = None
    """The failure that left this question without an answer."""
    unpriced_generation: bool = False
    """Whether the generator's service may have charged for the answer that never came."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything that can move a number; `unknown` where nobody recorded it."""

    generator: str = UNKNOWN
    embedder: str = UNKNOWN
    reranker: str = UNKNOWN
    judges: Mapping[str, str] = field(default_factory=lambda: {"claims": UNKNOWN, "scores": UNKNOWN})
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Prompt name (generator, claims, scores) to hash."""
    chunking: Mapping[str, Any] | str = UNKNOWN
    retriever: Mapping[str, Any] | str = UNKNOWN
    routing: Mapping[str, Any] | str = UNKNOWN
    """{"enabled": bool, "default_corpus": name|None, "table": hash of the routing table}."""
    questions_hash: str = UNKNOWN
    corpora: Mapping[str, Any] | str = UNKNOWN
    """Corpus name to {"documents": hash, "index": hash}."""
    seed: int | str = UNKNOWN
    workers: int | str = UNKNOWN
    version: str = UNKNOWN
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings that can move a number; for imports, what the file says of its run."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """The mean of one metric with its balance: n + sum of `missing` = total."""

    mean: float | None
    n: int
    total: int
    missing: Mapping[str, int] = field(default_factory=dict)
    range: tuple[float | None, float | None] = (0.0, 1.0)
    """None: unbounded or unknown."""
    direction: Direction = Direction.UP


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars by purpose; None where a call's price is unknown (counted in unknown_calls)."""

    generation_usd: float | None = 0.0
    judge_usd: float | None = 0.0
    embedding_usd: float | None = 0.0
    unknown_calls: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens over all calls and attempts, as reported."""

    input: int = 0
    cached_input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The head of a run: what is listed, compared and exported without opening its evidence."""

    id: str
    label: str | None
    status: RunStatus
    origin: Origin
    started_at: str
    """ISO-8601, UTC."""
    context: RunContext
    parent: str | None = None
    duration_s: float | None = None
    """Seconds of work over all attempts; None while running and for imports that do not say."""
    reported_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Role (generator, claims, scores) to the models the replies named; two are "mixed"."""
    metrics: Mapping[str, MetricSummary] = field(default_factory=dict)
    by_corpus: Mapping[str, Mapping[str, MetricSummary]] = field(default_factory=dict)
    claims: Mapping[str, int] = field(default_factory=dict)
    """Verdict to count; all four verdicts are present."""
    flags: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = Cost()
    tokens: Tokens = Tokens()
    questions: int = 0
    """Planned results: questions times repeats."""
    context_parity: float | None = None
    overlap: float | None = None
    source: str | None = None
    """For imports, the file (and system) the run came from."""
    content_hash: str | None = None
    """For imports, the hash of all that was read: equal content is the same run."""
    overrides: tuple[str, ...] = ()
    """The `key=value` settings the run was started with beyond its project's files; `--resume` repeats them."""
    notes: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the run has not ended: under way, or interrupted."""
        return self.status in (RunStatus.RUNNING, RunStatus.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """What the ledger keeps of one question: enough to pair, compare and name causes."""

    id: str
    repeat: int | None
    doc_id: str | None
    scores: Mapping[str, float | None]
    missing: Mapping[str, str]
    verdicts: Mapping[str, int]
    """Verdict to count of claims."""
    route: tuple[str, ...]
    rule: str
    misrouted: bool
    question_hash: str
    """Question text, reference answer and keywords: a difference means the question was edited."""
    answer_hash: str | None
    """None: no answer."""
    context_hash: str
    """The retrieved chunks in their order."""
    excerpt_hash: str | None
    """The reference part of the judge's excerpt; None: there was none."""
    judges: Mapping[str, str] = field(default_factory=dict)
    """Role (claims, scores) to the judge of this row: model, model as reported, prompt hash and parameters in one
    comparable text. A role that did not judge is absent; one of which nothing is known is `unknown`."""
    corpus: str = UNKNOWN
    """The corpus it counts for: that of its own document, wherever it was sent."""
    flags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    reviewed: bool | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """A closed run as the ledger has it: summary and one row per question."""

    summary: RunSummary
    rows: tuple[QuestionRow, ...]
