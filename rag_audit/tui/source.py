"""The one place where the screens get what they show: the history and the pure functions over it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from rag_audit.corpus.documents import Documents, scan_documents
from rag_audit.history import History
from rag_audit.model import ArchivedRun, AuditSample, Decision, QuestionResult, RunSummary
from rag_audit.model.settings import Settings
from rag_audit.summary import row_of


def now_text() -> str:
    """The time of day as records hold it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Source:
    """History, settings and reviewer of one project."""

    def __init__(self, project: Path, settings: Settings, history: History, *, reviewer: str | None = None) -> None:
        self.project = project
        self.settings = settings
        self.history = history
        self._scanned: Documents | None = None
        self.reviewer = reviewer or settings.optional("audit.reviewer") or ""

    def runs(self) -> list[RunSummary]:
        """Every run, newest first, those under way on top."""
        return [*reversed(self.history.unclosed()), *reversed(self.history.summaries())]

    def run(self, run_id: str) -> ArchivedRun:
        """One run's summary and rows; of an unfinished one the rows so far."""
        unclosed = next((run for run in self.history.unclosed() if run.id == run_id), None)
        if unclosed is None:
            return self.history.archived(run_id)
        return ArchivedRun(unclosed, tuple(map(row_of, self.history.results(run_id))))

    def texts(self, run_id: str) -> dict[tuple[str, int | None], str]:
        """The question texts of a run."""
        return {(r.question.id, r.repeat): r.question.question for r in self.history.results(run_id)}

    def result(self, run_id: str, question_id: str, repeat: int | None = None) -> QuestionResult:
        """One question's result."""
        return self.history.result(run_id, question_id, repeat)

    def record(self, decision: Decision) -> Decision:
        """Put a decision on disk; when this returns it is there."""
        return self.history.record(decision)

    def decisions(self, run_id: str) -> list[Decision]:
        """The decisions on a run."""
        return self.history.decisions(run_id)

    def sample(self, run_id: str) -> AuditSample | None:
        """The current draw of a run."""
        samples = self.history.samples(run_id)
        return samples[-1] if samples else None

    def document(self, doc_id: str) -> str | None:
        """A document's whole text; None where the project does not hold it."""
        documents = self._documents()
        return documents.text(doc_id) if documents.get(doc_id) is not None else None

    def _documents(self) -> Documents:
        if self._scanned is None:
            self._scanned = scan_documents(self.project, self.settings)
        return self._scanned

    def blind_questions(self, run_id: str) -> frozenset[str]:
        """Questions of the current draw with claims that this reviewer has not decided yet."""
        sample = self.sample(run_id)
        if sample is None:
            return frozenset()
        counts = {row.id: sum(row.verdicts.values()) for row in self.run(run_id).rows}
        decided: dict[str, set[str]] = {}
        for decision in standing(self.decisions(run_id)):
            if decision.reviewer == self.reviewer and decision.kind == "verdict" and decision.claim_id:
                decided.setdefault(decision.question_id, set()).add(decision.claim_id)
        return frozenset(q for q in sample.questions if len(decided.get(q, ())) < counts.get(q, 0))


def standing(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions that hold: not undone, and not replaced by one that holds."""
    listed = list(decisions)
    undone = {one for d in listed if d.kind == "undo" for one in d.supersedes}
    live = [d for d in listed if d.kind != "undo" and d.id not in undone]
    replaced = {one for d in live for one in d.supersedes}
    return [d for d in live if d.id not in replaced]
