"""What must not be shown yet: the judge's side of drawn questions that the reviewer has not decided."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag_audit.audit.effective import CLAIM_METRICS
from rag_audit.audit.standing import resolve
from rag_audit.model import AuditSample, Decision, QuestionRow

SCORES = ("faithfulness", "completeness")
HIDDEN = "Hidden while this question waits for your blind decisions (c opens its claims)."


class Blind(NamedTuple):
    """The questions that wait to be decided blind, and the metrics that are the judge's side of them."""

    questions: frozenset[str] = frozenset()
    metrics: frozenset[str] = frozenset()

    def hides(self, question_id: str, metric: str) -> bool:
        """Whether a question's value of a metric must not be shown."""
        return question_id in self.questions and metric in self.metrics

    def joined(self, other: "Blind") -> "Blind":
        """Both together, for a screen that shows two runs."""
        return Blind(self.questions | other.questions, self.metrics | other.metrics)


def blind_of(
    sample: AuditSample | None, rows: Sequence[QuestionRow], decisions: Iterable[Decision], reviewer: str
) -> Blind:
    """What a reviewer must not see of a run yet."""
    if sample is None:
        return Blind()
    decided: Counter[str] = Counter(
        decision.question_id
        for decision in resolve(decisions).in_force
        if decision.reviewer == reviewer and decision.kind in {"verdict", "score"}
    )
    asked: Counter[str] = Counter()
    for row in rows:
        scored = sum(row.scores.get(metric) is not None for metric in SCORES) if "scores" in sample.target else 0
        claims = sum(row.verdicts.values()) if "claims" in sample.target else 0
        asked[row.id] += claims + scored
    metrics = frozenset(CLAIM_METRICS) | frozenset(SCORES if "scores" in sample.target else ())
    return Blind(frozenset(q for q in sample.questions if decided[q] < asked[q]), metrics)
