"""Importing files and folders into a project's history: each system of a file is one archived run, or nothing is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_audit.config import redact_of_environment
from rag_audit.errors import InputError
from rag_audit.history import History, check_label, means_a_step, new_run_id
from rag_audit.importers.assemble import RunPlan, plan_run, results_of
from rag_audit.importers.mapping import FieldMap
from rag_audit.importers.record import ForeignRun, LeftOut
from rag_audit.importers.registry import Confirm, is_recognised, read_file
from rag_audit.importers.values import clean, utc_time
from rag_audit.model import UNKNOWN, Origin, RunContext, RunStatus, RunSummary
from rag_audit.summary import SummaryBuilder

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".eval", ".parquet"})
_NEVER_ENTERED = frozenset({".git", ".rag-audit", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the person says about the files."""

    format: str = "auto"
    mapping: FieldMap | None = None
    label: str | None = None
    judge: str | None = None
    """The judge's model, where the file does not name it."""
    generator: str | None = None
    """The system's model, where the file does not name it."""
    confirm: Confirm | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """One run that is now in the history, and how the file's entries add up to it."""

    path: str
    format: str
    summary: RunSummary
    system: str | None
    rows: int
    questions: int
    """Distinct question ids."""
    has_claims: bool
    file_rows: int
    left_out: tuple[LeftOut, ...]
    left_out_rows: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """One path of which nothing was imported."""

    path: str
    why: str
    hint: str


def import_paths(project: Path, paths: Sequence[Path], options: ImportOptions) -> Iterator[Imported | Refused]:
    """Import files and folders one after the other; every path gives at least one outcome."""
    check_label(options.label)
    history = History(project, redact=redact_of_environment())
    for path in paths:
        if path.is_dir():
            yield from _import_folder(history, path, options, project / "history")
        else:
            yield from _import_file(history, path, options)


def _import_folder(history: History, folder: Path, options: ImportOptions, own: Path) -> Iterator[Imported | Refused]:
    """Everything below a folder that is of a known tool; other files are named only if there is nothing else.

    Aggregates that lie beside the rows they were made of are part of that run, not a failure.
    """
    imported: set[Path] = set()
    known: list[Refused] = []
    others: list[Refused] = []
    for path in files_below(folder, without=own):
        for outcome in _import_file(history, path, options):
            if isinstance(outcome, Imported):
                imported.add(path.parent)
                yield outcome
            else:
                (known if options.mapping is not None or is_recognised(path) else others).append(outcome)
    known = [
        refusal
        for refusal in known
        if not (refusal.why.startswith("aggregates only") and Path(refusal.path).parent in imported)
    ]
    yield from known or ([] if imported else others)
    if not (imported or known or others):
        where = clean(str(folder))
        yield Refused(where, "no results in this folder", "Results are CSV, JSON, JSON lines, .eval or Parquet files.")


def files_below(folder: Path, without: Path | None = None) -> Iterator[Path]:
    """Files that may be results, dot-folders included, in name order; each real folder is entered once."""
    entered: set[Path] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        real = current.resolve()
        if real in entered or (without is not None and real == without.resolve()):
            continue
        entered.add(real)
        try:
            members = sorted(current.iterdir())
        except OSError:
            continue
        yield from (path for path in members if path.suffix.lower() in _SUFFIXES and path.is_file())
        waiting.extend(path for path in reversed(members) if path.is_dir() and path.name not in _NEVER_ENTERED)


def _import_file(history: History, path: Path, options: ImportOptions) -> Iterator[Imported | Refused]:
    where = clean(str(path))
    try:
        found = read_file(path, options.format, options.mapping, options.confirm)
        # What the person adds is part of a run's identity: a judge that is named later must not be lost.
        runs = [replace(run, context=_context(run.context, options)) for run in found]
        plans = [plan_run(run) for run in runs]
        runs = [_lacking(run, plan) for run, plan in zip(runs, plans, strict=True)]
        for run, plan in zip(runs, plans, strict=True):
            yield _archive(history, path, run, plan, options, alone=len(runs) == 1)
    except InputError as error:
        line = (error.where or "").rpartition(":")[2]
        yield Refused(where, f"line {line}: {error.message}" if line.isdecimal() else error.message, error.hint)


