"""A module that collapses while the rest holds is named; a general decline is not."""

import pytest

from rag_audit.model import ArchivedRun
from tests.diff.made import diff, result, run


def _run(name: str, values: dict[str, list[float]], metric: str = "hit_at_1") -> ArchivedRun:
    return run(
        name,
        [
            result(f"{doc}-{at}", doc_id=doc, scores={metric: value}, chunks=[name])
            for doc, found in values.items()
            for at, value in enumerate(found)
        ],
    )


@pytest.mark.parametrize("metric", ["hit_at_1", "keyword_coverage"])
@pytest.mark.parametrize(
    ("after", "collapsed"),
    [
        ({"a": [1, 1, 1, 1, 0], "b": [1] * 40}, ["a"]),
        ({"a": [1, 1, 1, 1, 1], "b": [1] * 40}, []),
        ({"a": [0] * 5, "b": [0] * 2 + [1] * 38}, []),
        ({"a": [0] * 5, "b": [0] + [1] * 39}, ["a"]),
    ],
    ids=["drop of 0.2", "no drop", "the rest falls by 0.05", "the rest holds"],
)
def test_collapse(metric: str, after: dict[str, list[float]], collapsed: list[str]) -> None:
    before = _run("b", {"a": [1] * 5, "b": [1] * 40}, metric)
    found = diff(before, _run("a", after, metric)).modules
    assert [module.doc_id for module in found if module.collapse] == collapsed
    assert {module.doc_id for module in found} == {"a", "b"}


def test_one_module_alone_has_no_rest_that_could_hold() -> None:
    found = diff(_run("b", {"a": [1] * 5}), _run("a", {"a": [0] * 5})).modules
    assert [(module.doc_id, module.hit_at_1, module.collapse) for module in found] == [("a", (1.0, 0.0), False)]
    assert found[0].keyword_coverage == (None, None)


def test_a_question_that_moved_to_another_module_counts_for_neither() -> None:
    def made(name: str, moved: str, late: str | None) -> ArchivedRun:
        docs = {"q1": "a", "q2": moved, "q3": late}
        return run(name, [result(q, doc_id=doc, scores={"hit_at_1": 1.0}) for q, doc in docs.items()])

    before, after = made("b", "a", None), made("a", "c", "d")
    for found in (diff(before, after), diff(after, before)):
        assert {module.doc_id: module.questions for module in found.modules} == {"a": ("q1",), "d": ("q3",)}
