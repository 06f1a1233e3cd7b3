"""The one place where the screens get what they show: the history and the pure functions over it.

What a screen needs later is imported when it asks, so that the first one is there at once.
"""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_audit.history import History
from rag_audit.model import ArchivedRun, AuditSample, Decision, QuestionResult, RunDiff, RunSummary
from rag_audit.model.settings import Settings

if TYPE_CHECKING:
    from rag_audit.attempt import Watcher
    from rag_audit.audit.report import AuditReport
    from rag_audit.audit.standing import ClaimKey
    from rag_audit.corpus.documents import Documents
    from rag_audit.diff.several import SeveralRuns
    from rag_audit.importers.importing import Imported, Refused
    from rag_audit.importers.mapping import FieldMap
    from rag_audit.tui.blindness import Blind
    from rag_audit.tui.evaluation import Evaluation, Start


class Source:
    """History, settings and reviewer of one project."""

    def __init__(
        self,
        project: Path,
        settings: Settings,
        history: History,
        *,
        reviewer: str | None = None,
        find_reviewer: Callable[[], str | None] | None = None,
    ) -> None:
        """`find_reviewer` is asked once, when the name is needed first and none was given."""
        self.project = project
        self.settings = settings
        self.history = history
        self.evaluation: Evaluation | None = None
        """The run that this session started last."""
        self._scanned: Documents | None = None
        self.seen: defaultdict[str, set[ClaimKey]] = defaultdict(set)
        """Run to the claims and scores whose judge's side was on the screen in this session."""
        self._reviewer = reviewer or settings.optional("audit.reviewer") or ""
        self._find_reviewer = find_reviewer

    @property
    def reviewer(self) -> str:
        """The reviewer's name; empty where it has to be asked for."""
        if not self._reviewer and self._find_reviewer is not None:
            find, self._find_reviewer = self._find_reviewer, None
            self._reviewer = find() or ""
        return self._reviewer

    @reviewer.setter
    def reviewer(self, name: str) -> None:
        self._reviewer = name

    def runs(self) -> list[RunSummary]:
        """Every run, newest first, those under way on top."""
        return [*reversed(self.history.unclosed()), *reversed(self.history.summaries())]

    def damage(self) -> list[str]:
        """Lines of the history that cannot be read."""
        return [
            f"{found.file}{'' if found.line is None else f':{found.line}'} {found.problem}"
            for found in self.history.damage()
        ]

    def run(self, run_id: str) -> ArchivedRun:
        """One run's summary and rows; of an unfinished one the rows so far."""
        return self.history.archived(self.history.resolve(run_id).id)

    def texts(self, run_id: str) -> dict[tuple[str, int | None], str]:
        """The question texts of a run."""
        return {(r.question.id, r.repeat): r.question.question for r in self.history.results(run_id)}

    def result(self, run_id: str, question_id: str, repeat: int | None = None) -> QuestionResult:
        """One question's result."""
        return self.history.result(run_id, question_id, repeat)

    def diff(self, before: str, after: str) -> RunDiff:
        """Compare two runs under the project's settings."""
        from rag_audit.comparison import diff_runs

        return diff_runs(self.history, before, after, self.settings)

    def follow(self, runs: Sequence[RunSummary]) -> "SeveralRuns":
        """Follow every question through three or more runs, oldest first."""
        from rag_audit.comparison import follow

        return follow(self.history, runs, self.settings)

    def previous(self, run_id: str) -> RunSummary | None:
        """The run that this one is best compared with."""
        from rag_audit.comparison import previous_comparable

        return previous_comparable(self.history, run_id)

    def record(self, decision: Decision) -> Decision:
        """Put a decision on disk; when this returns it is there."""
        return self.history.record(decision)

    def decisions(self, run_id: str | None = None) -> list[Decision]:
        """The decisions on a run, or all."""
        return self.history.decisions(run_id)

    def sample(self, run_id: str) -> AuditSample | None:
        """The current draw of a run."""
        from rag_audit.auditing import current_sample

        return current_sample(self.history, run_id)

    def document(self, doc_id: str) -> str | None:
        """A document's whole text; None where the project does not hold it."""
        documents = self._documents()
        return documents.text(doc_id) if documents.get(doc_id) is not None else None

    def _documents(self) -> "Documents":
        if self._scanned is None:
            from rag_audit.corpus.documents import scan_documents

            self._scanned = scan_documents(self.project, self.settings)
        return self._scanned

    def blind(self, run_id: str) -> "Blind":
        """What this reviewer must not see of a run yet."""
        from rag_audit.tui.blindness import Blind, blind_of

        sample = self.sample(run_id)
        return blind_of(sample, self.run(run_id).rows, self.decisions(run_id), self.reviewer) if sample else Blind()

    def draw(self, run: RunSummary) -> AuditSample:
        """Draw the audit sample of a run under the project's settings."""
        from rag_audit.auditing import draw_sample

        return draw_sample(
            self.history,
            run,
            fraction=self.settings.number("audit.fraction"),
            stratify=self.settings.text("audit.stratify"),
            target=self.settings.items("audit.target"),
        )[0]

    def report(self, run: RunSummary) -> "AuditReport":
        """Judge's, adjusted and corrected numbers of a run."""
        from rag_audit.auditing import report_run

        return report_run(self.history, run)

    def evaluate(self, overrides: Sequence[str], label: str | None, resume: str | None = None) -> "Start":
        """A run of the project's questions, ready to be started with a watcher."""
        project = self.project

        def start(watch: "Watcher") -> Coroutine[Any, Any, RunSummary]:
            from rag_audit.pipeline import run_evaluation

            return run_evaluation(project, overrides=overrides, label=label, resume=resume, watch=watch)

        return start

    def import_path(
        self, path: str, mapping: "FieldMap | None" = None
    ) -> "tuple[list[Imported | Refused], FieldMap | None]":
        """Turn other tools' results into runs; also returns the mapping that was guessed for a file and not used."""
        from rag_audit.importers.importing import ImportOptions, import_paths

        guesses: list[FieldMap] = []

        def decline(guess: "FieldMap", file: object) -> bool:
            guesses.append(guess)
            return False

        options = ImportOptions(mapping=mapping, confirm=decline)
        outcomes = list(import_paths(self.project, [Path(path).expanduser()], options))
        return outcomes, guesses[0] if guesses else None

    def export_run(self, run: RunSummary, form: str, path: str) -> str:
        """Write a run to a file; returns where it is."""
        from rag_audit.export.writing import export_run

        target = self._target(path)
        export_run(self.project, self.history.archived(run.id), form, target)
        return str(target)

    def export_audit(self, run: RunSummary, path: str) -> str:
        """Write the audit pack of a run to a folder; returns where it is."""
        from rag_audit.export.auditpack import write_audit_pack

        target = self._target(path)
        write_audit_pack(self.history, run.id, target)
        return str(target)

    def export_diff(self, before: RunSummary, after: RunSummary, form: str, path: str) -> str:
        """Write a diff to a file; returns where it is."""
        from rag_audit.comparison import report_diff
        from rag_audit.export.diff_html import diff_html
        from rag_audit.export.diff_junit import diff_junit
        from rag_audit.export.diff_md import diff_md
        from rag_audit.export.diff_text import diff_text
        from rag_audit.export.writing import written

        write = {"text": diff_text, "html": diff_html, "md": diff_md, "junit": diff_junit}[form]
        target = self._target(path)
        text = write(report_diff(self.history, self.diff(before.id, after.id)))
        with written(target, self.project) as out:
            out.write(text)
        return str(target)

    def _target(self, path: str) -> Path:
        return self.project / Path(path).expanduser()
