"""Claims of two answers are aligned one to one, the same way in both directions."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rag_audit.diff.claims import align_claims, claim_flips, flip_counts, worst_first
from rag_audit.history import History
from rag_audit.model import Claim, Verdict
from tests.diff.archive import archive
from tests.diff.made import result


def claims(*said: tuple[str, str]) -> list[Claim]:
    return [Claim(f"c{at}", text, Verdict(verdict)) for at, (text, verdict) in enumerate(said, 1)]


def test_case_spacing_and_final_punctuation_do_not_matter() -> None:
    before = claims(("The delay  is 12 ms.", "verified"))
    after = claims(("the delay is 12 ms", "contradicted"))
    flip = claim_flips("q", before, after)[0]
    assert (flip.before, flip.after) == ("verified", "contradicted")
    assert (flip.before_claim, flip.after_claim) == ("The delay  is 12 ms.", "the delay is 12 ms")


def test_another_value_is_the_same_claim() -> None:
    before = claims(("The polling interval is 30 seconds.", "verified"))
    after = claims(("The polling interval is 45 seconds.", "contradicted"))
    assert align_claims(before, after).matched == [(0, 0)]


def test_unlike_claims_are_gone_and_new() -> None:
    before = claims(("It listens on port 5432.", "verified"))
    after = claims(("Authentication uses certificates.", "absent"))
    flips = claim_flips("q", before, after)
    assert [(flip.before, flip.after) for flip in flips] == [("verified", None), (None, "absent")]


def test_equal_texts_prefer_equal_verdicts() -> None:
    before = claims(("x is y", "verified"), ("x is y", "contradicted"))
    after = claims(("x is y", "contradicted"), ("x is y", "verified"))
    assert claim_flips("q", before, after) == []


def test_the_most_similar_wins() -> None:
    before = claims(("The default retry limit of the client is 5", "verified"))
    after = claims(
        ("The default retry limit of the server is 9", "absent"),
        ("The default retry limit of the client is 6", "contradicted"),
    )
    assert align_claims(before, after).matched == [(0, 1)]


def test_worst_first_and_counted() -> None:
    flips = [
        *claim_flips("q1", claims(("a fact", "absent")), claims(("a fact", "verified"))),
        *claim_flips("q2", claims(), claims(("something new", "contradicted"))),
        *claim_flips("q3", claims(("a fact", "verified")), claims(("a fact", "contradicted"))),
        *claim_flips("q4", claims(("a fact", "verified")), claims(("a fact", "absent"))),
    ]
    assert [flip.question_id for flip in worst_first(flips)] == ["q3", "q4", "q2", "q1"]
    assert flip_counts(flips) == {
        "verified → contradicted": 1,
        "verified → absent": 1,
        "new contradicted": 1,
        "absent → verified": 1,
    }


_TEXTS = st.text(alphabet="ab 12", min_size=0, max_size=8)
_CLAIMS = st.lists(st.tuples(_TEXTS, st.sampled_from(["verified", "absent", "contradicted"])), max_size=6)


@given(_CLAIMS, _CLAIMS)
def test_alignment_is_one_to_one_and_mirrors(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
    there = align_claims(claims(*before), claims(*after))
    back = align_claims(claims(*after), claims(*before))
    assert {(i, j) for j, i in back.matched} == set(there.matched)
    assert sorted([*[i for i, _ in there.matched], *there.gone]) == list(range(len(before)))
    assert sorted([*[j for _, j in there.matched], *there.new]) == list(range(len(after)))


def test_claims_of_an_archived_run_are_those_of_its_results(tmp_path: Path) -> None:
    long = "a claim that is long enough to get a line of its own " * 10
    results = [
        result("q1", claims=[(long, "verified"), ("short", "absent")], repeat=1),
        result("q1", claims=[(long, "contradicted")], repeat=2),
        result("q2", scores={"mrr": 1.0}),
    ]
    archive(tmp_path, "run", results)
    history = History(tmp_path)
    assert [(one.question_id, one.repeat, one.claims) for one in history.claims("run")] == [
        (whole.question.id, whole.repeat, whole.claim_judgment.claims if whole.claim_judgment else ())
        for whole in history.results("run")
    ]
