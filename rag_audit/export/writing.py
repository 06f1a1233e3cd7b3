"""Writes an export whole or not at all, and never over the history it comes from."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rag_audit.audit.effective import (
    CLAIM_METRICS,
    Decisions,
    adjusted_score,
    audited_question,
    effective_claims,
)
from rag_audit.errors import HistoryError, UsageError
from rag_audit.export import run_csv, run_html, run_jsonl, run_junit, run_md
from rag_audit.export.run_report import ExportedClaim, ExportedQuestion, RunReport
from rag_audit.history import History
from rag_audit.model import ArchivedRun, QuestionResult

WRITERS: dict[str, Callable[[RunReport, TextIO], None]] = {
    "csv": run_csv.write_csv,
    "html": run_html.write_html,
    "jsonl": run_jsonl.write_jsonl,
    "md": run_md.write_md,
    "junit": run_junit.write_junit,
}
"""Form to the function that writes a run in it."""

_AUDITED = (*CLAIM_METRICS, "faithfulness", "completeness")


def report_run(history: History, run: ArchivedRun) -> RunReport:
    """A run as it is exported, with what the decisions so far make of its verdicts.

    Streaming its questions raises HistoryError where the run file holds fewer than the ledger says.
    """
    decisions = Decisions(history.decisions(run.summary.id))

    def questions() -> Iterator[ExportedQuestion]:
        found = 0
        for result in history.results(run.summary.id):
            found += 1
            yield exported_question(result, decisions)
        if found != len(run.rows):
            raise HistoryError(
                f"the run file of {run.summary.id} holds {found} of {len(run.rows)} results",
                "`rag-audit verify` says where it is damaged.",
            )

    return RunReport(run.summary, questions, history.head())


def exported_question(result: QuestionResult, decisions: Decisions) -> ExportedQuestion:
    """One result with its effective verdicts and adjusted scores."""
    claims = result.claim_judgment.claims if result.claim_judgment else ()
    by_id = {claim.id: claim for claim in claims}
    effective = effective_claims(result.question.id, result.repeat, claims, decisions)
    audited = audited_question(result)
    return ExportedQuestion(
        result,
        claims=tuple(
            ExportedClaim(by_id[found.id], (found.verdict or found.judge or by_id[found.id].verdict).value)
            for found in effective
            if not found.missed
        ),
        added=tuple(
            (found.text, found.verdict.value if found.verdict else "disputed") for found in effective if found.missed
        ),
        adjusted={name: adjusted_score(audited, name, decisions)[0] for name in _AUDITED if name in result.scores},
    )


def export_run(project: Path, run: ArchivedRun, form: str, path: Path) -> None:
    """Write one run in one form; a file that is already there is replaced once the new one is complete."""
    with written(path, project) as out:
        WRITERS[form](report_run(History(project), run), out)


@contextmanager
def written(path: Path, project: Path) -> Iterator[TextIO]:
    """Open a text file that takes its place only when everything is in it.

    UsageError where the folder is not there, the path is a folder, or it lies inside the project's history.
    """
    target = path.absolute()
    if target.is_dir():
        raise UsageError(f"{path} is a folder", "Name the file to write.")
    if not target.parent.is_dir():
        raise UsageError(f"no folder {path.parent}", f"mkdir -p {path.parent}")
    if target.resolve().is_relative_to((project / "history").resolve()):
        raise UsageError(f"{path} lies inside the history, which is never rewritten", "Name another place.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8", newline="", errors="backslashreplace") as out:
            yield out
        temporary.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "Name a place that can be written.") from error
    finally:
        temporary.unlink(missing_ok=True)
