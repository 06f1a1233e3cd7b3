"""Puts each shared question into exactly one list: edited, unscored, regressed, improved, changed or unchanged."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_audit.diff.causes import cause_of, text_cause
from rag_audit.diff.columns import Column, Values
from rag_audit.diff.facts import CLAIMS
from rag_audit.diff.pairing import Pair, Pairing
from rag_audit.model import Cause, Comparability, QuestionDelta, QuestionPartition


@dataclass(frozen=True, slots=True)
class _Moves:
    """How one question moved: the delta to show, and the gains that count for or against it."""

    delta: QuestionDelta
    gains: tuple[float, ...]

    @property
    def worst(self) -> float:
        return min(self.gains, default=0.0)


def partition(
    pairing: Pairing,
    columns: Sequence[Column],
    comparable: Mapping[str, Comparability],
    *,
    questions_changed: bool = False,
) -> QuestionPartition:
    """Sort the questions into lists, each worst first.

    A value counts as better or worse only where it can be called so: the metric is comparable (or unverified), its
    better direction is known, the reference excerpt is the same, and the change is not the judge's own (another judge,
    or the noise of the same one on an identical answer). Everything else that differs makes a question *changed*.
    """
    unscored: list[str] = []
    regressed: list[_Moves] = []
    improved: list[_Moves] = []
    changed: list[_Moves] = []
    unchanged = 0
    by_name = {column.facts.name: column for column in columns}
    moved_in = _moved_in(pairing.pairs, columns)
    for at, pair in enumerate(pairing.pairs):
        moved = moved_in.get(at, {})
        if not moved and _same_text(pair):
            unchanged += 1
            continue
        if any(None in moved[name] and _unscored(pair, name) for name in moved):
            unscored.append(pair.id)
            continue
        moves = _moves(at, pair, moved, by_name, comparable, questions_changed)
        if not moves.gains or moves.delta.mixed:
            changed.append(moves)
        else:
            (regressed if moves.worst < 0 else improved).append(moves)
    return QuestionPartition(
        edited=pairing.edited,
        unscored=tuple(unscored),
        regressed=_ordered(regressed, lambda moves: moves.worst),
        improved=_ordered(improved, lambda moves: -max(moves.gains)),
        changed=_ordered(changed, lambda moves: (not moves.delta.mixed, not moves.delta.metrics, moves.worst)),
        unchanged=unchanged,
        added=pairing.added,
        removed=pairing.removed,
    )


def _moved_in(pairs: Sequence[Pair], columns: Sequence[Column]) -> dict[int, dict[str, Values]]:
    """Place of a question to the metrics whose values are not the same in both runs."""
    found: defaultdict[int, dict[str, Values]] = defaultdict(dict)
    for column in columns if pairs else ():
        for at, values in column.moved().items():
            found[at][column.facts.name] = values
    return found


def still_failing(columns: Sequence[Column], pairs: Sequence[Pair]) -> dict[str, tuple[str, ...]]:
    """The questions that failed a yes-or-no metric in both runs; those that were routed anew come first."""
    found: dict[int, list[str]] = {}
    for column in columns:
        if column.facts.binary:
            for at in ((column.before == 0) & (column.after == 0)).nonzero()[0].tolist():
                found.setdefault(at, []).append(column.facts.name)
    ordered = sorted(found, key=lambda at: (pairs[at].route_same, at))
    return {pairs[at].id: tuple(found[at]) for at in ordered}


def unscored_metrics(pair: Pair, metrics: Iterable[str]) -> dict[str, str]:
    """The metrics that one side of a question lacks for a failed reason while the other has a value."""
    return {metric: reason for metric in metrics if (reason := _unscored(pair, metric)) is not None}


def _unscored(pair: Pair, metric: str) -> str | None:
    before, after = pair.before.scores.get(metric), pair.after.scores.get(metric)
    if (before is None) == (after is None):
        return None
    side = pair.before if before is None else pair.after
    return side.reason(metric) if side.failed(metric) else None


def _ordered(moves: list[_Moves], rank: Callable[[_Moves], object]) -> tuple[QuestionDelta, ...]:
    ranked = sorted(moves, key=lambda found: (rank(found), found.delta.id))
    return tuple(found.delta for found in ranked)


def _moves(
    at: int,
    pair: Pair,
    metrics: Mapping[str, Values],
    columns: Mapping[str, Column],
    comparable: Mapping[str, Comparability],
    questions_changed: bool,
) -> _Moves:
    """How a question that is not the same moved: in these metrics, or in its text alone."""
    causes: dict[str, Cause] = {}
    gains: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for name, (before, after) in metrics.items():
        column = columns[name]
        metric = column.facts
        same_excerpt = metric.roles != (CLAIMS,) or pair.excerpt_same
        cause = cause_of(metric, pair, column.judges[at].same, questions_changed=questions_changed)
        causes[name] = cause if same_excerpt or cause in (Cause.ROUTING, Cause.JUDGE) else Cause.UNKNOWN
        if before is None or after is None:
            continue
        gain = metric.gain(before, after)
        sizes[name] = gain or 0.0
        if gain and same_excerpt and comparable[name].ok is not False and cause is not Cause.JUDGE:
            gains[name] = gain
    if not metrics:
        return _Moves(QuestionDelta(pair.id, cause=text_cause(pair)), ())
    # The worst metric: the deepest loss that counts, else the largest gain, else whatever moved most.
    worst = _worst(gains) or _worst(sizes) or next(iter(metrics))
    mixed = any(gain < 0 for gain in gains.values()) and any(gain > 0 for gain in gains.values())
    losses = tuple(name for name, gain in gains.items() if gain < 0)
    return _Moves(QuestionDelta(pair.id, metrics, causes, causes[worst], mixed, losses), tuple(gains.values()))


def _worst(gains: Mapping[str, float]) -> str | None:
    if not gains:
        return None
    lost = {name: gain for name, gain in gains.items() if gain < 0}
    return min(lost, key=lambda name: lost[name]) if lost else max(gains, key=lambda name: gains[name])


def _same_text(pair: Pair) -> bool:
    return (
        pair.route_same
        and pair.chunks_same
        and pair.answer_same is not False
        and pair.before.verdicts == pair.after.verdicts
    )
