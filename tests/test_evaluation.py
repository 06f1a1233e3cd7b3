"""One question's failure stays with that question."""

from collections.abc import Sequence

import pytest

from rag_audit.errors import HistoryError
from rag_audit.evaluation import Evaluator, Judges
from rag_audit.model import Question, RetrievedChunk, Route
from rag_audit.providers.offline.claim_judge import OfflineClaimJudge
from rag_audit.providers.offline.generator import OfflineGenerator
from rag_audit.providers.offline.score_judge import OfflineScoreJudge

QUESTION = Question("q1", "How long?", "12 ms", doc_id="unit/evt", keywords=("12 ms",))
ROUTE = Route(("unit",), "doc_id", ("unit",))


class BrokenRetriever:
    """A retriever with a fault."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    def retrieve(self, question: Question, route: Route) -> Sequence[RetrievedChunk]:
        raise self.fault


def evaluator(fault: Exception, repeats: int = 1) -> Evaluator:
    judges = Judges(OfflineClaimJudge(), OfflineScoreJudge(), repeats)
    retriever = BrokenRetriever(fault)
    return Evaluator(retriever, OfflineGenerator(), judges, lambda doc_id: None, 900, 900)  # type: ignore[arg-type]


async def test_a_fault_of_our_own_is_kept_as_that_questions_failure() -> None:
    (result,) = await evaluator(ValueError("odd text")).evaluate(QUESTION, ROUTE)
    assert result.error == "internal_error"
    assert "ValueError: odd text" in result.notes[0]
    assert result.missing["hit_at_1"] == result.missing["keyword_coverage"] == "internal_error"
    assert all(value is None for value in result.scores.values())


async def test_a_failed_question_has_every_repeat_that_was_planned() -> None:
    results = await evaluator(ValueError("odd text"), repeats=3).evaluate(QUESTION, ROUTE)
    assert [result.repeat for result in results] == [1, 2, 3]


async def test_what_concerns_the_whole_run_ends_it() -> None:
    with pytest.raises(HistoryError):
        await evaluator(HistoryError("disk full", "make room")).evaluate(QUESTION, ROUTE)
