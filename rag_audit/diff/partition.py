"""Puts each shared question into exactly one list: edited, unscored, regressed, improved, changed or unchanged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_audit.diff.causes import cause_of, text_cause
from rag_audit.diff.facts import CLAIMS, MetricFacts, differs
from rag_audit.diff.pairing import Pair, Pairing
from rag_audit.model import Cause, Comparability, QuestionDelta, QuestionPartition

JudgeSame = Callable[[MetricFacts, Pair], bool | None]


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
    shared: Sequence[str],
    facts: Mapping[str, MetricFacts],
    comparable: Mapping[str, Comparability],
    judge_same: JudgeSame,
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
    for pair in pairing.pairs:
        if unscored_metrics(pair, shared):
            unscored.append(pair.id)
            continue
        moves = _moves(pair, shared, facts, comparable, judge_same, questions_changed)
        if moves is None:
            unchanged += 1
        elif not moves.gains or moves.delta.mixed:
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


def unscored_metrics(pair: Pair, metrics: Sequence[str]) -> dict[str, str]:
    """The metrics that one side of a question lacks for a failed reason while the other has a value."""
    found = {}
    for metric in metrics:
        before, after = pair.before.scores.get(metric), pair.after.scores.get(metric)
        if (before is None) != (after is None):
            side = pair.before if before is None else pair.after
            if side.failed(metric):
                found[metric] = side.reason(metric)
    return found


def _ordered(moves: list[_Moves], rank: Callable[[_Moves], object]) -> tuple[QuestionDelta, ...]:
    ranked = sorted(moves, key=lambda found: (rank(found), found.delta.id))
    return tuple(found.delta for found in ranked)


def _moves(
    pair: Pair,
    shared: Sequence[str],
    facts: Mapping[str, MetricFacts],
    comparable: Mapping[str, Comparability],
    judge_same: JudgeSame,
    questions_changed: bool,
) -> _Moves | None:
    """How a question moved, or None where nothing about it differs."""
    metrics: dict[str, tuple[float | None, float | None]] = {}
    causes: dict[str, Cause] = {}
    gains: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for name in shared:
        before, after = pair.before.scores.get(name), pair.after.scores.get(name)
        if before is None and after is None:
            continue
        if before is not None and after is not None and not differs(before, after):
            continue
        metric = facts[name]
        metrics[name] = (before, after)
        same_excerpt = pair.excerpt_same or metric.roles != (CLAIMS,)
        cause = cause_of(metric, pair, judge_same(metric, pair), questions_changed=questions_changed)
        causes[name] = cause if same_excerpt or cause in (Cause.ROUTING, Cause.JUDGE) else Cause.UNKNOWN
        if before is None or after is None:
            continue
        gain = metric.gain(before, after)
        sizes[name] = gain or 0.0
        if gain and same_excerpt and comparable[name].ok is not False and cause is not Cause.JUDGE:
            gains[name] = gain
    if not metrics:
        return None if _same_text(pair) else _Moves(QuestionDelta(pair.id, cause=text_cause(pair)), ())
    # The worst metric: the deepest loss that counts, else the largest gain, else whatever moved most.
    worst = _worst(gains) or _worst(sizes) or next(iter(metrics))
    mixed = any(gain < 0 for gain in gains.values()) and any(gain > 0 for gain in gains.values())
    return _Moves(QuestionDelta(pair.id, metrics, causes, causes[worst], mixed), tuple(gains.values()))


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
