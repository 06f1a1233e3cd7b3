"""What an export of a run is made of: one model for CSV, HTML, Markdown, JUnit and the plain results file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rag_audit.model import Claim, QuestionResult, RunSummary


@dataclass(frozen=True, slots=True)
class ExportedClaim:
    """A claim with the judge's verdict and the one that counts after the reviewers."""

    claim: Claim
    effective: str


@dataclass(frozen=True, slots=True)
class ExportedQuestion:
    """One result with what human decisions make of it."""

    result: QuestionResult
    claims: tuple[ExportedClaim, ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    """Claims that reviewers added: text and verdict."""
    adjusted: dict[str, float | None] = field(default_factory=dict)
    """Metric to its value over effective verdicts and scores; only metrics that an audit can move."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run as it is exported; questions are streamed, never held."""

    summary: RunSummary
    questions: Callable[[], Iterator[ExportedQuestion]]
    head: str | None = None
    """Hash that anchors the history this was exported from."""

    @property
    def metrics(self) -> list[str]:
        """The run's metrics in the order they are shown."""
        return list(self.summary.metrics)
