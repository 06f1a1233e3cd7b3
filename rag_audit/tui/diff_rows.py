"""A diff as rows of tables: metrics, questions, claim flips, context, documents, corpora."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_audit.export.diff_report import p_text
from rag_audit.metrics import METRICS
from rag_audit.model import UNKNOWN, ArchivedRun, MetricDelta, QuestionDelta, RunDiff
from rag_audit.tui import wording
from rag_audit.tui.blindness import Blind
from rag_audit.tui.content import Piece
from rag_audit.tui.theme import CHANGES, VERDICTS
from rag_audit.tui.widgets.record_table import Column

TABS = ("metrics", "questions", "flips", "context", "docs", "corpora")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff: its cells, the question it is about, and what is said below it."""

    key: str
    cells: tuple[Piece, ...]
    question_id: str | None = None
    detail: tuple[Piece, ...] = ()
    behind: frozenset[str] | None = None
    """The questions that a number is made of or was moved by; None: the row is no such number."""

    def haystack(self) -> str:
        """What a filter looks through."""
        return " ".join(text for text, _ in (*self.cells, *self.detail)).casefold()


def _column(
    at: int, label: str, width: int, priority: int = 0, *, flexible: bool = False, right: bool = False
) -> Column[DiffRow]:
    return Column(
        label, lambda row: row.cells[at], width, priority, flexible, right, sort=lambda row: row.cells[at][0].casefold()
    )


COLUMNS: Mapping[str, tuple[Column[DiffRow], ...]] = {
    "metrics": (
        _column(0, "metric", 14, flexible=True),
        _column(1, "verdict", 16),
        _column(2, "before", 7, right=True),
        _column(3, "after", 7, right=True),
        _column(4, "delta", 7, right=True),
        _column(5, "95 % interval", 14, 3, right=True),
        _column(6, "n", 5, 1, right=True),
        _column(7, "p adj", 7, 4, right=True),
    ),
    "questions": (
        _column(0, "", 11),
        _column(1, "question", 12, flexible=True),
        _column(2, "cause", 9, 1),
        _column(3, "before → after", 26, flexible=True),
    ),
    "flips": (
        _column(0, "question", 10),
        _column(1, "before", 14),
        _column(2, "after", 14),
        _column(3, "claim", 16, flexible=True),
    ),
    "context": (
        _column(0, "what", 16, flexible=True),
        _column(1, "before", 20, flexible=True),
        _column(2, "after", 20, flexible=True),
    ),
    "docs": (
        _column(0, "document", 16, flexible=True),
        _column(1, "", 10),
        _column(2, "hit@1", 13, right=True),
        _column(3, "kw coverage", 13, 1, right=True),
        _column(4, "questions", 9, 2, right=True),
    ),
    "corpora": (
        _column(0, "corpus", 12, flexible=True),
        _column(1, "metric", 12),
        _column(2, "before", 7, right=True),
        _column(3, "after", 7, right=True),
        _column(4, "delta", 7, right=True),
        _column(5, "n", 5, right=True),
    ),
}


def rows_of(tab: str, diff: RunDiff, before: ArchivedRun, after: ArchivedRun, hidden: Blind) -> list[DiffRow]:
    """The rows of one tab; nothing of what is `hidden`."""
    ranges = {**_ranges(before), **_ranges(after)}
    waiting = waiting_of(diff, before, after, hidden)
    makers = {
        "metrics": lambda: _metrics(diff, ranges, _moved(diff, waiting)),
        "questions": lambda: _questions(diff, waiting, unchanged_of(diff, before, after)),
        "flips": lambda: _flips(diff, waiting),
        "context": lambda: _context(diff),
        "docs": lambda: _documents(diff),
        "corpora": lambda: _corpora(diff, ranges, _moved(diff, waiting), after),
    }
    return list(makers[tab]())


def counts_of(diff: RunDiff, before: ArchivedRun, after: ArchivedRun, hidden: Blind) -> dict[str, int]:
    """How many rows each tab has."""
    questions = diff.questions
    waiting = waiting_of(diff, before, after, hidden)
    moved = [delta.id for delta in (*questions.regressed, *questions.improved, *questions.changed)]
    listed = [*moved, *questions.edited, *questions.unscored, *questions.added, *questions.removed]
    listed += unchanged_of(diff, before, after)
    return {
        "metrics": len(diff.metrics),
        "questions": len(waiting) + sum(question_id not in waiting for question_id in listed),
        "flips": len(waiting) + sum(flip.question_id not in waiting for flip in diff.claim_flips),
        "context": len(diff.context_changes),
        "docs": len(diff.modules),
        "corpora": sum(map(len, _known_corpora(diff).values())),
    }


