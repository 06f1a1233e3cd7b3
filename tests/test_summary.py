"""A summary balances: what has a value and what is missing, with its reason, add up to everything that was asked."""

from dataclasses import replace

import pytest

from rag_audit.metrics import claim_precision_of, keyword_share, mean, no_fabrication_of, score_question
from rag_audit.model import (
    Chunk,
    Claim,
    ClaimJudgment,
    Direction,
    Excerpt,
    Generation,
    JudgeCall,
    JudgeIdentity,
    Origin,
    Question,
    QuestionResult,
    RetrievedChunk,
    Route,
    RunContext,
    RunStatus,
    RunSummary,
    ScoreJudgment,
    Usage,
    Verdict,
)
from rag_audit.summary import SummaryBuilder, judge_text, question_hash, row_of

V, C, A, U = Verdict.VERIFIED, Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.UNPARSED

HEADER = RunSummary(
    id="r1",
    label=None,
    status=RunStatus.RUNNING,
    origin=Origin.EVALUATED,
    started_at="2026-01-01T00:00:00+00:00",
    context=RunContext(),
)


def judged(id_: str, *verdicts: Verdict, error: str | None = None) -> QuestionResult:
    claims = tuple(Claim(f"c{at}", f"claim {at}", verdict) for at, verdict in enumerate(verdicts, start=1))
    result = QuestionResult(
        Question(id_, "How long?", doc_id="unit/evt", keywords=("12 ms", "CAN")),
        Route(("unit",), "doc_id", ("unit",)),
        retrieved=(RetrievedChunk(Chunk("unit/evt", "unit", "It takes 12 MS."), 1, relevant=True),),
        generation=Generation("It takes 12 ms."),
        claim_judgment=ClaimJudgment(Excerpt(), claims, error=error),
        score_judgment=ScoreJudgment(faithfulness=7, completeness=None, error="unparsed"),
    )
    scores, missing = score_question(result)
    return replace(result, scores=scores, missing=missing)


@pytest.mark.parametrize(
    ("verdicts", "fabrication", "precision"),
    [
        ((V, V, A), (1.0, None), (2 / 3, None)),
        ((V, C, A), (0.0, None), (1 / 3, None)),
        ((), (None, "no_claims"), (None, "no_claims")),
        ((V, U), (None, "unparsed"), (1.0, None)),
        ((C, U), (0.0, None), (0.0, None)),
        ((U, U), (None, "unparsed"), (None, "unparsed")),
        ((A,), (1.0, None), (0.0, None)),
    ],
)
def test_claim_metrics_follow_from_the_verdicts(
    verdicts: tuple[Verdict, ...],
    fabrication: tuple[float | None, str | None],
    precision: tuple[float | None, str | None],
) -> None:
    assert no_fabrication_of(verdicts) == fabrication
    assert claim_precision_of(verdicts) == precision


def test_keywords_match_whatever_their_case() -> None:
    assert keyword_share(("12 ms", "CAN", "LIN"), "It takes 12 MS on the can bus.") == pytest.approx(2 / 3)


def test_a_mean_of_nothing_is_missing_and_huge_values_do_not_overflow() -> None:
    assert mean([]) is None
    assert mean([1e308, 1e308, 1e308]) == pytest.approx(1e308)


def test_every_metric_balances() -> None:
    builder = SummaryBuilder()
    results = [judged("q1", V, V), judged("q2", C), judged("q3", error="timeout"), judged("q4"), judged("q5", V, U)]
    for result in results:
        builder.add(result)
    summary = builder.build(HEADER, duration_s=1.0)
    for metric in summary.metrics.values():
        assert metric.n + sum(metric.missing.values()) == metric.total == 5
    assert summary.metrics["no_fabrication"].mean == 0.5
    assert summary.metrics["no_fabrication"].missing == {"no_claims": 1, "timeout": 1, "unparsed": 1}
    assert summary.metrics["completeness"].mean is None
    assert summary.metrics["completeness"].missing == {"unparsed": 5}
    assert summary.metrics["hit_at_1"].mean == 1.0
    assert summary.claims == {"verified": 3, "contradicted": 1, "absent": 0, "unparsed": 1}
    assert summary.status is RunStatus.INCOMPLETE


def test_a_missing_value_that_is_not_applicable_leaves_a_run_complete() -> None:
    builder = SummaryBuilder()
    builder.add(QuestionResult(Question("q1", "?"), Route((), "off"), missing={"hit_at_1": "no_relevant"}))
    assert builder.build(HEADER, duration_s=None).status is RunStatus.COMPLETE


