"""The metrics: one documented record each, with the function that scores one question.

Per-question values come first, the mean afterwards, over the questions that have a value. A question without a value
has a reason instead (`model.NOT_APPLICABLE` and the failed ones); it never counts as 0.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_audit.model import (
    Direction,
    MetricSummary,
    QuestionResult,
    RetrievedChunk,
    Verdict,
)

Scored = tuple[float | None, str | None]
"""A value, or None with the reason why there is none."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: name, range, direction, formula, and the function that scores one question."""

    name: str
    description: str
    score: Callable[[QuestionResult], Scored]
    range: tuple[float | None, float | None] = (0.0, 1.0)
    direction: Direction = Direction.UP
    judged_by: str | None = None
    """claims | scores: the judge whose change makes two runs incomparable; None: no judge."""
    retrieval: bool = False
    """Whether it looks at the retrieved list alone."""
    binary: bool = False
    """Whether every value is 0 or 1."""


def hit_at(k: int, retrieved: Sequence[RetrievedChunk]) -> float:
    """1 if any of the first k chunks is relevant, else 0 (also called success@k)."""
    return float(any(chunk.relevant for chunk in retrieved[:k]))


def reciprocal_rank(retrieved: Sequence[RetrievedChunk]) -> float:
    """1 / rank of the first relevant chunk, 0 if there is none; its mean is MRR."""
    return next((1.0 / rank for rank, chunk in enumerate(retrieved, start=1) if chunk.relevant), 0.0)


def keyword_share(keywords: Sequence[str], text: str) -> float:
    """Share (0-1) of the keywords that occur in the text, case-insensitively."""
    folded = text.casefold()
    return sum(keyword.casefold() in folded for keyword in keywords) / len(keywords)


def _retrieval(score: Callable[[QuestionResult], float]) -> Callable[[QuestionResult], Scored]:
    """A metric of the retrieved list: has no value where no relevant passage is known or nothing was retrieved for."""

    def scored(result: QuestionResult) -> Scored:
        if not result.question.answerable:
            return None, "unanswerable"
        if result.route.rule == "off":
            return None, "not_asked"
        if not result.question.relevant_docs:
            return None, "no_relevant"
        if result.error and not result.retrieved:
            return None, result.error
        return score(result), None

    return scored


def _keyword_coverage(result: QuestionResult) -> Scored:
    if not result.question.answerable:
        return None, "unanswerable"
    if not result.question.keywords:
        return None, "no_keywords"
    if result.generation is None:
        return None, result.error or "no_answer"
    return keyword_share(result.question.keywords, result.generation.answer), None


def _keyword_recall(result: QuestionResult) -> Scored:
    if not result.question.answerable:
        return None, "unanswerable"
    if not result.question.keywords:
        return None, "no_keywords"
    if result.route.rule == "off":
        return None, "not_asked"
    if result.error and not result.retrieved:
        return None, result.error
    return keyword_share(result.question.keywords, "\n".join(c.chunk.text for c in result.retrieved)), None


def _judged_score(name: str) -> Callable[[QuestionResult], Scored]:
    def scored(result: QuestionResult) -> Scored:
        if name == "completeness" and not result.question.answerable:
            return None, "unanswerable"
        if result.error and result.score_judgment is None:
            return None, result.error
        if result.score_judgment is None:
            return None, "not_asked"
        value: int | None = getattr(result.score_judgment, name)
        if value is None:
            return None, result.score_judgment.error or "unparsed"
        return float(value), None

    return scored


def no_fabrication_of(verdicts: Sequence[Verdict]) -> Scored:
    """1 if no claim is contradicted, 0 if any is; no value without claims or while a verdict could still be one."""
    if Verdict.CONTRADICTED in verdicts:
        return 0.0, None
    if not verdicts:
        return None, "no_claims"
    if Verdict.UNPARSED in verdicts:
        return None, "unparsed"
    return 1.0, None


