"""The history of a project: every run with its evidence, every human decision, and the proof that none was changed."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from rag_audit.errors import HistoryError, UsageError
from rag_audit.history import records
from rag_audit.history.archive import archive_leftovers
from rag_audit.history.ids import new_run_id
from rag_audit.history.integrity import VerifyReport, head_of, verify_history
from rag_audit.history.layout import GIT_ATTRIBUTES, Layout, Problem
from rag_audit.history.ledger import Ledger, read_ledger, read_rows
from rag_audit.history.rebuild import Rebuilt, rebuild_ledger
from rag_audit.history.references import check_label, means_a_step, resolve_run
from rag_audit.history.runfile import (
    JudgedClaims,
    has_begun,
    read_claims,
    read_closed,
    read_question,
    read_results,
    read_unclosed,
)
from rag_audit.history.writer import RunWriter, resume_run, start_run
from rag_audit.metrics import METRICS, summarise
from rag_audit.model import ArchivedRun, AuditSample, Decision, MetricSummary, Origin, QuestionResult, RunSummary
from rag_audit.redact import Redactor
from rag_audit.summary import SummaryBuilder

__all__ = [
    "GIT_ATTRIBUTES",
    "NOT_FINISHED",
    "History",
    "JudgedClaims",
    "Problem",
    "RunWriter",
    "VerifyReport",
    "check_label",
    "means_a_step",
    "new_run_id",
]

NOT_FINISHED = "not_finished"
"""Why a planned question of an unclosed run has no score."""


class History:
    """One project's history/ folder; reading creates nothing and takes no lock."""

    def __init__(self, project: Path, *, redact: Sequence[str] = ()) -> None:
        """`redact`: the project's own patterns; the keys in the environment are always replaced."""
        self.project = project
        """The project's folder."""
        self._layout = Layout(project / "history")
        self._redact = tuple(redact)
        self._read: tuple[tuple[int, ...], Ledger] | None = None

    def summaries(self) -> list[RunSummary]:
        """The closed runs in ledger order, oldest first."""
        return [entry.head.run for entry in self._ledger().entries]

    def unclosed(self) -> list[RunSummary]:
        """Runs that are not in the ledger: running, interrupted, or closed just before a crash; by id."""
        return self._outside_the_ledger()[0]

    def damage(self) -> tuple[Problem, ...]:
        """Lines of the ledger and run files that cannot be read, to be said beside every list of runs."""
        named = (replace(found, file=self._layout.named(Path(found.file))) for found in self._ledger().damage)
        return (*(found for found in named if not found.torn), *self._outside_the_ledger()[1])

    def resolve(self, ref: str) -> RunSummary:
        """The run meant by an id, a unique prefix, a label, LABEL~1, latest or latest~1; else UsageError."""
        return resolve_run(ref, self.summaries(), self.unclosed())

    def archived(self, run_id: str) -> ArchivedRun:
        """Summary and rows of a run: from the ledger, or for an unclosed run from what it has finished."""
        entry = self._ledger().find(run_id)
        if entry is not None:
            return ArchivedRun(entry.head.run, read_rows(self._layout.ledger, entry))
        closed = read_closed(self._run_file(run_id))
        if closed is not None:
            return closed
        header = read_unclosed(self._run_file(run_id))
        builder = SummaryBuilder()
        for result in self.results(run_id):
            builder.add(result)
        so_far = builder.build(header, duration_s=header.duration_s, status=header.status)
        missing = header.questions - len(builder.rows)
        metrics = so_far.metrics
        if not metrics and header.origin is Origin.EVALUATED:
            metrics = {name: summarise(name, ()) for name in METRICS}
        metrics = {name: _with_unfinished(metric, missing) for name, metric in metrics.items()}
        return ArchivedRun(replace(so_far, metrics=metrics), tuple(builder.rows))

    def results(self, run_id: str) -> Iterator[QuestionResult]:
        """All finished questions of a run, as a stream in the order they finished."""
        return read_results(self._run_file(run_id))

    def claims(self, run_id: str) -> Iterator[JudgedClaims]:
        """The judged claims of all finished questions, as a stream: several times faster than whole results."""
        return read_claims(self._run_file(run_id))

    def result(self, run_id: str, question_id: str, repeat: int | None = None) -> QuestionResult:
        """One question of a run; without `repeat` its first one. Reads one place of the run file."""
        for result in self.repeats(run_id, question_id):
            if repeat is None or result.repeat == repeat:
                return result
        raise UsageError(f"question {question_id} has no repeat {repeat}", f"`rag-audit show {run_id}` lists them.")

    def repeats(self, run_id: str, question_id: str) -> list[QuestionResult]:
        """One question of a run with all its repeats."""
        return read_question(self._run_file(run_id), question_id)

    def start(self, header: RunSummary, planned: Sequence[tuple[str, int | None]]) -> RunWriter:
        """Start a run file; `planned` are (question id, repeat) of everything the run will answer."""
        archive_leftovers(self._layout)
        return start_run(self._layout, header, tuple(planned), self._redactor)

    def resume(self, run_id: str) -> RunWriter:
        """Take up an interrupted run; `finished` says what need not be done again. UsageError for a closed one."""
        self._run_file(run_id)
        archive_leftovers(self._layout)
        return resume_run(self._layout, run_id, self._redactor)

    def record(self, decision: Decision) -> Decision:
        """Write one human decision, synced when this returns; returns it with its id."""
        return records.record_decision(self._layout, decision, self._redactor)

    def decisions(self, run_id: str | None = None) -> list[Decision]:
        """All decisions, or those of one run, by time."""
        everything = records.read_decisions(self._layout)
        return [decision for decision in everything if run_id is None or decision.run_id == run_id]

    def record_sample(self, sample: AuditSample) -> AuditSample:
        """Write one draw, synced when this returns; returns it with its id."""
        return records.record_sample(self._layout, sample, self._redactor)

    def samples(self, run_id: str) -> list[AuditSample]:
        """The draws of one run, by time."""
        everything = records.read_samples(self._layout)
        return [sample for sample in everything if sample.run_id == run_id]

    def head(self) -> str | None:
        """The text that anchors the end of the history (heads of ledger and audits, joined by +); None if empty."""
        return head_of((*self._ledger().heads, *records.record_heads(self._layout)))

    def verify(self, head: str | None = None) -> VerifyReport:
        """Check the integrity of the whole history; changes and creates nothing."""
        return verify_history(self._layout, head)

    def rebuild(self) -> Rebuilt:
        """Write a new ledger from the run files, beside the old one."""
        return rebuild_ledger(self._layout)

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(os.environ, self._redact)

    def _ledger(self) -> Ledger:
        """The ledger, read again only when the file changed."""
        path = self._layout.ledger
        status = path.stat() if path.exists() else None
        state = (status.st_ino, status.st_size, status.st_mtime_ns) if status else ()
        if self._read is None or self._read[0] != state:
            self._read = (state, read_ledger(path))
        return self._read[1]

    def _outside_the_ledger(self) -> tuple[list[RunSummary], list[Problem]]:
        archived = {entry.head.run.id for entry in self._ledger().entries}
        runs: list[RunSummary] = []
        unreadable: list[Problem] = []
        for path in self._layout.run_files():
            if path.stem in archived:
                continue
            try:
                if has_begun(path):
                    runs.append(read_unclosed(path))
            except HistoryError as error:
                unreadable.append(Problem(self._layout.named(path), 1, 0, error.message))
        return runs, unreadable

    def _run_file(self, run_id: str) -> Path:
        path = self._layout.run_file(run_id)
        if not path.is_file():
            raise HistoryError(
                f"the run file of {run_id} is missing", "Restore it; `rag-audit verify` lists all.", where=str(path)
            )
        return path


def _with_unfinished(metric: MetricSummary, count: int) -> MetricSummary:
    """The metric over everything planned: what is not finished is missing, and said so."""
    if count <= 0:
        return metric
    return replace(metric, total=metric.total + count, missing={**metric.missing, NOT_FINISHED: count})
