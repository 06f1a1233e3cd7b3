"""Planting faults: each is a fault, is seeded, and is counted for what it is."""

from dataclasses import replace

import pytest

from rag_audit.audit.probe import (
    Answered,
    Asking,
    Fault,
    another_identifier,
    another_number,
    invented_parameter,
    plan_probe,
    summarise_probe,
    turned_round,
)
from rag_audit.model import Claim, ClaimJudgment, Excerpt, Passage, QuestionResult, Verdict
from rag_audit.statistics.agreement import wilson
from tests.audit.making import JUDGE, make_result

FACTS = {
    "new": "The `max_open_angle` of valve_{at} is limited to {n} degrees.",
    "old": "The `idle_base` of pump_{at} is set to {n} rpm.",
}


def _result(at: int) -> QuestionResult:
    corpus = "new" if at % 2 else "old"
    claims = tuple(
        Claim(f"c{number}", FACTS[corpus].format(at=at, n=10 * at + number), verdict)
        for number, verdict in enumerate((Verdict.VERIFIED, Verdict.VERIFIED, Verdict.ABSENT), start=1)
    )
    source = "\n".join(claim.text for claim in claims)
    result = make_result(f"q{at:02d}", "v", corpus=corpus)
    assert result.generation
    return replace(
        result,
        generation=replace(result.generation, answer=source),
        claim_judgment=ClaimJudgment(Excerpt(reference=(Passage(source),)), claims, JUDGE),
    )


RESULTS = [_result(at) for at in range(40)]


def _all(plan: list[Asking]) -> list[tuple[str, str, Fault | None, str]]:
    return [
        (asking.result.question.id, planted.claim.id, planted.fault, planted.claim.text)
        for asking in plan
        for planted in asking.claims
    ]


def test_the_plan_has_as_many_faults_as_asked_for_and_as_many_untouched_claims() -> None:
    plan = _all(plan_probe(RESULTS, 20, 1))
    kinds = [fault for _, _, fault, _ in plan if fault]
    assert len(kinds) == 20
    assert {kind: kinds.count(kind) for kind in Fault} == dict.fromkeys(Fault, 4)
    assert len(plan) - len(kinds) == 20
    assert len({(question, claim) for question, claim, _, _ in plan}) == 40


def test_the_plan_is_seeded_and_does_not_depend_on_the_order() -> None:
    assert _all(plan_probe(RESULTS, 20, 1)) == _all(plan_probe(RESULTS[::-1], 20, 1))
    assert _all(plan_probe(RESULTS, 20, 1)) != _all(plan_probe(RESULTS, 20, 2))


def test_only_verified_claims_with_an_excerpt_are_used() -> None:
    assert all(claim in ("c1", "c2") for _, claim, _, _ in _all(plan_probe(RESULTS, 100, 1)))
    bare = [
        replace(result, claim_judgment=replace(result.claim_judgment, excerpt=Excerpt()))
        for result in RESULTS
        if result.claim_judgment
    ]
    assert plan_probe(bare, 5, 1) == []


def test_what_is_planted_is_not_in_the_source() -> None:
    for asking in plan_probe(RESULTS, 40, 3):
        assert asking.result.claim_judgment
        source = asking.result.claim_judgment.excerpt.text("reference")
        for planted in asking.claims:
            assert (planted.claim.text in source) == (planted.fault is None)
            assert planted.claim.text in asking.answer


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("The valve is open.", "The valve is not open."),
        ("The valve is not open.", "The valve is open."),
        ("It never stalls.", "It always stalls."),
        (
            "Die Drosselklappe ist der Regler und wird gekühlt.",
            "Die Drosselklappe ist nicht der Regler und wird gekühlt.",
        ),
        ("Opens at 9 V.", "It is not the case that Opens at 9 V."),
        ("There is no limit.", None),
    ],
)
def test_negation_turns_the_statement_round(text: str, turned: str | None) -> None:
    assert turned_round(text, "", 0) == turned


@pytest.mark.parametrize("draw", range(6))
def test_another_number_is_another_one(draw: int) -> None:
    planted = another_number("It waits 12 ms and then 3.5 s.", "12 ms 3.5 s 24 36", draw)
    assert planted
    assert planted != "It waits 12 ms and then 3.5 s."
    assert another_number("It waits.", "", draw) is None


def test_another_identifier_is_a_new_name() -> None:
    assert another_identifier("Set `max_open_angle` first.", "max_open_angle", 0) == "Set `max_open_angleEx` first."
    assert another_identifier("Set it first.", "", 0) is None


def test_an_invented_parameter_keeps_the_full_stop() -> None:
    planted = invented_parameter("The valve opens.", "", 0)
    assert planted == "The valve opens, and `watchdog_grace_ms` limits it to 17."
    assert invented_parameter("The valve opens.", "watchdog_grace_ms", 0) is None


def test_rates_count_failures_apart() -> None:
    planted = [one for asking in plan_probe(RESULTS, 20, 1) for one in asking.claims]
    faults = [one for one in planted if one.fault]
    untouched = [one for one in planted if not one.fault]
    answers = [
        *(Answered(one, Verdict.CONTRADICTED) for one in faults[:12]),
        *(Answered(one, Verdict.VERIFIED) for one in faults[12:17]),
        *(Answered(one, None) for one in faults[17:19]),
        Answered(faults[19], Verdict.UNPARSED),
        *(Answered(one, Verdict.VERIFIED) for one in untouched[:18]),
        *(Answered(one, Verdict.ABSENT) for one in untouched[18:]),
    ]
    report = summarise_probe(answers)
    assert (report.overall.n, report.overall.rejected, report.overall.failed) == (17, 12, 3)
    assert report.overall.bounds == wilson(12, 17)
    assert (report.false_alarms.rejected, report.false_alarms.contradicted) == (2, 0)
    assert sum(rate.n + rate.failed for rate in report.caught.values()) == 20
    assert summarise_probe([]).overall.share is None
