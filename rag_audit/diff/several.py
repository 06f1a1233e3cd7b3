"""Three or more runs question by question, with the run at which each question broke."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rag_audit.diff.compare import compare_runs
from rag_audit.diff.facts import differs
from rag_audit.diff.pairing import QuestionSide, question_sides
from rag_audit.model import ArchivedRun, Cause, RunDiff


@dataclass(frozen=True, slots=True)
class QuestionHistory:
    """One question's values of one metric in every run."""

    id: str
    values: tuple[float | None, ...]
    """One a run, None where there is none."""
    broke_at: str | None = None
    """The run that made it worse without any later run making up for it."""
    cause: Cause | None = None
    edited_at: tuple[str, ...] = ()
    """Runs before which the question was edited: the values on either side are of different questions."""


@dataclass(frozen=True, slots=True)
class SeveralRuns:
    """Runs in the order they were named, and each metric's questions: broken ones first, in the order they broke."""

    runs: tuple[str, ...]
    means: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """Metric to each run's own mean."""
    questions: Mapping[str, tuple[QuestionHistory, ...]] = field(default_factory=dict)


def follow_runs(
    runs: Sequence[ArchivedRun], *, metrics: Sequence[str], tolerance: float, only: Sequence[str] = ()
) -> SeveralRuns:
    """Follow every question through the runs.

    A question *breaks* at a run where its metric got worse than in the run before, in the sense of a diff of these two
    (comparable, not the judge's doing, not edited), and is worse than it was before in every run since that scores it.
    """
    steps = [compare_runs(*pair, metrics=metrics, tolerance=tolerance, only=only) for pair in pairwise(runs)]
    sides = [question_sides(run.rows) for run in runs]
    ids = tuple(run.summary.id for run in runs)
    measured = list(dict.fromkeys(name for step in steps for name in step.metrics))
    listed = [name for name in measured if name in metrics or name in only] or measured
    return SeveralRuns(
        ids,
        {name: tuple(_mean(run, name) for run in runs) for name in listed},
        {name: _questions(name, ids, sides, steps) for name in listed},
    )


def _mean(run: ArchivedRun, metric: str) -> float | None:
    summary = run.summary.metrics.get(metric)
    return summary.mean if summary else None


Losses = Mapping[str, Cause | None]


def _questions(
    metric: str, runs: Sequence[str], sides: Sequence[Mapping[str, QuestionSide]], steps: Sequence[RunDiff]
) -> tuple[QuestionHistory, ...]:
    losses = [_losses(metric, step) for step in steps]
    names = sorted({name for found in sides for name in found})
    histories = [_history(metric, name, runs, sides, losses) for name in names]
    place = {run: at for at, run in enumerate(runs)}
    return tuple(
        sorted(
            (history for history in histories if any(value is not None for value in history.values)),
            key=lambda history: place[history.broke_at] if history.broke_at else len(runs),
        )
    )


def _losses(metric: str, step: RunDiff) -> Losses:
    """The questions that one step made worse in this metric, with the cause."""
    questions = step.questions
    return {
        delta.id: delta.causes.get(metric)
        for delta in (*questions.regressed, *questions.changed)
        if metric in delta.losses
    }


def _history(
    metric: str, name: str, runs: Sequence[str], sides: Sequence[Mapping[str, QuestionSide]], losses: Sequence[Losses]
) -> QuestionHistory:
    found = [side.get(name) for side in sides]
    values = tuple(side.scores.get(metric) if side else None for side in found)
    edited = tuple(
        runs[at + 1]
        for at, (before, after) in enumerate(pairwise(found))
        if before and after and before.question != after.question
    )
    last_edit = max((runs.index(run) for run in edited), default=0)
    for at, lost in enumerate(losses):
        if name in lost and at >= last_edit and _stays_lost(values, at):
            return QuestionHistory(name, values, runs[at + 1], lost[name], edited)
    return QuestionHistory(name, values, edited_at=edited)


def _stays_lost(values: Sequence[float | None], at: int) -> bool:
    """Whether every value after the one at this place stays on the side that the next one fell to."""
    before, fallen = values[at], values[at + 1]
    if before is None or fallen is None:
        return False
    worse = fallen < before
    later = [value for value in values[at + 1 :] if value is not None]
    return all(differs(before, value) and (value < before) is worse for value in later)
