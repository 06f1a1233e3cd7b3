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
