"""Each question is in exactly one list, with the cause that the evidence allows."""

from dataclasses import replace

import pytest

from rag_audit.model import QuestionResult
from tests.diff.made import causes, diff, lists, result, run


def test_lists_follow_their_precedence() -> None:
    before = run(
        "b",
        [
            result("edited", text="old?", scores={"hit_at_1": 1.0}),
            result("unscored", scores={"faithfulness": 9.0, "hit_at_1": 1.0}),
            result("regressed", scores={"hit_at_1": 1.0}, chunks=["x"]),
            result("improved", scores={"hit_at_1": 0.0}, chunks=["x"]),
            result("mixed", scores={"hit_at_1": 1.0, "mrr": 0.2}, chunks=["x"]),
            result("text", scores={"hit_at_1": 1.0}, answer="old words"),
            result("same", scores={"hit_at_1": 1.0}),
            result("removed", scores={"hit_at_1": 1.0}),
        ],
    )
    after = run(
        "a",
        [
            result("added", scores={"hit_at_1": 1.0}),
            result("same", scores={"hit_at_1": 1.0}),
            result("text", scores={"hit_at_1": 1.0}, answer="new words"),
            result("mixed", scores={"hit_at_1": 0.0, "mrr": 0.9}, chunks=["y"]),
            result("improved", scores={"hit_at_1": 1.0}, chunks=["y"]),
            result("regressed", scores={"hit_at_1": 0.0}, chunks=["y"]),
            result(
                "unscored",
                scores={"hit_at_1": 0.0, "faithfulness": None},
                missing={"faithfulness": "timeout"},
                answer="other",
                chunks=["y"],
            ),
            result("edited", text="new?", scores={"hit_at_1": 0.0}),
        ],
    )
    found = diff(before, after)
    assert lists(found) == {
        "edited": "edited",
        "unscored": "unscored",
        "regressed": "regressed",
        "improved": "improved",
        "mixed": "changed",
        "text": "changed",
        "removed": "removed",
        "added": "added",
    }
    assert found.questions.unchanged == 1
    mixed = next(delta for delta in found.questions.changed if delta.id == "mixed")
    assert mixed.mixed
    assert mixed.metrics == {"hit_at_1": (1.0, 0.0), "mrr": (0.2, 0.9)}
    assert next(delta for delta in found.questions.changed if delta.id == "text").metrics == {}


@pytest.mark.parametrize("field", ["text", "reference", "keywords"])
def test_a_question_is_edited_where_what_was_asked_differs(field: str) -> None:
    changed: dict[str, object] = {"text": "other?", "reference": "other", "keywords": ("other",)}
    before = run("b", [result("q", scores={"faithfulness": 9.0})])
    after = run("a", [result("q", scores={"faithfulness": 1.0}, answer="other", **{field: changed[field]})])  # type: ignore[arg-type]
    found = diff(before, after)
    assert lists(found) == {"q": "edited"}
    assert found.metrics["faithfulness"].n_paired == 0
    assert found.metrics["faithfulness"].delta is None


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("timeout", "unscored"), ("unparsed", "unscored"), ("no_claims", "changed"), ("unanswerable", "changed")],
)
def test_only_a_failed_reason_makes_a_question_unscored(reason: str, expected: str) -> None:
    scored = result("q", scores={"faithfulness": 9.0})
    missing = result("q", scores={"faithfulness": None}, missing={"faithfulness": reason})
    other = [result("p", scores={"faithfulness": 9.0})]
    for pair in ((scored, missing), (missing, scored)):
        found = diff(run("b", [*other, pair[0]]), run("a", [*other, pair[1]]))
        assert lists(found) == {"q": expected}


def test_failed_on_both_sides_is_not_unscored_on_one_side() -> None:
    missing = result("q", scores={"faithfulness": None}, missing={"faithfulness": "timeout"})
    other = result("p", scores={"faithfulness": 9.0})
    found = diff(run("b", [missing, other]), run("a", [missing, other]))
    assert lists(found) == {}
    assert found.questions.unchanged == 2
    assert found.metrics["faithfulness"].n_paired == 1


