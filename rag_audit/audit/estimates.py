"""Corrected values: what the drawn questions' first blind decisions say about the whole run.

Each question gets a human value, or two bounds where "cannot judge" or two people who differ leave it open. Nothing
is dropped: open questions are counted once as bad and once as good as they could be, and the result spans both.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_audit.audit.effective import CLAIM_METRICS, AuditedQuestion, Decisions
from rag_audit.audit.standing import SKIP, ClaimKey, added_key, first_blind, subject
from rag_audit.metrics import mean
from rag_audit.model import AuditSample, Decision, Interval, Verdict
from rag_audit.statistics.agreement import wilson
from rag_audit.statistics.corrected import (
    NO_WIDTH,
    SplitCounts,
    classical_mean,
    corrected_mean,
    prediction_powered,
    questions_needed,
    split_guarded,
)

Bounds = tuple[float, float]
HALF_WIDTH = 0.10


@dataclass(frozen=True, slots=True)
class Correction:
    """One metric corrected from the random sample."""

    interval: Interval
    """Estimate None where open questions leave only `bounds`."""
    wilson: tuple[float | None, float | None] = (None, None)
    """The assumption-free line beside it: Wilson on the checked questions; for yes/no values only."""
    bounds: Bounds | None = None
    """Lowest and highest estimate where questions are open."""
    n_open: int = 0
    judged: int = 0
    """Questions of the run with a judge's value, repeats counted once."""
    without_judge_value: int = 0
    """Checked questions left out because the judge has no value for them."""
    needed: int | None = None
    """Checked questions for a half-width of 0.10."""
    options: Mapping[str, Interval] = field(default_factory=dict)
    """Named intervals of the literature, for comparison; they gate nothing."""


class BlindDecisions:
    """The first blind decisions of the draw, by claim and by score."""

    def __init__(self, sample: AuditSample | None, decisions: Decisions) -> None:
        drawn = sample.questions if sample else ()
        self.drawn = frozenset(drawn)
        """Ids of the drawn questions."""
        self.listed: list[Decision] = first_blind(decisions.standing, drawn)
        """All of them, by time."""
        self._by_subject: defaultdict[ClaimKey, list[Decision]] = defaultdict(list)
        for decision in self.listed:
            self._by_subject[subject(decision)].append(decision)
        # A dispute that was settled without the judge's verdict in view is settled for the estimate as well.
        for decision in decisions.standing.in_force:
            if decision.kind == "adjudication" and decision.blind and decision.question_id in self.drawn:
                self._by_subject[subject(decision)] = [decision]

    def on(self, about: ClaimKey) -> Sequence[Decision]:
        """What was decided blind about one claim or score."""
        return self._by_subject.get(about, ())


def human_bounds(question: AuditedQuestion, metric: str, blind: BlindDecisions, decisions: Decisions) -> Bounds | None:
    """Lowest and highest human value of one answer; None while something of it is undecided or it has no value."""
    if metric not in CLAIM_METRICS:
        return _score_bounds(blind.on((question.id, question.repeat, f"score {metric}")))
    keys = [(question.id, question.repeat, claim.id) for claim in question.claims]
    said = [{decision.verdict for decision in blind.on(key)} for key in keys]
    for added in decisions.added(question.id, question.repeat).values():
        key = added_key(question.id, question.repeat, added.claim_hash)
        said.append({vote.verdict for vote in decisions.on_claim(key)})
    if not said or not all(said):
        return None
    score = CLAIM_METRICS[metric]
    worst, best = ([pick(_possible(verdicts)) for verdicts in said] for pick in (_worst, _best))
    low, high = score(worst)[0], score(best)[0]
    return None if low is None or high is None else (low, high)


def _score_bounds(scored: Sequence[Decision]) -> Bounds | None:
    """The mean of the reviewers' scores; nothing where the only ones passed."""
    values = [decision.value for decision in scored if decision.value is not None]
    average = mean(values)
    return None if average is None else (average, average)


def _possible(said: set[str | None]) -> set[Verdict]:
    """What a claim may be: what was said of it, or anything where nobody could judge it."""
    verdicts = {Verdict(verdict) for verdict in said if verdict is not None and verdict != SKIP}
    return verdicts or {Verdict.VERIFIED, Verdict.CONTRADICTED, Verdict.ABSENT}


def _worst(possible: set[Verdict]) -> Verdict:
    return next(v for v in (Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.VERIFIED) if v in possible)


def _best(possible: set[Verdict]) -> Verdict:
    return next(v for v in (Verdict.VERIFIED, Verdict.ABSENT, Verdict.CONTRADICTED) if v in possible)


@dataclass(frozen=True, slots=True)
class QuestionValues:
    """One question's judge value and human bounds, repeats averaged."""

    judge: float | None
    human: Bounds | None
    binary: bool
    """Whether the judge's values and the bounds of all repeats are 0 or 1 and say the same."""


