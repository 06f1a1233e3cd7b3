"""The report of an audit: what enters which figure, and the sentence at its top."""

from dataclasses import replace

from rag_audit.audit.recording import Act, score_answer
from rag_audit.audit.report import AuditReport, build_report
from rag_audit.audit.report_json import report_json
from rag_audit.audit.report_text import report_text
from rag_audit.audit.verdict import percent, release_verdict
from rag_audit.model import AuditSample, Decision, Queue
from rag_audit.statistics.agreement import wilson
from tests.audit.making import (
    at_next_moment,
    audited,
    case_of,
    decide_all,
    make_result,
    make_run,
    make_sample,
    verdict_of,
)

RESULTS = [
    make_result(f"q{at:02d}", "v" if at % 3 else "c", corpus="new" if at % 2 else "old", scores=(8, 6))
    for at in range(60)
]
SAMPLE = make_sample([f"q{at:02d}" for at in range(24)], 60)
DRAWN = RESULTS[:24]


def _report(decisions: list[Decision], sample: AuditSample | None = SAMPLE) -> AuditReport:
    return build_report(make_run(RESULTS), audited(RESULTS), decisions, sample)


def test_without_a_draw_nothing_is_estimated() -> None:
    report = _report(decide_all(DRAWN[:5], {("q01", "c1"): "absent"}), None)
    shape = report_json(report)
    assert shape["sample"] is None
    assert shape["agreement"] is None
    assert shape["metrics"]["no_fabrication"]["corrected"] is None
    assert shape["metrics"]["no_fabrication"]["method"] is None
    assert shape["metrics"]["claim_precision"]["adjusted"] < shape["metrics"]["claim_precision"]["judge"]
    assert release_verdict(report).sentence.startswith("No verdict: no random sample was drawn")


def test_one_claim_a_question_gives_the_textbook_agreement() -> None:
    wrong = {("q01", "c1"): "contradicted", ("q02", "c1"): "absent"}
    shape = report_json(_report(decide_all(DRAWN, wrong)))
    agreement = shape["agreement"]
    assert (agreement["n"], agreement["n_questions"], agreement["raw"]) == (24, 24, 22 / 24)
    assert (agreement["raw_low"], agreement["raw_high"]) == wilson(22, 24)
    assert agreement["table"]["verified"] == {"verified": 14, "contradicted": 1, "absent": 1}
    assert shape["sample"]["provisional"] is False
    assert shape["sample"]["decided_questions"] == 24


def test_a_draw_under_way_is_provisional() -> None:
    report = _report(decide_all(DRAWN[:7], {}))
    assert report.sample
    assert (report.sample.decided_questions, report.sample.provisional) == (7, True)
    verdict = release_verdict(report)
    assert verdict.standing == "provisional"
    assert verdict.sentence.startswith("Provisional, 7 of 24 drawn questions decided: ")


def test_unblinded_decisions_are_reported_apart() -> None:
    seen = [verdict_of("q01", "c1", "absent", blind=False), verdict_of("q02", "c1", "verified", blind=False)]
    shape = report_json(_report([*decide_all(DRAWN[3:6], {}), *seen]))
    assert shape["agreement"]["n"] == 3
    assert shape["unblinded"]["n"] == 2
    assert shape["unblinded"]["raw"] == 0.5
    assert shape["sample"]["decided_questions"] == 5
    assert shape["sample"]["blind_questions"] == 3


def test_the_flagged_queue_moves_adjusted_values_only() -> None:
    flagged = verdict_of("q00", "c1", "verified", queue=Queue.FLAGGED)
    base, report = _report([]), _report([flagged])
    assert report.flagged == (1, 1)
    assert report.agreement is None
    assert report.unblinded is None
    before, after = base.metrics["no_fabrication"], report.metrics["no_fabrication"]
    assert after.adjusted.mean is not None
    assert before.adjusted.mean is not None
    assert after.adjusted.mean > before.adjusted.mean
    assert after.judge == before.judge
    assert after.correction == before.correction


def test_a_change_after_the_reveal_moves_adjusted_values_only() -> None:
    decisions = decide_all(DRAWN, {})
    change = verdict_of("q01", "c1", "contradicted", blind=False, supersedes=decisions[1].id)
    before, after = _report(decisions), _report([*decisions, change])
    assert after.agreement == before.agreement
    assert after.metrics["no_fabrication"].correction == before.metrics["no_fabrication"].correction
    assert after.metrics["no_fabrication"].adjusted != before.metrics["no_fabrication"].adjusted