def _lacking(run: ForeignRun, plan: RunPlan) -> ForeignRun:
    """The run, unfinished where the file held questions that cannot be read."""
    if run.unfinished or not plan.damaged:
        return run
    return replace(run, unfinished=f"{plan.damaged} of {plan.file_rows} entries cannot be read: the run lacks them")


def _archive(
    history: History, path: Path, run: ForeignRun, plan: RunPlan, options: ImportOptions, *, alone: bool
) -> Imported:
    warnings = [*run.warnings, *([run.unfinished] if run.unfinished else []), *plan.warnings]
    same = next((summary for summary in history.summaries() if summary.content_hash == plan.content), None)
    if same is not None:
        called = f"{same.id} “{same.label}”" if same.label else same.id
        warnings.insert(0, f"the same content was imported before, as run {called}; nothing new was written")
    summary = same or _write(
        history, _header(path, run, plan, options, [*warnings, *plan.notes], alone=alone), run, plan
    )
    return Imported(
        path=clean(str(path)),
        format=run.format,
        summary=summary,
        system=run.system,
        rows=len(plan.planned),
        questions=len({question_id for question_id, _ in plan.planned}),
        has_claims=plan.shape.claims,
        file_rows=plan.file_rows,
        left_out=tuple(plan.left_out),
        left_out_rows=plan.left_out_rows,
        warnings=tuple(warnings),
    )


def _header(
    path: Path, run: ForeignRun, plan: RunPlan, options: ImportOptions, notes: Iterable[str], *, alone: bool
) -> RunSummary:
    system = f" [{run.system}]" if run.system else ""
    label = options.label or run.label or clean(path.stem)
    if means_a_step(label):
        label = f"{label} (imported)"
    return RunSummary(
        id=new_run_id(datetime.now(UTC)),
        label=label if alone else f"{label}{system}",
        status=RunStatus.RUNNING,
        origin=Origin.IMPORTED,
        started_at=run.started_at or utc_time(path.stat().st_mtime) or "1970-01-01T00:00:00Z",
        context=run.context,
        questions=len(plan.planned),
        source=f"{clean(str(path))}{system}",
        content_hash=plan.content,
        notes=tuple(notes),
    )


def _context(context: RunContext, options: ImportOptions) -> RunContext:
    """The file's context, with what the person adds where the file is silent."""
    if options.generator and context.generator == UNKNOWN:
        context = replace(context, generator=options.generator)
    if options.judge:
        told = dict.fromkeys(("claims", "scores"), options.judge)
        known = {role: name for role, name in context.judges.items() if name != UNKNOWN}
        context = replace(context, judges={**told, **known})
    return context


def _write(history: History, header: RunSummary, run: ForeignRun, plan: RunPlan) -> RunSummary:
    """Write the run; a failure on the way leaves nothing behind."""
    builder = SummaryBuilder(plan.shape.kinds)
    writer = history.start(header, plan.planned)
    try:
        for result in results_of(run, plan):
            builder.add(writer.append(result, sync=False))
    except BaseException:
        writer.discard()
        raise
    summary = builder.build(header, duration_s=run.duration_s, status=RunStatus.INCOMPLETE if run.unfinished else None)
    writer.close(summary, builder.rows)
    return summary


def import_json(outcomes: Iterable[Imported | Refused]) -> dict[str, Any]:
    """The JSON of an import: what was imported, how it adds up, and what was refused."""
    imported: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            refused.append({"path": outcome.path, "why": outcome.why, "hint": outcome.hint})
            continue
        imported.append(
            {
                "path": outcome.path,
                "format": outcome.format,
                "run_id": outcome.summary.id,
                "system": outcome.system,
                "rows": outcome.rows,
                "questions": outcome.questions,
                "claims": dict(outcome.summary.claims) if outcome.has_claims else None,
                "file_rows": outcome.file_rows,
                "left_out": [{"line": left.line, "reason": left.reason} for left in outcome.left_out],
                "left_out_rows": outcome.left_out_rows,
                "warnings": list(outcome.warnings),
            }
        )
    return {"imported": imported, "refused": refused}
