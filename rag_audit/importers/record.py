"""What every format is read into before it becomes a run: one row record, and a run of such rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_audit.model import Direction, JudgeCall, Route, RunContext, Support, Usage, Verdict

MetricKind = tuple[tuple[float | None, float | None], Direction]
"""Range and direction of a metric; None: unbounded or unknown."""

UNKNOWN_KIND: MetricKind = ((None, None), Direction.NONE)


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a file as parsed: a table's line, a JSON line, or a member of a list."""

    line: int
    """1-based line of the file, or position in the list."""
    values: Mapping[str, Any]
    problem: str | None = None
    """What is odd about the entry although it could be read, such as too many cells."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One entry of a file that is not in the run, and why."""

    line: int
    reason: str
    damaged: bool = False
    """It was a question once and cannot be read; other entries never were one."""


Entries = Callable[[], Iterator[Record | LeftOut]]
"""Reads a file's entries from the start each time it is called; nothing is kept between entries."""


@dataclass(frozen=True, slots=True)
class ImportedChunk:
    """One retrieved text."""

    text: str
    doc_id: str | None = None
    corpus: str | None = None
    score: float | None = None
    heading: tuple[str, ...] = ()
    relevant: bool | None = None
    """As the file states it; None: to be told from the documents' names."""


@dataclass(frozen=True, slots=True)
class ImportedClaim:
    """One claim with the verdict the file gives it."""

    text: str
    verdict: Verdict
    evidence: str | None = None
    reason: str | None = None
    support: Support | None = None
    """The part of the excerpt that holds the evidence, where the file says it; None: where the quote is found."""
    conflicting: bool = False
    """One retrieved text supports it and another contradicts it."""


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """One question of one run as the file has it; None is what the file does not say."""

    question: str
    line: int = 0
    id: str | None = None
    repeat: int | None = None
    answer: str | None = None
    reference: str | None = None
    doc_id: str | None = None
    contexts: tuple[ImportedChunk, ...] | None = None
    """None: the file has no place for retrieved texts in this row; empty: nothing was retrieved."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    """Metric to reason, for scores that are None."""
    claims: tuple[ImportedClaim, ...] | None = None
    """None: the row carries no claim list; empty: the judge listed none."""
    claims_missing: str | None = None
    """Why a row whose claims were to be judged has no list of them, in one word."""
    claims_listed: int = 0
    """Claims counted in the file itself, for the balance."""
    claims_against: tuple[ImportedChunk, ...] = ()
    """Texts the claim judge is known to have had beside the excerpt."""
    excerpt: str | None = None
    """Independent text the claims were judged against."""
    answered_by: str | None = None
    """The model the reply names."""
    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None
    claim_judge: str | None = None
    score_judge: str | None = None
    claim_prompt: str | None = None
    """Hash of the prompt the claims were judged with."""
    score_prompt: str | None = None
    judge_calls: tuple[JudgeCall, ...] = ()
    measurements: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
    """The error the tool recorded for this row."""
    notes: tuple[str, ...] = ()
    route: Route | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of a Question by name (keywords, also_docs, context, tags, ...)."""


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """The rows of one system in one file, and all that the file says about how they came to be."""

    format: str
    entries: Entries
    convert: Callable[[Record], ImportedRow | LeftOut]
    system: str | None = None
    """Which system or arm of the file this is; None where there is only one."""
    label: str | None = None
    label_of_folder: bool = False
    """Whether the label says where the file lies: then it is no part of the content."""
    context: RunContext = field(default_factory=RunContext)
    started_at: str | None = None
    """ISO-8601 UTC; None where the file does not say."""
    duration_s: float | None = None
    kinds: Mapping[str, MetricKind] = field(default_factory=dict)
    claim_scores: frozenset[str] = frozenset()
    """Metrics that are computed from claims: a perfect one beside an empty claim list is a skipped lookup."""
    unfinished: str | None = None
    """Why the run lacks questions: the tool calls it unfinished, or they cannot be read."""
    file_rows: int | None = None
    """Entries this run must account for, where the file was counted independently of reading it."""
    warnings: tuple[str, ...] = ()
    file_means: Mapping[str, float] = field(default_factory=dict)
    """Aggregates the file states beside its rows, by metric."""