def test_a_metric_that_a_row_does_not_mention_is_missing_there() -> None:
    builder = SummaryBuilder({"azure.gpt_groundedness": ((1.0, 5.0), Direction.UP)})
    builder.add(QuestionResult(Question("q1", "?"), Route((), "imported"), scores={"azure.gpt_groundedness": 4.0}))
    builder.add(QuestionResult(Question("q2", "?"), Route((), "imported")))
    metric = builder.build(HEADER, duration_s=None).metrics["azure.gpt_groundedness"]
    assert (metric.mean, metric.n, metric.total, metric.missing) == (4.0, 1, 2, {"no_score": 1})
    assert metric.range == (1.0, 5.0)


def test_one_unknown_price_makes_the_cost_unknown() -> None:
    builder = SummaryBuilder()
    usage = Usage(input_tokens=10, cached_input_tokens=5, output_tokens=2)
    calls = (JudgeCall("claims", "p", "r", usage=usage, cost_usd=0.5), JudgeCall("claims", "p", "r", usage=usage))
    builder.add(QuestionResult(Question("q1", "?"), Route((), "off"), judge_calls=calls))
    summary = builder.build(HEADER, duration_s=None)
    assert (summary.cost.judge_usd, summary.cost.generation_usd, summary.cost.unknown_calls) == (None, 0.0, 1)
    assert (summary.tokens.input, summary.tokens.cached_input, summary.tokens.output) == (20, 10, 4)


def test_repeats_of_judging_pay_for_their_answer_once() -> None:
    builder = SummaryBuilder()
    for repeat in (1, 2, 3):
        generation = Generation("yes", cost_usd=0.25, usage=Usage(output_tokens=3))
        builder.add(QuestionResult(Question("q1", "?"), Route((), "off"), repeat, generation=generation))
    summary = builder.build(HEADER, duration_s=None)
    assert summary.cost.generation_usd == builder.known_usd == 0.25
    assert summary.tokens.output == 3


def test_a_rejudged_run_pays_for_its_judging_alone() -> None:
    builder = SummaryBuilder()
    call = JudgeCall("claims", "p", "r", usage=Usage(output_tokens=2), cost_usd=0.5)
    generation = Generation("yes", usage=Usage(output_tokens=3))
    builder.add(QuestionResult(Question("q1", "?"), Route((), "off"), generation=generation, judge_calls=(call,)))
    evaluated = builder.build(HEADER, duration_s=None)
    assert (evaluated.cost.generation_usd, evaluated.cost.unknown_calls, evaluated.tokens.output) == (None, 1, 5)
    rejudged = builder.build(replace(HEADER, origin=Origin.REJUDGED), duration_s=None)
    assert (rejudged.cost.generation_usd, rejudged.cost.judge_usd, rejudged.cost.unknown_calls) == (0.0, 0.5, 0)
    assert rejudged.tokens.output == 2


def test_a_question_counts_for_the_corpus_of_its_document_wherever_it_was_sent() -> None:
    row = row_of(QuestionResult(Question("q1", "?"), Route(("newer",), "no_routing", ("older",))))
    assert (row.corpus, row.misrouted) == ("older", True)


def test_an_edit_of_what_was_asked_changes_the_hash_and_a_move_in_the_file_does_not() -> None:
    first = Question("q1", "How long?", reference_answer="12 ms", keywords=("a", "b"), line=3)
    assert question_hash(first) == question_hash(Question("q1", "How long?", "12 ms", keywords=("a", "b"), line=9))
    assert question_hash(first) != question_hash(Question("q1", "How long?", "12 ms", keywords=("ab",)))
    assert question_hash(first) != question_hash(Question("q1", "How long?", "13 ms", keywords=("a", "b")))


def test_a_judge_that_reports_another_model_is_another_judge() -> None:
    identity = JudgeIdentity("anthropic:some-alias", "abc", {"max_tokens": "64"})
    assert judge_text(identity, "model-1") != judge_text(identity, "model-2")
    assert judge_text(None, "model-1") == "unknown"


def test_rows_share_what_many_questions_have_alike() -> None:
    """A run of ten thousand questions keeps its rows until it closes."""
    builder = SummaryBuilder()
    one, other, unlike = judged("a", V, C), judged("b", V, C), judged("c", V, error="no")
    for result in (one, other, unlike):
        builder.add(result)
    assert builder.rows == [row_of(one), row_of(other), row_of(unlike)]
    first, second, _ = builder.rows
    assert first.judges is second.judges
    assert first.verdicts is second.verdicts