def question_values(
    questions: Iterable[AuditedQuestion], metric: str, blind: BlindDecisions, decisions: Decisions
) -> dict[str, QuestionValues]:
    """Question id to its values; a question with repeats counts once, by their mean."""
    repeats: defaultdict[str, list[AuditedQuestion]] = defaultdict(list)
    for question in questions:
        repeats[question.id].append(question)
    found: dict[str, QuestionValues] = {}
    for name, results in repeats.items():
        scored = [(result, value) for result in results if (value := result.scores.get(metric)) is not None]
        bounds = [human_bounds(result, metric, blind, decisions) for result, _ in scored] if name in blind.drawn else []
        complete = [pair for pair in bounds if pair is not None]
        human: Bounds | None = None
        if complete and len(complete) == len(bounds):
            human = _mean([low for low, _ in complete]), _mean([high for _, high in complete])
        judge = mean(value for _, value in scored)
        values = {judge, *(human or ())} - {None}
        found[name] = QuestionValues(judge, human, values <= {0.0, 1.0})
    return found


def _mean(values: Sequence[float]) -> float:
    average = mean(values)
    assert average is not None
    return average


def correct(
    values: Mapping[str, QuestionValues], bounds: tuple[float | None, float | None], *, yes_no: bool, seed: int = 0
) -> Correction:
    """The corrected value of one metric from every question's values; `bounds` is the metric's range.

    Yes/no metrics whose values are all 0 or 1: the guarded split, with Wilson beside it. Everything else:
    prediction-powered with lam = 1. Open questions: the hull over both extremes.
    """
    judged = [value for _, value in sorted(values.items()) if value.judge is not None]
    checked = [value for value in judged if value.human is not None]
    n_open = sum(value.human[0] != value.human[1] for value in checked if value.human)
    estimate = _split if yes_no and all(value.binary for value in judged) else _mean_of(bounds)
    low, high = (estimate(judged, side, seed) for side in (0, 1))
    merged = replace(
        low,
        judged=len(judged),
        without_judge_value=sum(value.judge is None and value.human is not None for value in values.values()),
        n_open=n_open,
        options=_options(judged, bounds) if n_open == 0 else {},
    )
    if n_open == 0:
        return merged
    lowest = _outer(min, low.interval.estimate, high.interval.estimate)
    highest = _outer(max, low.interval.estimate, high.interval.estimate)
    note = f"open questions: {n_open}; these are bounds, not an estimate"
    return replace(
        merged,
        bounds=(lowest, highest) if lowest is not None and highest is not None else None,
        interval=replace(
            low.interval,
            estimate=None,
            low=_outer(min, low.interval.low, high.interval.low),
            high=_outer(max, low.interval.high, high.interval.high),
            note="; ".join(filter(None, (note, low.interval.note or high.interval.note))),
        ),
        wilson=(_outer(min, low.wilson[0], high.wilson[0]), _outer(max, low.wilson[1], high.wilson[1])),
        needed=None,
    )


def _outer(pick: Callable[[float, float], float], a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else pick(a, b)


def _split(judged: Sequence[QuestionValues], side: int, seed: int) -> Correction:
    cells: defaultdict[tuple[bool, bool], int] = defaultdict(int)
    for value in judged:
        if value.human is not None:
            cells[value.judge == 1, value.human[side] == 1] += 1
    counts = SplitCounts(
        judged_good=sum(value.judge == 1 for value in judged),
        judged=len(judged),
        tp=cells[True, True],
        fp=cells[True, False],
        fn=cells[False, True],
        tn=cells[False, False],
    )
    return Correction(
        split_guarded(counts, seed=seed),
        wilson=wilson(counts.human_good, counts.n) if counts.n >= 2 else (None, None),
        needed=questions_needed(counts, HALF_WIDTH),
    )


def _mean_of(bounds: tuple[float | None, float | None]) -> Callable[[Sequence[QuestionValues], int, int], Correction]:
    def estimate(judged: Sequence[QuestionValues], side: int, seed: int) -> Correction:
        human = [value.human[side] if value.human else None for value in judged]
        return Correction(corrected_mean([value.judge for value in judged], human, bounds))

    return estimate


def _options(judged: Sequence[QuestionValues], bounds: tuple[float | None, float | None]) -> dict[str, Interval]:
    """The intervals of the literature, each with the warnings it needs."""
    judge = [value.judge for value in judged]
    human = [value.human[0] if value.human else None for value in judged]
    labelled = [value for value in human if value is not None]
    if not labelled:
        return {}
    differing = sum(h is not None and h != j for h, j in zip(human, judge, strict=True))
    rarer = min(labelled.count(max(labelled)), len(labelled) - labelled.count(max(labelled)))
    small = len(labelled) < 100 or min(differing, rarer) < 10
    found = {"classical": classical_mean(labelled)}
    for name, tuned in (("ppi_lam1", False), ("ppi_tuned", True)):
        powered = prediction_powered(judge, human, tuned=tuned)
        found[name] = Interval(powered.estimate, powered.low, powered.high, name, powered.n_labelled)
    return {name: replace(option, note=_warning(option, bounds, small)) for name, option in found.items()}


def _warning(option: Interval, bounds: tuple[float | None, float | None], small: bool) -> str | None:
    """What keeps an interval of the literature from being believed; it is shown as the literature computes it."""
    if option.low is None or option.high is None:
        return "no interval"
    past = (bounds[0] is not None and option.low < bounds[0]) or (bounds[1] is not None and option.high > bounds[1])
    warnings = (
        (small, "nominal 95%, actual may be under 90%"),
        (option.low == option.high, NO_WIDTH),
        (past, "reaches past the possible range"),
    )
    return "; ".join(text for holds, text in warnings if holds) or None