def waiting_of(diff: RunDiff, before: ArchivedRun, after: ArchivedRun, hidden: Blind) -> frozenset[str]:
    """The questions of both runs of which not even whether they moved may be shown: each gets the same row."""
    if not hidden.questions:
        return frozenset()
    common = {row.id for row in before.rows} & {row.id for row in after.rows}
    return frozenset((common & hidden.questions) - set(diff.questions.edited))


def _waits(question_id: str, *cells: Piece) -> DiffRow:
    return DiffRow(question_id, cells, question_id, (("This question waits for your blind decisions.", "quiet"),))


def unchanged_of(diff: RunDiff, before: ArchivedRun, after: ArchivedRun) -> list[str]:
    """The questions of both runs in which nothing changed, in the order of the later run."""
    parts = diff.questions
    moved = {delta.id for part in (parts.regressed, parts.improved, parts.changed) for delta in part}
    told = moved.union(parts.edited, parts.unscored)
    common = {row.id for row in before.rows}
    return [name for name in dict.fromkeys(row.id for row in after.rows) if name in common and name not in told]


Moved = Mapping[str, frozenset[str]]
"""Metric to the questions whose value differs."""


def _moved(diff: RunDiff, waiting: frozenset[str]) -> Moved:
    """Those that wait are behind every number, whether they moved or not."""
    parts = diff.questions
    deltas = [*parts.regressed, *parts.improved, *parts.changed]
    return {
        name: waiting.union(one.id for one in deltas if name in one.metrics and len(set(one.metrics[name])) > 1)
        for name in diff.metrics
    }


def _known_corpora(diff: RunDiff) -> Mapping[str, Mapping[str, tuple[float | None, float | None, int]]]:
    """The figures of each corpus; none where no question names one."""
    return {} if set(diff.by_corpus) == {UNKNOWN} else diff.by_corpus


Range = tuple[float | None, float | None]


def _ranges(run: ArchivedRun) -> dict[str, Range]:
    return {name: metric.range for name, metric in run.summary.metrics.items()}


def _metrics(diff: RunDiff, ranges: Mapping[str, Range], moved: Moved) -> Iterator[DiffRow]:
    ordered = [name for name in METRICS if name in diff.metrics]
    labels = wording.headings(diff.metrics, own={})
    for name in dict.fromkeys([*ordered, *diff.metrics]):
        delta = diff.metrics[name]
        sign = CHANGES[delta.verdict.value]
        tone = "plain" if delta.verdict.value in {"improved", "regressed"} else "quiet"
        range_ = ranges.get(name, (0.0, 1.0))
        interval = "–" if delta.ci_low is None else f"{wording.signed(delta.ci_low)} {wording.signed(delta.ci_high)}"
        yield DiffRow(
            name,
            (
                (labels[name], tone),
                (sign.text, sign.tone),
                (wording.number(delta.before, range_), tone),
                (wording.number(delta.after, range_), tone),
                (wording.signed(delta.delta), tone),
                (interval, "quiet"),
                (str(delta.n_paired), "quiet"),
                (p_text(delta.p_adjusted), "quiet"),
            ),
            detail=(*_whole_name(name, labels[name]), *_metric_detail(name, delta, diff, range_)),
            behind=moved[name],
        )


def _whole_name(name: str, label: str) -> list[Piece]:
    return [] if name == label else [(f"{name}: ", "strong")]


def _metric_detail(name: str, delta: MetricDelta, diff: RunDiff, range_: Range) -> Iterator[Piece]:
    comparability = diff.comparable.get(name)
    if delta.reason:
        yield delta.reason + ". ", "plain"
    if comparability is not None and comparability.ok is None:
        yield "Unverified: " + "; ".join(comparability.reasons) + ". ", "warn"
    elif comparability is not None and comparability.ok is False:
        yield "Not comparable: " + "; ".join(comparability.reasons) + ". ", "warn"
    if delta.test and delta.test != "none":
        yield f"{delta.test.replace('_', ' ')} p {p_text(delta.p_value)}, intervals over {delta.unit}s. ", "quiet"
    if name in diff.own_means:
        mean_before, n_before, mean_after, n_after = diff.own_means[name]
        own = f"{wording.number(mean_before, range_)} of {n_before}, {wording.number(mean_after, range_)} of {n_after}"
        yield f"Each run on its own: {own}. ", "quiet"
    if name in diff.noise_floor:
        yield f"Repeats of a question spread by {diff.noise_floor[name]:.3f}. ", "quiet"


