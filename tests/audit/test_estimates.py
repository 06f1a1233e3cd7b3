"""Corrected values of a run from its draw: repeats, open questions, what is left out."""

from dataclasses import replace

import pytest

from rag_audit.audit.effective import Decisions
from rag_audit.audit.estimates import BlindDecisions, Correction, correct, human_bounds, question_values
from rag_audit.audit.recording import Act, add_claim
from rag_audit.model import AuditSample, Decision, QuestionResult
from rag_audit.statistics.agreement import wilson
from rag_audit.statistics.corrected import SplitCounts, split_guarded
from tests.audit.making import at_next_moment, audited, case_of, decide_all, make_result, make_sample, verdict_of

RUN = [make_result(f"q{at:02d}", "vv" if at % 4 else "vc") for at in range(40)]
SAMPLE = make_sample([f"q{at:02d}" for at in range(10)], 40)


def _correct(
    results: list[QuestionResult],
    decisions: list[Decision],
    metric: str = "no_fabrication",
    sample: AuditSample = SAMPLE,
) -> Correction:
    resolved = Decisions(decisions)
    values = question_values(audited(results), metric, BlindDecisions(sample, resolved), resolved)
    return correct(values, (0.0, 1.0), yes_no=metric == "no_fabrication", seed=3)


def test_the_split_counts_questions_by_both_verdicts() -> None:
    wrong = {("q01", "c1"): "contradicted", ("q02", "c2"): "contradicted", ("q04", "c2"): "verified"}
    found = _correct(RUN, decide_all(RUN[:10], wrong))
    # Drawn: q00, q04, q08 failed by the judge, of which q04 is passed by people; of the other 7, q01 and q02 fail.
    assert found.interval == split_guarded(SplitCounts(30, 40, tp=5, fp=2, fn=1, tn=2), seed=3)
    assert found.wilson == wilson(6, 10)
    assert found.interval.n == 10


def test_a_question_counts_only_when_all_its_claims_are_decided() -> None:
    decisions = decide_all(RUN[:10], {})
    assert _correct(RUN, decisions[:-1]).interval.n == 9
    # A contradiction alone would fail the question already: counting it early would keep only the failures.
    early = [*decisions[:-2], verdict_of("q09", "c1", "contradicted")]
    assert _correct(RUN, early).interval.n == 9


def test_only_blind_decisions_of_the_draw_enter() -> None:
    unblinded = [replace(decision, blind=False, informed=True) for decision in decide_all(RUN[:10], {})]
    assert _correct(RUN, unblinded).interval.n == 0
    assert _correct(RUN, decide_all(RUN[10:20], {})).interval.n == 0


def test_cannot_judge_leaves_bounds_and_drops_nothing() -> None:
    decisions = decide_all(RUN[:10], {("q01", "c1"): "skip"})
    found = _correct(RUN, decisions)
    worst = _correct(RUN, decide_all(RUN[:10], {("q01", "c1"): "contradicted"}))
    best = _correct(RUN, decide_all(RUN[:10], {}))
    assert (found.interval.estimate, found.n_open, found.interval.n) == (None, 1, 10)
    assert found.bounds == (worst.interval.estimate, best.interval.estimate)
    assert (found.interval.low, found.interval.high) == (worst.interval.low, best.interval.high)
    assert found.interval.note


def test_cannot_judge_beside_a_contradiction_leaves_nothing_open() -> None:
    found = _correct(RUN, decide_all(RUN[:10], {("q01", "c1"): "skip", ("q01", "c2"): "contradicted"}))
    assert (found.n_open, found.bounds) == (0, None)


def test_reviewers_who_differ_leave_bounds_until_a_blind_adjudication() -> None:
    decisions = decide_all(RUN[:10], {})
    bob = verdict_of("q01", "c1", "contradicted", "bob")
    ann = next(decision for decision in decisions if (decision.question_id, decision.claim_id) == ("q01", "c1"))
    assert _correct(RUN, [*decisions, bob]).n_open == 1
    settled = verdict_of("q01", "c1", "contradicted", "eve", kind="adjudication")
    settled = replace(settled, supersedes=(ann.id, bob.id))
    assert _correct(RUN, [*decisions, bob, settled]).n_open == 0
    assert _correct(RUN, [*decisions, bob, replace(settled, blind=False, informed=True)]).n_open == 1


def test_a_missed_claim_counts() -> None:
    act = Act("ann", at_next_moment())
    missed = replace(add_claim(case_of(RUN[1], (), SAMPLE), "It never opens.", "contradicted", act), id="missed")
    found = _correct(RUN, [*decide_all(RUN[:10], {}), missed])
    assert found.interval == _correct(RUN, decide_all(RUN[:10], {("q01", "c1"): "contradicted"})).interval


def test_questions_without_a_judges_value_are_counted_not_hidden() -> None:
    results = [make_result("q00", "vu"), *RUN[1:]]
    found = _correct(results, decide_all(results[:10], {("q00", "c2"): "absent"}))
    assert (found.interval.n, found.without_judge_value) == (9, 0)
    bounds = human_bounds(
        audited(results)[0], "no_fabrication", *_blind(decide_all(results[:1], {("q00", "c2"): "absent"}))
    )
    assert bounds == (1.0, 1.0)


def _blind(decisions: list[Decision]) -> tuple[BlindDecisions, Decisions]:
    resolved = Decisions(decisions)
    return BlindDecisions(SAMPLE, resolved), resolved


def test_repeats_count_once_by_their_mean() -> None:
    results = [
        make_result(f"q{at:02d}", "vc" if repeat == at % 2 else "vv", repeat=repeat)
        for at in range(6)
        for repeat in (1, 2)
    ]
    sample = make_sample(["q00", "q01", "q02"], 6)
    resolved = Decisions(decide_all([result for result in results if result.question.id in sample.questions], {}))
    values = question_values(audited(results), "no_fabrication", BlindDecisions(sample, resolved), resolved)
    assert len(values) == 6
    assert values["q01"].judge == 0.5
    assert values["q01"].human == (0.5, 0.5)
    found = correct(values, (0.0, 1.0), yes_no=True)
    assert (found.interval.method, found.interval.n) == ("ppi_lam1_t_hull", 3)


def test_claim_precision_is_estimated_over_questions() -> None:
    found = _correct(RUN, decide_all(RUN[:10], {("q01", "c1"): "absent"}), "claim_precision")
    # The judge gave 23 of the 30 others 1 and 7 of them 0.5; people lower one of ten drawn questions by a half.
    assert found.interval.method == "ppi_lam1_t_hull"
    assert found.interval.estimate == pytest.approx((23 + 7 * 0.5) / 30 - 0.5 / 10)
    assert found.wilson == (None, None)
    assert set(found.options) == {"classical", "ppi_lam1", "ppi_tuned"}
    assert found.options["ppi_tuned"].note == "nominal 95%, actual may be under 90%"


def test_intervals_of_the_literature_are_marked_where_they_cannot_be_believed() -> None:
    results = [make_result(f"q{at:02d}", "v") for at in range(40)]
    options = _correct(results, decide_all(results[:10], {})).options
    assert options["classical"].low == options["classical"].high == 1.0
    assert all("the interval has no width" in (option.note or "") for option in options.values())
    one_fails = _correct(RUN, decide_all(RUN[:10], {("q04", "c2"): "verified", ("q08", "c2"): "verified"}))
    assert "past the possible range" in (one_fails.options["classical"].note or "")