SAME, OTHER = ("offline", "p2"), ("other", "p2")


def _judged(answer: str, value: float, judge: tuple[str, str] | None = SAME, chunk: str = "x") -> QuestionResult:
    return result("q", scores={"faithfulness": value}, answer=answer, score_judge=judge, chunks=[chunk])


@pytest.mark.parametrize(
    ("after", "cause", "where"),
    [
        (_judged("old", 5, OTHER), "judge", "changed"),
        (_judged("old", 5), "judge", "changed"),
        (_judged("new", 5), "system", "regressed"),
        (_judged("old", 5, chunk="y"), "system", "regressed"),
        (_judged("new", 5, OTHER), "unknown", "changed"),
        (_judged("old", 5, OTHER, chunk="y"), "judge", "changed"),
    ],
    ids=["other judge", "noise", "other answer", "other chunks", "both changed", "other judge and chunks"],
)
def test_cause_of_a_judged_metric(after: QuestionResult, cause: str, where: str) -> None:
    found = diff(run("b", [_judged("old", 8)]), run("a", [after]))
    assert causes(found) == {"q": cause}
    assert lists(found) == {"q": where}


def test_another_route_is_the_cause_whatever_else_changed() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 0.0, "faithfulness": 2.0}, route=["wrong"], answer="x")])
    after = run("a", [result("q", scores={"hit_at_1": 1.0, "faithfulness": 9.0}, answer="y", score_judge=OTHER)])
    found = diff(before, after)
    assert lists(found) == {"q": "improved"}
    assert found.questions.improved[0].causes == {"hit_at_1": "routing", "faithfulness": "routing"}


def test_the_order_of_the_corpora_is_no_route_and_an_unrecorded_one_no_change() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0}, route=["one", "two"], chunks=["x"])])
    for route in (["two", "one"], []):
        after = result("q", scores={"hit_at_1": 0.0}, chunks=["y"])
        after = replace(after, route=replace(after.route, corpora=tuple(route)))
        assert causes(diff(before, run("a", [after]))) == {"q": "system"}


def test_retrieval_follows_the_chunks_and_not_the_judge() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0, "faithfulness": 8.0}, chunks=["x"])])
    after = run("a", [result("q", scores={"hit_at_1": 0.0, "faithfulness": 5.0}, chunks=["y"], score_judge=OTHER)])
    delta = diff(before, after).questions.regressed[0]
    assert delta.causes == {"hit_at_1": "system", "faithfulness": "judge"}
    assert delta.cause == "system"


def test_relevance_moved_without_the_chunks_is_the_questions() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0})])
    after = [result("q", scores={"hit_at_1": 0.0})]
    assert causes(diff(before, run("a", after, questions_hash="other"))) == {"q": "questions"}
    assert causes(diff(before, run("a", after))) == {"q": "unknown"}


def test_lower_is_better_and_unknown_directions() -> None:
    from rag_audit.model import Direction

    declared = {"t.loss": ((0.0, 1.0), Direction.DOWN), "t.size": ((None, None), Direction.NONE)}
    before = run(
        "b",
        [
            result("up", scores={"t.loss": 0.2, "t.size": 3.0}, answer="x"),
            result("size", scores={"t.loss": 0.2, "t.size": 3.0}, answer="x"),
        ],
        declared=declared,
    )
    after = run(
        "a",
        [
            result("up", scores={"t.loss": 0.6, "t.size": 3.0}, answer="y"),
            result("size", scores={"t.loss": 0.2, "t.size": 900.0}, answer="y"),
        ],
        declared=declared,
    )
    found = diff(before, after)
    assert lists(found) == {"up": "regressed", "size": "changed"}
    mirrored = diff(after, before)
    assert lists(mirrored) == {"up": "improved", "size": "changed"}