def test_several_reviewers_share_a_claim_and_their_differences_are_listed() -> None:
    ann = decide_all(DRAWN, {})
    bob = decide_all(DRAWN[:6], {("q01", "c1"): "absent"}, "bob")
    report = _report([*ann, *bob])
    assert report.agreement
    assert (report.agreement.n, report.agreement.table["verified"]["absent"]) == (24, 0.5)
    assert report.between.claims == 6
    assert [found.said for found in report.between.differences] == [{"ann": "verified", "bob": "absent"}]
    assert len(report.disputed) == 1
    missed = [verdict_of("q09", "m1", verdict, who) for verdict, who in (("absent", "ann"), ("verified", "bob"))]
    assert [found.claim_id for found in _report(missed).between.differences] == ["m1"]
    assert report.by_reviewer["bob"].agreement
    assert report.by_reviewer["bob"].agreement.n == 6
    assert report.metrics["claim_precision"].correction.n_open == 1


def test_the_direction_of_the_bias_is_named_where_it_is_clear() -> None:
    lenient = _report(decide_all(DRAWN, {(f"q{at:02d}", "c1"): "contradicted" for at in (1, 2, 4, 5, 7, 8, 10)}))
    directions = {leaning.verdict: leaning.direction for leaning in lenient.leanings}
    assert directions == {"verified": "too often", "contradicted": "too rarely", "absent": "unclear"}
    assert "the judge says verified too often" in report_text(lenient)
    assert {leaning.direction for leaning in _report(decide_all(DRAWN, {})).leanings} == {"unclear"}


def test_scores_are_corrected_where_the_draw_targets_them() -> None:
    sample = replace(SAMPLE, target=("claims", "scores"))
    scores = [
        replace(
            score_answer(case_of(result, (), sample), metric, value, Act("ann", at_next_moment(), blind=True)),
            id=f"{result.question.id} {metric}",
        )
        for at, result in enumerate(DRAWN)
        for metric, value in (("faithfulness", 5.0 + at % 4), ("completeness", 6.0))
    ]
    shape = report_json(_report([*decide_all(DRAWN, {}), *scores], sample))
    faithfulness = shape["metrics"]["faithfulness"]
    assert faithfulness["method"] == "ppi_lam1_t"
    assert faithfulness["n_labelled"] == 24
    assert faithfulness["corrected"] < faithfulness["judge"] == 8.0
    assert faithfulness["scores"]["difference"]["estimate"] == 1.5
    assert shape["sample"]["decided_questions"] == 24
    untargeted = report_json(_report(scores))["metrics"]["faithfulness"]
    assert untargeted["corrected"] is None
    assert untargeted["adjusted"] < 8.0


def test_the_breakdowns_add_up() -> None:
    report = _report(decide_all(DRAWN, {}))
    assert {name: found.n for name, found in report.by_corpus.items()} == {"new": 12, "old": 12}
    assert [found.n for found in report.by_judge.values()] == [24]


def test_the_verdict_says_what_was_found_and_by_whom() -> None:
    wrong = {(f"q{at:02d}", "c1"): "contradicted" for at in (1, 2, 4, 5, 7, 8, 10, 11, 13)}
    report = _report(decide_all(DRAWN, wrong))
    verdict = release_verdict(report)
    interval = report.metrics["no_fabrication"].correction.interval
    assert interval.estimate is not None
    assert verdict.standing == "established"
    assert verdict.judge_inside is False
    assert percent(interval.estimate) in verdict.sentence
    assert "24 of 60 judged questions checked blind by ann; the judge alone says 67 %" in verdict.sentence
    assert "The judge is too lenient" in verdict.sentence


def test_the_verdict_counts_a_question_with_repeats_once() -> None:
    run = [make_result(f"q{at:02d}", "v", repeat=repeat) for at in range(6) for repeat in (1, 2)]
    decisions = [replace(one, repeat=repeat) for repeat in (1, 2) for one in decide_all(run[:8:2], {})]
    sample = make_sample([f"q{at:02d}" for at in range(4)], 6)
    report = build_report(make_run(run), audited(run), decisions, sample)
    assert "4 of 6 judged questions checked" in release_verdict(report).sentence


def test_percentages_never_round_to_certainty() -> None:
    assert [percent(value) for value in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
    ]


def test_hostile_names_reach_the_text_visibly() -> None:
    hostile = "eve\x1b[31m"
    text = report_text(_report(decide_all(DRAWN, {}, hostile)))
    assert "\x1b" not in text
