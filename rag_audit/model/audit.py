"""Human decisions, the sample they belong to, and the numbers they give."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_audit.model.vocabulary import Queue


@dataclass(frozen=True, slots=True)
class Decision:
    """One human act on one claim or score; each stands alone, together they are a set."""

    id: str
    """Content hash of every other field."""
    kind: str
    """verdict | added_claim | score | undo | adjudication."""
    run_id: str
    question_id: str
    reviewer: str
    time: str
    """ISO-8601, UTC."""
    repeat: int | None = None
    claim_id: str | None = None
    """For an added claim, the id it gets (m1, m2, ...)."""
    verdict: str | None = None
    """verified | contradicted | absent | skip (cannot judge); None for scores and undo."""
    metric: str | None = None
    """For a score: faithfulness | completeness."""
    value: float | None = None
    """For a score: 0-10."""
    text: str | None = None
    """For an added claim: its text."""
    claim_hash: str | None = None
    excerpt_hash: str | None = None
    judge: str | None = None
    """The judge's model and prompt hash."""
    judge_verdict: str | None = None
    """What the judge had said (verdict, or the score as text)."""
    reason: str | None = None
    queue: Queue = Queue.OTHER
    sample_id: str | None = None
    blind: bool = False
    """Made before the judge's verdict was shown."""
    informed: bool = False
    """Made or changed after the judge's verdict was seen."""
    supersedes: tuple[str, ...] = ()
    """Ids this one replaces: a change or an undo names one, an adjudication all it settles."""
    carried_from: str | None = None
    """Id of a decision of an earlier run that was accepted for this claim."""
    seconds: float | None = None
    """Time from showing the claim to the decision."""


@dataclass(frozen=True, slots=True)
class AuditSample:
    """One recorded draw of questions."""

    id: str
    run_id: str
    seed: int
    fraction: float
    stratify: str
    """none | corpus."""
    target: tuple[str, ...]
    """claims, scores."""
    questions: tuple[str, ...]
    """Question ids in queue order."""
    time: str
    population: int
    """Questions that could be drawn."""
    strata: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Stratum to (drawn, population)."""
    supersedes: str | None = None
    """The smaller draw that this one enlarges."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval and the name of the method."""

    estimate: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    note: str | None = None
    """Why it is null, or what must be said beside it."""


JsonObject = dict[str, Any]
"""A plain JSON object, as scripts read it."""