def test_worst_comes_first_and_names_the_cause() -> None:
    before = run(
        "b",
        [
            result("little", scores={"faithfulness": 8.0, "hit_at_1": 1.0}, answer="x"),
            result("much", scores={"faithfulness": 8.0, "hit_at_1": 1.0}, answer="x"),
        ],
    )
    after = run(
        "a",
        [
            result("little", scores={"faithfulness": 7.0, "hit_at_1": 1.0}, answer="y"),
            result("much", scores={"faithfulness": 1.0, "hit_at_1": 1.0}, answer="y"),
        ],
    )
    assert [delta.id for delta in diff(before, after).questions.regressed] == ["much", "little"]


def test_unequal_repeats_count_their_question_once_by_its_mean() -> None:
    before = run("b", [result("q", scores={"faithfulness": v}, repeat=n, answer="x") for n, v in enumerate((6, 8), 1)])
    after = run(
        "a",
        [result("q", scores={"faithfulness": v}, repeat=n, answer="y") for n, v in enumerate((3, 4, 8), 1)]
        + [result("q", scores={"faithfulness": None}, missing={"faithfulness": "timeout"}, repeat=4, answer="y")],
    )
    found = diff(before, after)
    assert found.metrics["faithfulness"].n_paired == 1
    assert (found.metrics["faithfulness"].before, found.metrics["faithfulness"].after) == (7.0, 5.0)
    assert lists(found) == {"q": "regressed"}
    assert found.noise_floor["faithfulness"] == pytest.approx(((2 + 14) / 3) ** 0.5)


def test_other_reference_excerpts_leave_a_question_out_of_no_fabrication() -> None:
    before = run("b", [result("q", claims=[("a", "verified")], answer="x"), result("p", claims=[("a", "verified")])])
    after = run(
        "a",
        [
            result("q", claims=[("a", "contradicted")], answer="y", excerpt="another excerpt"),
            result("p", claims=[("a", "verified")]),
        ],
    )
    found = diff(before, after)
    assert found.metrics["no_fabrication"].n_paired == 1
    assert found.metrics["no_fabrication"].delta == 0
    assert lists(found) == {"q": "changed"}
    assert found.questions.changed[0].metrics["no_fabrication"] == (1.0, 0.0)
    assert "1 of 2" in found.comparable["no_fabrication"].reasons[0]


def test_one_direction_mirrors_the_other() -> None:
    values = [(0.9, 0.4, "x"), (0.1, 0.6, "y"), (0.5, 0.5, "z"), (0.3, 0.2, "w"), (1.0, 0.0, "v"), (0.2, 0.3, "u")]
    before = run("b", [result(f"q{i}", scores={"mrr": b}, chunks=[c]) for i, (b, _, c) in enumerate(values)])
    after = run("a", [result(f"q{i}", scores={"mrr": a}, chunks=[c * 2]) for i, (_, a, c) in enumerate(values)])
    there, back = diff(before, after), diff(after, before)
    swap = {"regressed": "improved", "improved": "regressed"}
    assert {name: swap.get(where, where) for name, where in lists(there).items()} == lists(back)
    assert causes(there) == causes(back)
    one, other = there.metrics["mrr"], back.metrics["mrr"]
    assert other.delta is not None
    assert one.delta == -other.delta
    assert other.ci_low is not None
    assert one.ci_high == -other.ci_low
    assert (one.p_value, one.p_adjusted) == (other.p_value, other.p_adjusted)


def test_order_of_the_rows_does_not_matter() -> None:
    made = [result(f"q{i}", scores={"mrr": i / 10}, chunks=[str(i)]) for i in range(10)]
    later = [result(f"q{i}", scores={"mrr": (i * 7 % 10) / 10}, chunks=[f"{i}!"]) for i in range(10)]
    assert diff(run("b", made), run("a", later)) == diff(run("b", made[::-1]), run("a", later[::-1]))
