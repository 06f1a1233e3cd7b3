"""What a report of a diff is made of, and the words that every form of it uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_audit.diff.evidence import ChunkMove, chunk_moves, sunk_passage
from rag_audit.diff.facts import differs
from rag_audit.metrics import METRICS
from rag_audit.model import (
    ContextChange,
    MetricDelta,
    MetricSummary,
    MetricVerdict,
    QuestionDelta,
    QuestionResult,
    RunDiff,
    RunStatus,
    RunSummary,
)

_GAP = 0.05
"""Difference of two corpora, as a share of a metric's range, from which the weaker one is named."""
GREY = (MetricVerdict.UNCHANGED, MetricVerdict.INCONCLUSIVE, MetricVerdict.NOT_COMPARABLE)


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """One question as both runs saw it."""

    before: QuestionResult
    after: QuestionResult

    @property
    def moves(self) -> tuple[ChunkMove, ...]:
        """Where each retrieved passage went."""
        return chunk_moves(self.before.retrieved, self.after.retrieved)


@dataclass(frozen=True, slots=True)
class DiffReport:
    """A diff with the two runs' summaries, the evidence of its questions, and the head of the history."""

    diff: RunDiff
    before: RunSummary
    after: RunSummary
    head: str | None = None
    evidence: Mapping[str, QuestionPair] = field(default_factory=dict)
    unscored_why: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Unscored question to the metrics it lacks on one side, with the reason."""


def run_name(run: RunSummary) -> str:
    """A run for a person: its label and id."""
    return f"{run.label} ({run.id})" if run.label and run.label != run.id else run.id


def figure(value: float | None, digits: int = 3) -> str:
    """A mean for a person; – where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def value_text(value: float | None) -> str:
    """One question's value, as short as it is exact enough; – where there is none."""
    return "–" if value is None else f"{value:.4g}"


def change_text(delta: MetricDelta) -> str:
    """The difference with its sign."""
    return "–" if delta.delta is None else f"{delta.delta + 0.0:+.3f}"


def interval_text(delta: MetricDelta) -> str:
    """The 95 % interval of the difference; – where there is none."""
    if delta.ci_low is None or delta.ci_high is None:
        return "–"
    return f"{delta.ci_low:+.3f} to {delta.ci_high:+.3f}"


def p_text(p: float | None) -> str:
    """A p-value; – where nothing was tested."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict_text(name: str, diff: RunDiff) -> str:
    """A metric's verdict in words, marked where the contexts are not known to be comparable."""
    verdict = diff.metrics[name].verdict.value.replace("_", " ")
    return f"{verdict} (unverified)" if diff.comparable[name].ok is None else verdict


def reason_text(name: str, diff: RunDiff) -> str:
    """Why a metric's verdict is what it is, with what stands against comparing it."""
    reasons = [diff.metrics[name].reason]
    if diff.comparable[name].ok is not False:
        reasons += diff.comparable[name].reasons
    return "; ".join(reason for reason in reasons if reason)


def reasons_by_metrics(diff: RunDiff) -> dict[str, str]:
    """Metrics that share a reason, joined, to that reason: said once."""
    names: dict[str, list[str]] = {}
    for name in diff.metrics:
        names.setdefault(reason_text(name, diff), []).append(name)
    return {", ".join(found): reason for reason, found in names.items() if reason}


def headline(report: DiffReport) -> list[str]:
    """What a person should know first: one sentence each."""
    diff = report.diff
    questions = diff.questions
    sentences = [
        f"Run {run.id} is {run.status.value}: questions that it has not finished are listed as {word}."
        for run, word in ((report.before, "added"), (report.after, "removed"))
        if run.status in (RunStatus.RUNNING, RunStatus.INTERRUPTED)
    ]
    for verdict in (MetricVerdict.REGRESSED, MetricVerdict.IMPROVED):
        names = [verdict_name(name, diff) for name, delta in diff.metrics.items() if delta.verdict is verdict]
        if names:
            sentences.append(f"{verdict.value.capitalize()}: {', '.join(names)}.")
    others = [name for name, delta in diff.metrics.items() if delta.verdict is MetricVerdict.NOT_COMPARABLE]
    if others:
        sentences.append(f"Not comparable: {', '.join(others)}.")
    if any("judge" in reason for name in others for reason in diff.comparable[name].reasons):
        sentences.append(
            f"The judge differs: `rag-audit rejudge {diff.before}` judges the earlier answers again, by the judge "
            "that is configured now."
        )
    compared = [delta for delta in diff.metrics.values() if delta.verdict is not MetricVerdict.NOT_COMPARABLE]
    if not any(delta.n_paired for delta in diff.metrics.values()):
        sentences.append("No score can be compared.")
    elif compared and all(delta.verdict in GREY for delta in compared):
        sentences.append("No metric's total moved beyond what chance and the tolerance allow.")
    counts = [
        f"{count} {word}"
        for word, count in (
            ("regressed", len(questions.regressed)),
            ("improved", len(questions.improved)),
            ("changed otherwise", len(questions.changed)),
            ("unchanged", questions.unchanged),
            ("unscored on one side", len(questions.unscored)),
            ("edited", len(questions.edited)),
            ("added", len(questions.added)),
            ("removed", len(questions.removed)),
        )
        if count or word in ("regressed", "improved", "unchanged")
    ]
    sentences.append(f"Questions: {', '.join(counts)}.")
    if not shared_count(diff):
        sentences.append("The two runs have no unedited question in common: only their own figures can be read.")
    return sentences


