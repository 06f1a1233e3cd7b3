"""The history of a project: every run with its evidence, every human decision, and the proof that none was changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_audit.errors import HistoryError, UsageError
from rag_audit.history import records
from rag_audit.history.ids import new_run_id
from rag_audit.history.integrity import VerifyReport, verify_history
from rag_audit.history.ledger import Damage, Ledger, read_ledger, read_rows
from rag_audit.history.references import resolve_run
from rag_audit.history.runfile import read_closing, read_question, read_results, read_unclosed
from rag_audit.history.writer import RunWriter, resume_run, start_run
from rag_audit.model import ArchivedRun, AuditSample, Decision, QuestionResult, RunSummary

__all__ = ["Damage", "History", "RunWriter", "VerifyReport", "new_run_id"]


class History:
    """One project's history/ folder; reading creates nothing."""

    def __init__(self, project: Path) -> None:
        self.folder = project / "history"
        self.ledger_path = self.folder / "eval_history.jsonl"

    def summaries(self) -> list[RunSummary]:
        """The closed runs in ledger order, oldest first."""
        return [entry.head.run for entry in self._ledger().entries]

    def damage(self) -> tuple[Damage, ...]:
        """The lines of the ledger that could not be used, to be said beside every list of runs."""
        return self._ledger().damage

    def unclosed(self) -> list[RunSummary]:
        """Runs that are not in the ledger: running, interrupted, or closed just before a crash; by id."""
        archived = {run.id for run in self.summaries()}
        paths = (path for path in sorted((self.folder / "runs").glob("*.jsonl")) if path.stem not in archived)
        found: list[RunSummary] = []
        for path in paths:
            closing = read_closing(path)
            found.append(closing.run if closing else read_unclosed(path))
        return found

    def resolve(self, ref: str) -> RunSummary:
        """The run meant by an id, a unique prefix, a label, LABEL~1, latest or latest~1; else UsageError."""
        return resolve_run(ref, self.summaries(), self.unclosed())

    def archived(self, run_id: str) -> ArchivedRun:
        """Summary and rows of one closed run, from the ledger alone."""
        entry = self._ledger().find(run_id)
        if entry is None:
            raise HistoryError(f"run {run_id} is not finished", f"rag-audit run --resume {run_id}")
        return ArchivedRun(entry.head.run, read_rows(self.ledger_path, entry))

    def results(self, run_id: str) -> Iterator[QuestionResult]:
        """All finished questions of a run, as a stream in the order they finished."""
        return read_results(self._run_file(run_id))

    def result(self, run_id: str, question_id: str, repeat: int | None = None) -> QuestionResult:
        """One question of a run; without `repeat` its first one. Reads one place of the run file."""
        found = read_question(self._run_file(run_id), question_id)
        for result in found:
            if repeat is None or result.repeat == repeat:
                return result
        raise UsageError(f"question {question_id} has no repeat {repeat}", f"`rag-audit show {run_id}` lists them.")

    def repeats(self, run_id: str, question_id: str) -> list[QuestionResult]:
        """One question of a run with all its repeats."""
        return read_question(self._run_file(run_id), question_id)

    def start(self, header: RunSummary, planned: Sequence[tuple[str, int | None]]) -> RunWriter:
        """Start a run file; `planned` are (question id, repeat) of everything the run will answer."""
        return start_run(self._run_path(header.id), self.ledger_path, header, tuple(planned))

    def resume(self, run_id: str) -> RunWriter:
        """Take up an interrupted run; `finished` says what need not be done again."""
        return resume_run(self._run_file(run_id), self.ledger_path)

    def record(self, decision: Decision) -> Decision:
        """Write one human decision, synced when this returns; returns it with its id."""
        return records.record_decision(self.folder / "audits", decision)

    def decisions(self, run_id: str | None = None) -> list[Decision]:
        """All decisions, or those of one run, by time."""
        everything = records.read_decisions(self.folder / "audits")
        return [decision for decision in everything if run_id is None or decision.run_id == run_id]

    def record_sample(self, sample: AuditSample) -> AuditSample:
        """Write one draw, synced when this returns; returns it with its id."""
        return records.record_sample(self.folder / "samples.jsonl", sample)

    def samples(self, run_id: str) -> list[AuditSample]:
        """The draws of one run, by time."""
        everything = records.read_samples(self.folder / "samples.jsonl")
        return [sample for sample in everything if sample.run_id == run_id]

    def head(self) -> str | None:
        """The hash that anchors the end of the ledger (several joined by + after a merge); None without runs."""
        return "+".join(self._ledger().heads) or None

    def verify(self, head: str | None = None) -> VerifyReport:
        """Check the integrity of the whole history; changes and creates nothing."""
        return verify_history(self.folder, head)

    def _ledger(self) -> Ledger:
        return read_ledger(self.ledger_path)

    def _run_path(self, run_id: str) -> Path:
        return self.folder / "runs" / f"{run_id}.jsonl"

    def _run_file(self, run_id: str) -> Path:
        path = self._run_path(run_id)
        if not path.is_file():
            raise HistoryError(
                f"the evidence of run {run_id} is missing", "Restore the file; `rag-audit verify`.", where=str(path)
            )
        return path
