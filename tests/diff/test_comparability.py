"""Whether two runs may be compared, metric by metric, and what stands against it."""

from dataclasses import replace

import pytest

from rag_audit.model import QuestionResult, RunContext
from tests.diff.made import CONTEXT, diff, result, run

SCORES = {"faithfulness": 8.0, "hit_at_1": 1.0}


def _results(judge: tuple[str, str] | None = ("offline", "p2"), reported: str | None = None) -> list[QuestionResult]:
    return [result(name, scores=SCORES, score_judge=judge, reported=reported) for name in ("q1", "q2")]


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (("other", "p2"), "model offline → other"),
        (("offline", "p9"), "prompt p2 → p9"),
    ],
)
def test_another_judge_or_prompt_makes_judged_metrics_incomparable(after: tuple[str, str], says: str) -> None:
    found = diff(run("b", _results()), run("a", _results(after)))
    assert found.comparable["faithfulness"].ok is False
    assert says in found.comparable["faithfulness"].reasons[0]
    assert found.metrics["faithfulness"].verdict == "not_comparable"
    assert found.metrics["faithfulness"].p_value is None
    assert found.metrics["faithfulness"].delta == 0
    assert found.comparable["hit_at_1"].ok is True


def test_the_model_as_reported_counts() -> None:
    found = diff(run("b", _results(reported="m-1")), run("a", _results(reported="m-2")))
    assert found.comparable["faithfulness"].ok is False
    assert "reported model m-1 → m-2" in found.comparable["faithfulness"].reasons[0]


def test_two_reported_models_in_one_run_are_mixed() -> None:
    mixed = [_results(reported="m-1")[0], _results(reported="m-2")[1]]
    found = diff(run("b", mixed), run("a", mixed))
    assert found.comparable["faithfulness"].ok is False
    assert "mixed scores judges before: m-1, m-2" in found.comparable["faithfulness"].reasons


def test_a_judge_that_one_side_does_not_record_leaves_it_unverified() -> None:
    nobody = replace(CONTEXT, judges={"claims": "unknown", "scores": "unknown"}, prompts={})
    found = diff(run("b", _results()), run("a", _results(None), context=nobody))
    assert found.comparable["faithfulness"].ok is None
    assert "not recorded after" in found.comparable["faithfulness"].reasons[0]
    assert found.comparable["hit_at_1"].ok is True


def test_nothing_recorded_at_all_leaves_everything_unverified() -> None:
    found = diff(run("b", _results(None), context=RunContext()), run("a", _results(None), context=RunContext()))
    assert {name: comparable.ok for name, comparable in found.comparable.items()} == {
        "hit_at_1": None,
        "faithfulness": None,
    }


def test_judges_named_without_a_prompt_are_the_same_by_name_for_own_metrics_only() -> None:
    named = RunContext(generator="g", judges={"claims": "j", "scores": "j"})
    results = [result("q", scores={"faithfulness": 8.0, "tool.faithfulness": 0.8}, score_judge=None)]
    found = diff(run("b", results, context=named), run("a", results, context=named))
    assert found.comparable["faithfulness"].ok is True
    assert "neither side records a prompt" in found.comparable["faithfulness"].reasons[0]
    assert found.comparable["tool.faithfulness"].ok is None


def test_a_judge_of_one_row_outranks_the_context() -> None:
    before = [result("q", claims=[("a", "verified")], judge=("j", "1"))]
    after = [result("q", claims=[("a", "contradicted")], judge=("j", "2"))]
    found = diff(run("b", before), run("a", after))
    assert found.comparable["no_fabrication"].ok is False
    assert "prompt 1 → 2" in found.comparable["no_fabrication"].reasons[0]


def test_a_metric_that_one_run_did_not_measure_is_not_comparable() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0, "faithfulness": 8.0})])
    after = run("a", [result("q", scores={"hit_at_1": 1.0}, missing={"faithfulness": "not_asked"})])
    found = diff(before, after)
    assert found.comparable["faithfulness"].ok is False
    assert "not measured after" in found.comparable["faithfulness"].reasons
    assert found.metrics["faithfulness"].n_paired == 0


def test_context_changes_come_likeliest_cause_first() -> None:
    before = run("b", [result("q", scores={"hit_at_1": 1.0}, chunks=["x"])])
    after = run(
        "a",
        [result("q", scores={"hit_at_1": 0.0}, chunks=["y"])],
        generator="other",
        chunking={"docs": {"size": 1200}},
        version="2",
        embedder="unknown",
    )
    changes = diff(before, after).context_changes
    assert [change.key for change in changes] == ["chunking.docs.size", "embedder", "generator", "version"]
    assert (changes[0].before, changes[0].after) == (800, 1200)
    assert changes[1].after == "unknown"