def claim_precision_of(verdicts: Sequence[Verdict]) -> Scored:
    """Verified claims / all claims with a verdict."""
    judged = [verdict for verdict in verdicts if verdict is not Verdict.UNPARSED]
    if judged:
        return judged.count(Verdict.VERIFIED) / len(judged), None
    return None, "unparsed" if verdicts else "no_claims"


def _of_claims(score: Callable[[Sequence[Verdict]], Scored]) -> Callable[[QuestionResult], Scored]:
    def scored(result: QuestionResult) -> Scored:
        judgment = result.claim_judgment
        if judgment is None:
            return None, result.error or "not_asked"
        if judgment.error and not judgment.claims:
            return None, judgment.error
        return score([claim.verdict for claim in judgment.claims])

    return scored


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "hit_at_1",
            "1 if the first retrieved chunk is relevant.",
            _retrieval(lambda result: hit_at(1, result.retrieved)),
            retrieval=True,
            binary=True,
        ),
        Metric(
            "hit_at_k",
            "1 if any retrieved chunk is relevant (success@k).",
            _retrieval(lambda result: hit_at(len(result.retrieved), result.retrieved)),
            retrieval=True,
            binary=True,
        ),
        Metric(
            "mrr",
            "1 / rank of the first relevant chunk, 0 if none; the mean is MRR.",
            _retrieval(lambda result: reciprocal_rank(result.retrieved)),
            retrieval=True,
        ),
        Metric("keyword_coverage", "Share of the keywords that occur in the answer.", _keyword_coverage),
        Metric(
            "keyword_recall", "Share of the keywords that occur in the retrieved text.", _keyword_recall, retrieval=True
        ),
        Metric(
            "faithfulness",
            "Score judge: is the answer supported by what was retrieved?",
            _judged_score("faithfulness"),
            range=(0.0, 10.0),
            judged_by="scores",
        ),
        Metric(
            "completeness",
            "Score judge: does the answer say what the reference says?",
            _judged_score("completeness"),
            range=(0.0, 10.0),
            judged_by="scores",
        ),
        Metric(
            "no_fabrication",
            "1 if no claim of the answer is contradicted by the source.",
            _of_claims(no_fabrication_of),
            judged_by="claims",
            binary=True,
        ),
        Metric(
            "claim_precision",
            "Verified claims / claims with a verdict.",
            _of_claims(claim_precision_of),
            judged_by="claims",
        ),
    )
}
"""The own metrics in the order they are shown; metrics of imported runs are `<tool>.<name>` and stay as they came."""


def score_question(result: QuestionResult) -> tuple[dict[str, float | None], dict[str, str]]:
    """Score one question on every own metric: (name to value, name to the reason of a missing one)."""
    scores: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    for metric in METRICS.values():
        value, reason = metric.score(result)
        scores[metric.name] = value
        if reason is not None:
            missing[metric.name] = reason
    return scores, missing


def mean(values: Iterable[float]) -> float | None:
    """Arithmetic mean, exact in summation and safe against overflow; None of nothing."""
    listed = list(values)
    if not listed:
        return None
    try:
        return math.fsum(listed) / len(listed)
    except OverflowError:
        return math.fsum(value / len(listed) for value in listed)


def summarise(
    name: str,
    scored: Sequence[Scored],
    range_: tuple[float | None, float | None] | None = None,
    direction: Direction | None = None,
) -> MetricSummary:
    """Summarise the per-question values of one metric: mean with n of total and why the rest is missing."""
    own = METRICS.get(name)
    values = [value for value, _ in scored if value is not None]
    return MetricSummary(
        mean=mean(values),
        n=len(values),
        total=len(scored),
        missing=dict(sorted(Counter(reason or "no_score" for value, reason in scored if value is None).items())),
        range=range_ or (own.range if own else (None, None)),
        direction=direction or (own.direction if own else Direction.NONE),
    )