def _questions(diff: RunDiff, waiting: frozenset[str], unchanged: Sequence[str]) -> Iterator[DiffRow]:
    parts = diff.questions
    for kind, deltas in (("regressed", parts.regressed), ("improved", parts.improved), ("changed", parts.changed)):
        for delta in deltas:
            if delta.id not in waiting:
                yield _question(delta, "mixed" if delta.mixed else kind)
    for question_id in sorted(waiting):
        yield _waits(question_id, ("◌ blind", "quiet"), (question_id, "plain"), ("", "plain"), ("", "plain"))
    listed: tuple[tuple[str, Sequence[str], str], ...] = (
        ("edited", parts.edited, "the question itself was edited: not compared"),
        ("unscored", parts.unscored, "a score failed on one side: not compared"),
        ("added", parts.added, "only in the later run"),
        ("removed", parts.removed, "only in the earlier run"),
        ("unchanged", unchanged, "nothing differs"),
    )
    for kind, ids, why in listed:
        sign = CHANGES[kind]
        for question_id in (one for one in ids if one not in waiting):
            cells = ((sign.text, sign.tone), (question_id, "plain"), ("", "plain"), (why, "quiet"))
            yield DiffRow(question_id, cells, question_id)


def _question(delta: QuestionDelta, kind: str) -> DiffRow:
    sign = CHANGES[kind]
    moves = "  ".join(
        f"{wording.short_name(name)} {wording.score(before)}→{wording.score(after)}"
        for name, (before, after) in delta.metrics.items()
    )
    cause = delta.cause.value if delta.cause else "–"
    detail: list[Piece] = [
        (f"{name}: {wording.score(before)} → {wording.score(after)}, cause {delta.causes[name].value}.  ", "plain")
        for name, (before, after) in delta.metrics.items()
        if name in delta.causes
    ]
    cells = ((sign.text, sign.tone), (delta.id, "plain"), (cause, "info"), (moves or "text only", "plain"))
    return DiffRow(delta.id, cells, delta.id, tuple(detail))


def _flips(diff: RunDiff, waiting: frozenset[str]) -> Iterator[DiffRow]:
    for question_id in sorted(waiting):
        yield _waits(question_id, (question_id, "plain"), ("◌ blind", "quiet"), ("◌ blind", "quiet"), ("", "plain"))
    for at, flip in enumerate(diff.claim_flips):
        if flip.question_id in waiting:
            continue
        text = flip.after_claim or flip.before_claim or ""
        detail: list[Piece] = [("before  ", "quiet"), ((flip.before_claim or "– (new claim)") + "\n", "plain")]
        detail += [("after   ", "quiet"), (flip.after_claim or "– (claim is gone)", "plain")]
        cells = ((flip.question_id, "plain"), _verdict(flip.before), _verdict(flip.after), (text, "plain"))
        yield DiffRow(f"{at}", cells, flip.question_id, tuple(detail))


def _verdict(word: str | None) -> Piece:
    if word is None:
        return ("– none", "quiet")
    sign = VERDICTS[word]
    return (sign.text, sign.tone)


def _context(diff: RunDiff) -> Iterator[DiffRow]:
    for change in diff.context_changes:
        before, after = wording.plain_value(change.before), wording.plain_value(change.after)
        detail: tuple[Piece, ...] = ((f"{change.key}\n", "strong"), (f"before  {before}\nafter   {after}", "plain"))
        yield DiffRow(change.key, ((change.key, "plain"), (before, "plain"), (after, "plain")), detail=detail)


def _documents(diff: RunDiff) -> Iterator[DiffRow]:
    for module in diff.modules:
        detail = f"Questions: {', '.join(module.questions)}" if module.questions else ""
        cells = (
            (module.doc_id, "plain"),
            ("▼ collapse" if module.collapse else "", "bad"),
            (_pair(module.hit_at_1), "plain"),
            (_pair(module.keyword_coverage), "plain"),
            (str(len(module.questions)), "quiet"),
        )
        yield DiffRow(module.doc_id, cells, None, ((detail, "quiet"),), frozenset(module.questions))


def _pair(values: tuple[float | None, float | None]) -> str:
    return f"{wording.score(values[0])} → {wording.score(values[1])}"


def _corpora(diff: RunDiff, ranges: Mapping[str, Range], moved: Moved, later: ArchivedRun) -> Iterator[DiffRow]:
    for corpus, metrics in _known_corpora(diff).items():
        asked = {row.id for row in later.rows if row.corpus == corpus}
        for name, (before, after, n) in metrics.items():
            range_ = ranges.get(name, (0.0, 1.0))
            delta = None if before is None or after is None else after - before
            cells: tuple[Piece, ...] = (
                (corpus, "plain"),
                (wording.short_name(name), "plain"),
                (wording.number(before, range_), "plain"),
                (wording.number(after, range_), "plain"),
                (wording.signed(delta), "plain"),
                (str(n), "quiet"),
            )
            yield DiffRow(f"{corpus} {name}", cells, behind=moved.get(name, frozenset()) & asked)
