"""What must not be shown yet: the judge's side of drawn questions that the reviewer has not decided."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag_audit.audit.standing import decided_by, resolve
from rag_audit.metrics import METRICS
from rag_audit.model import AuditSample, Decision, QuestionRow

SCORES = ("faithfulness", "completeness")
HIDDEN = "Hidden while this question waits for your blind decisions (c opens its claims)."


class Blind(NamedTuple):
    """The questions that wait to be decided blind."""

    questions: frozenset[str] = frozenset()

    def hides(self, question_id: str, metric: str) -> bool:
        """Whether a question's value of a metric must not be shown: all that a judge, or another tool, gave it."""
        needs_no_judge = metric in METRICS and METRICS[metric].judged_by is None
        return question_id in self.questions and not needs_no_judge

    def joined(self, other: "Blind") -> "Blind":
        """Both together, for a screen that shows two runs."""
        return Blind(self.questions | other.questions)


def blind_of(
    sample: AuditSample | None, rows: Sequence[QuestionRow], decisions: Iterable[Decision], reviewer: str
) -> Blind:
    """What a reviewer must not see of a run yet."""
    if sample is None:
        return Blind()
    asked_scores = {f"score {metric}": metric for metric in SCORES} if "scores" in sample.target else {}
    decided = decided_by(resolve(decisions), reviewer)
    claims = Counter((question, repeat) for question, repeat, about in decided if not about.startswith("score "))
    drawn, waiting = frozenset(sample.questions), set()
    for row in rows:
        if row.id not in drawn:
            continue
        left = sum(row.verdicts.values()) - claims[row.id, row.repeat] if "claims" in sample.target else 0
        unscored = any(
            row.scores.get(metric) is not None and (row.id, row.repeat, about) not in decided
            for about, metric in asked_scores.items()
        )
        if left > 0 or unscored:
            waiting.add(row.id)
    return Blind(frozenset(waiting))
