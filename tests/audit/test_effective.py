"""Effective verdicts and the metrics that follow from them."""

from dataclasses import replace

import pytest

from rag_audit.audit.effective import Basis, Decisions, adjusted_score, effective_claims, effective_verdicts
from rag_audit.audit.recording import Act, add_claim, adjudicate, decide_claim, score_answer, undo
from rag_audit.audit.standing import claim_hash
from rag_audit.errors import UsageError
from rag_audit.model import Decision, Queue, Verdict
from tests.audit.making import (
    at_next_moment,
    audited,
    case_of,
    make_result,
    make_sample,
    recorded,
    undo_of,
    verdict_of,
)

RESULT = make_result("q", "vca")


def _basis(*decisions: Decision) -> tuple[Verdict | None, Basis]:
    assert RESULT.claim_judgment
    first = effective_claims("q", None, RESULT.claim_judgment.claims, Decisions(decisions))[0]
    return first.verdict, first.basis


def test_undecided_claims_keep_the_judges_verdict() -> None:
    assert _basis() == (Verdict.VERIFIED, Basis.JUDGE)


def test_reviewers_who_agree_decide() -> None:
    ann, bob = (verdict_of("q", "c1", "absent", name) for name in ("ann", "bob"))
    assert _basis(ann) == (Verdict.ABSENT, Basis.REVIEWERS)
    assert _basis(bob, ann) == (Verdict.ABSENT, Basis.REVIEWERS)


def test_reviewers_who_differ_dispute_until_an_adjudication_names_both() -> None:
    ann, bob = verdict_of("q", "c1", "absent", "ann"), verdict_of("q", "c1", "contradicted", "bob")
    assert _basis(ann, bob) == (Verdict.VERIFIED, Basis.DISPUTED)
    half = replace(verdict_of("q", "c1", "contradicted", "eve"), kind="adjudication", supersedes=(bob.id,))
    assert _basis(ann, bob, half) == (Verdict.VERIFIED, Basis.DISPUTED)
    whole = replace(verdict_of("q", "c1", "contradicted", "eve"), kind="adjudication", supersedes=(ann.id, bob.id))
    assert _basis(ann, bob, whole) == (Verdict.CONTRADICTED, Basis.ADJUDICATED)
    assert _basis(ann, bob, whole, undo_of(whole)) == (Verdict.VERIFIED, Basis.DISPUTED)


def test_cannot_judge_is_no_vote() -> None:
    ann, bob = verdict_of("q", "c1", "skip", "ann"), verdict_of("q", "c1", "absent", "bob")
    assert _basis(ann) == (Verdict.VERIFIED, Basis.CANNOT_JUDGE)
    assert _basis(ann, bob) == (Verdict.ABSENT, Basis.REVIEWERS)


def test_effective_verdicts_feed_the_metrics() -> None:
    question = audited([RESULT])[0]
    decisions = Decisions([verdict_of("q", "c2", "verified")])
    assert effective_verdicts(RESULT, decisions) == {"c1": "verified", "c2": "verified", "c3": "absent"}
    assert adjusted_score(question, "no_fabrication", decisions) == (1.0, None)
    assert adjusted_score(question, "claim_precision", decisions) == (2 / 3, None)
    assert adjusted_score(question, "no_fabrication", Decisions([])) == (0.0, None)


def test_a_decided_unparsed_claim_gives_a_value_where_there_was_none() -> None:
    result = make_result("q", "vu")
    question = audited([result])[0]
    assert adjusted_score(question, "no_fabrication", Decisions([])) == (None, "unparsed")
    assert adjusted_score(question, "no_fabrication", Decisions([verdict_of("q", "c2", "absent")])) == (1.0, None)


def test_a_missed_claim_counts_and_can_be_decided_by_others() -> None:
    result = make_result("q", "v")
    added = replace(
        add_claim(case_of(result), "The valve opens at 9 V.", "contradicted", Act("ann", at_next_moment())), id="added"
    )
    assert (added.claim_id, added.judge_verdict) == ("m1", None)
    assert adjusted_score(audited([result])[0], "no_fabrication", Decisions([added])) == (0.0, None)
    bob = recorded(case_of(result, [added]), "m1", "verified", "bob")
    claims = effective_claims(
        "q", None, result.claim_judgment.claims if result.claim_judgment else (), Decisions([added, bob])
    )
    assert (claims[1].id, claims[1].missed, claims[1].basis, claims[1].verdict) == ("m1", True, Basis.DISPUTED, None)
    assert adjusted_score(audited([result])[0], "no_fabrication", Decisions([added, bob])) == (1.0, None)
    changed = recorded(case_of(result, [added, bob]), "m1", "verified", "ann")
    assert adjusted_score(audited([result])[0], "claim_precision", Decisions([added, bob, changed])) == (1.0, None)
    assert len(effective_claims("q", None, (), Decisions([added, undo_of(added)]))) == 0