def verdict_name(name: str, diff: RunDiff) -> str:
    """A metric's name, marked where it is unverified."""
    return f"{name} (unverified)" if diff.comparable[name].ok is None else name


def shared_count(diff: RunDiff) -> int:
    """Unedited questions that both runs have."""
    questions = diff.questions
    listed = (questions.unscored, questions.regressed, questions.improved, questions.changed)
    return questions.unchanged + sum(len(found) for found in listed)


def own_mean_note(diff: RunDiff) -> str | None:
    """Why the runs' own means are not the means of the table; None where they are the same."""
    differing = [
        f"{name} {figure(before)} (n {n_before}) → {figure(after)} (n {n_after})"
        for name, (before, n_before, after, n_after) in diff.own_means.items()
        if _own_differs(diff.metrics[name], before, after)
    ]
    if not differing:
        return None
    questions = diff.questions
    why = [
        f"{len(found)} {word}"
        for word, found in (
            ("edited", questions.edited),
            ("added", questions.added),
            ("removed", questions.removed),
            ("unscored on one side", questions.unscored),
        )
        if found
    ]
    because = f" ({', '.join(why)})" if why else ""
    return (
        "Each run's own mean, over everything it scored itself, differs from the table, which counts each question "
        f"once and only where both runs scored it{because}: {'; '.join(differing)}."
    )


def _own_differs(delta: MetricDelta, before: float | None, after: float | None) -> bool:
    return any(
        own is not None and (paired is None or differs(own, paired))
        for own, paired in ((before, delta.before), (after, delta.after))
    )


def question_text(delta: QuestionDelta) -> str:
    """How one question's metrics moved."""
    moved = [f"{name} {value_text(before)} → {value_text(after)}" for name, (before, after) in delta.metrics.items()]
    return ", ".join(moved)


def cause_text(delta: QuestionDelta) -> str:
    """The cause of a question's change; every metric's own where they differ."""
    distinct = set(delta.causes.values())
    if len(distinct) > 1:
        return ", ".join(f"{name}: {cause.value}" for name, cause in delta.causes.items())
    cause = delta.cause.value if delta.cause else "unknown"
    return f"{cause}, mixed" if delta.mixed else cause


def evidence_lines(pair: QuestionPair | None) -> list[str]:
    """What moved underneath one question: its route, the passage that sank or rose, chunks gained and lost."""
    if pair is None:
        return []
    lines = []
    before, after = pair.before.route.corpora, pair.after.route.corpora
    if before != after:
        lines.append(f"route: {', '.join(before) or 'none'} → {', '.join(after) or 'none'}")
    sunk = sunk_passage(pair.moves)
    if sunk is not None and sunk.before is not None:
        lines.append(f"sank: rank {sunk.before.rank} → {rank_text(sunk.ranks[1])}  {passage_text(sunk)}")
    lost = sum(move.after is None for move in pair.moves)
    gained = sum(move.before is None for move in pair.moves)
    if lost or gained:
        lines.append(f"retrieved: {lost} lost, {gained} new, {len(pair.moves) - lost - gained} kept")
    return lines


def rank_text(rank: int | None) -> str:
    """A rank for a person."""
    return "not retrieved" if rank is None else str(rank)


def passage_text(move: ChunkMove, length: int = 70) -> str:
    """A passage by its document and first words."""
    words = " ".join(move.chunk.chunk.text.split())
    return f"{move.chunk.chunk.doc_id} “{words[:length]}{'…' if len(words) > length else ''}”"


def change_value(value: Any) -> str:
    """One side of a context change; long hashes are cut."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def change_line(change: ContextChange) -> str:
    """A context change on one line."""
    return f"{change.key}: {change_value(change.before)} → {change_value(change.after)}"


@dataclass(frozen=True, slots=True)
class CorpusFigure:
    """One metric of one corpus in both runs, each over what it scored itself."""

    corpus: str
    metric: str
    before: MetricSummary | None
    after: MetricSummary | None


def corpus_figures(report: DiffReport) -> list[CorpusFigure]:
    """The runs' own figures by corpus; empty where neither run has a value in more than one corpus between them."""
    earlier, later = report.before.by_corpus, report.after.by_corpus
    corpora = sorted({*earlier, *later})
    if len(corpora) < 2:
        return []
    found = [
        CorpusFigure(corpus, name, earlier.get(corpus, {}).get(name), later.get(corpus, {}).get(name))
        for name in report.diff.metrics
        for corpus in corpora
    ]
    return [one for one in found if any(side and side.n for side in (one.before, one.after))]


def weaker_corpora(figures: Sequence[CorpusFigure]) -> list[str]:
    """For each own metric the corpus with the lowest figure beside the highest, one line each.

    Gaps below a twentieth of the metric's range are left to the table.
    """
    lines = []
    for name in dict.fromkeys(one.metric for one in figures if one.metric in METRICS):
        means = {one.corpus: side for one in figures if one.metric == name and (side := _latest(one)) is not None}
        if len(means) < 2:
            continue
        low = min(means, key=lambda corpus: means[corpus].mean or 0.0)
        high = max(means, key=lambda corpus: means[corpus].mean or 0.0)
        gap = ((means[high].mean or 0.0) - (means[low].mean or 0.0)) / (METRICS[name].range[1] or 1.0)
        if gap >= _GAP:
            lines.append(
                f"{name}: {low} is weaker, {figure(means[low].mean)} (n {means[low].n}) "
                f"against {figure(means[high].mean)} (n {means[high].n}) for {high}"
            )
    return lines


def _latest(one: CorpusFigure) -> MetricSummary | None:
    return next((side for side in (one.after, one.before) if side is not None and side.mean is not None), None)