def test_two_reviewers_number_their_claims_apart_even_after_a_merge() -> None:
    result = make_result("q", "v")
    ann = replace(add_claim(case_of(result), "One.", "absent", Act("ann", at_next_moment())), id="a")
    bob = replace(add_claim(case_of(result), "Two.", "verified", Act("bob", at_next_moment())), id="b")
    assert ann.claim_id == bob.claim_id == "m1"
    assert [claim.id for claim in effective_claims("q", None, (), Decisions([bob, ann]))] == ["m1", "m2"]
    decided = recorded(case_of(result, [ann, bob]), "m2", "absent", "eve")
    assert decided.claim_hash == bob.claim_hash, "the verdict goes to the claim that is shown by that name"
    third = add_claim(case_of(result, [ann]), "Two.", "verified", Act("bob", at_next_moment()))
    assert third.claim_id == "m2"


def test_an_added_claim_is_hashed_as_it_is_stored() -> None:
    added = add_claim(case_of(RESULT), "Opens \udcff early. ", "absent", Act("ann", at_next_moment()))
    assert added.text == "Opens \ufffd early."
    assert added.claim_hash == claim_hash(added.text)


def test_recording_says_how_much_was_seen() -> None:
    sample = make_sample(["q"], 1)
    blind = recorded(case_of(RESULT, (), sample), "c1", "verified", blind=True)
    assert (blind.blind, blind.informed, blind.queue, blind.sample_id) == (True, False, Queue.SAMPLE, "s1")
    assert blind.judge_verdict == "verified"
    seen = recorded(case_of(RESULT, [blind], sample), "c1", "absent")
    assert (seen.blind, seen.informed, seen.supersedes) == (False, True, (blind.id,))
    again = recorded(case_of(RESULT, [blind, seen], sample), "c1", "verified", blind=True)
    assert (again.blind, again.informed) == (False, True)
    assert recorded(case_of(RESULT), "c1", "verified").queue is Queue.OTHER


def test_an_adjudication_by_someone_who_saw_the_judge_is_not_blind() -> None:
    seen = recorded(case_of(RESULT), "c1", "verified", "eve")
    both = [seen, recorded(case_of(RESULT), "c1", "absent", "bob", blind=True)]
    by_eve, by_cy = (
        adjudicate(case_of(RESULT, both), "c1", "absent", Act(name, at_next_moment(), blind=True))
        for name in ("eve", "cy")
    )
    assert (by_eve.blind, by_eve.informed) == (False, True)
    assert (by_cy.blind, by_cy.informed) == (True, False)


def test_recording_refuses_what_does_not_exist() -> None:
    act = Act("ann", at_next_moment())
    with pytest.raises(UsageError, match="no claim 'c9'"):
        decide_claim(case_of(RESULT), "c9", "verified", act)
    with pytest.raises(UsageError, match="no such verdict"):
        decide_claim(case_of(RESULT), "c1", "unparsed", act)
    with pytest.raises(UsageError, match="listed that claim as c2"):
        add_claim(case_of(RESULT), "q says 2", "verified", act)
    with pytest.raises(UsageError, match="do not differ"):
        adjudicate(case_of(RESULT), "c1", "verified", act)
    with pytest.raises(UsageError, match="no metric 'truth'"):
        score_answer(case_of(RESULT), "truth", 3, act)
    for computed, why in (("hit_at_1", "computed, not judged"), ("no_fabrication", "follows from the verdicts")):
        with pytest.raises(UsageError, match=why):
            score_answer(case_of(RESULT), computed, 0, act)
    with pytest.raises(UsageError, match=r"faithfulness goes from 0\.0 to 10\.0"):
        score_answer(case_of(make_result("q", "v", scores=(5, 5))), "faithfulness", 11, act)


def test_undo_of_anothers_or_an_old_decision_is_refused() -> None:
    ann = recorded(case_of(RESULT), "c1", "absent")
    change = recorded(case_of(RESULT, [ann]), "c1", "contradicted")
    act = Act("ann", at_next_moment())
    with pytest.raises(UsageError, match="is ann's, not yours"):
        undo(ann, Decisions([ann]), Act("bob", at_next_moment()))
    with pytest.raises(UsageError, match="replaced by a later one"):
        undo(ann, Decisions([ann, change]), act)
    with pytest.raises(UsageError, match="undone already"):
        undo(ann, Decisions([ann, undo_of(ann)]), act)


def test_a_persons_scores_adjust_by_their_mean() -> None:
    result = make_result("q", "v", scores=(8, 6))
    scores = [
        replace(score_answer(case_of(result), "faithfulness", value, Act(name, at_next_moment())), id=name)
        for name, value in (("ann", 4.0), ("bob", 5.0), ("eve", None))
    ]
    assert adjusted_score(audited([result])[0], "faithfulness", Decisions(scores)) == (4.5, None)
    assert adjusted_score(audited([result])[0], "completeness", Decisions(scores)) == (6.0, None)
