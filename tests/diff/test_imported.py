"""Imported pairs of runs, as another tool or a person's own script writes them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.cases import CASES
from tests.diff.archive import Shell

CONTEXT = {"generator": "g", "retriever": {"mode": "bm25"}, "judges": {"claims": "j", "scores": "j"}}


def _write(shell: Shell, name: str, lines: list[dict[str, Any]], context: dict[str, Any] | None = None) -> None:
    path = shell.project / f"{name}.jsonl"
    head = {"run": {"label": name, **({"context": context} if context else {})}}
    path.write_bytes(b"\n".join(orjson.dumps(line) for line in [head, *lines]))
    shell.run("import", str(path))


def _line(at: int, answer: str = "same", score: float = 8, **more: Any) -> dict[str, Any]:
    return {"id": f"q{at}", "question": f"What of {at}?", "answer": answer, "scores": {"faithfulness": score}, **more}


def test_a_named_judge_is_enough_to_compare_and_gate_own_metrics(shell: Shell) -> None:
    _write(shell, "a", [_line(at) for at in range(12)], CONTEXT)
    _write(shell, "b", [_line(at, f"new {at}", 5) for at in range(12)], CONTEXT)
    found = shell.json("diff", "a", "b", "--fail-on", "regression", code=1)
    assert found["comparable"]["faithfulness"]["ok"] is True
    assert found["metrics"]["faithfulness"]["verdict"] == "regressed"
    assert [reason["kind"] for reason in found["gate"]["reasons"]] == ["regression"]
    assert {delta["cause"] for delta in found["questions"]["regressed"]} == {"system"}


def test_without_a_context_the_numbers_are_shown_unverified(shell: Shell) -> None:
    _write(shell, "a", [_line(at) for at in range(12)])
    _write(shell, "b", [_line(at, f"new {at}", 5) for at in range(12)])
    found = shell.json("diff", "a", "b", "--fail-on", "regression", code=1)
    assert found["comparable"]["faithfulness"]["ok"] is None
    assert [reason["kind"] for reason in found["gate"]["reasons"]] == ["not_comparable"]
    assert {delta["cause"] for delta in found["questions"]["regressed"]} == {"unknown"}
    found = shell.json("diff", "a", "b", "--fail-on", "regression", "--allow-unverified", code=1)
    assert [reason["kind"] for reason in found["gate"]["reasons"]] == ["regression"]
    assert "regressed (unverified)" in shell.run("diff", "a", "b")


def test_the_judge_of_a_line_counts(shell: Shell) -> None:
    judge = {"model": "j", "prompt_hash": "1"}
    _write(shell, "a", [_line(at, judge=judge) for at in range(3)])
    _write(shell, "b", [_line(at, score=5, judge={**judge, "prompt_hash": "2"}) for at in range(3)])
    _write(shell, "c", [_line(at, "new", 5, judge=judge) for at in range(3)])
    found = shell.json("diff", "a", "b")
    assert found["comparable"]["faithfulness"]["ok"] is False
    assert {delta["cause"] for delta in found["questions"]["changed"]} == {"judge"}
    assert found["context_changes"] == [{"key": "prompts.scores", "before": "1", "after": "2"}]
    _write(shell, "d", [_line(at, score=5, judge={**judge, "prompt_hash": str(at)}) for at in range(1, 3)])
    assert "scores judge: prompt 1 → 2 (1 of 2 questions)" in shell.run("diff", "a", "d")
    found = shell.json("diff", "a", "c")
    assert found["context_changes"] == []
    assert {delta["cause"] for delta in found["questions"]["regressed"]} == {"system"}


def test_chunks_of_another_corpus_are_another_route(shell: Shell) -> None:
    def lines(corpus: str, hit: int) -> list[dict[str, Any]]:
        contexts = [{"text": "t", "doc_id": f"{corpus}/x", "corpus": corpus}]
        return [{**_line(at), "contexts": contexts, "scores": {"hit_at_1": hit}} for at in range(3)]

    _write(shell, "a", lines("old", 0), CONTEXT)
    _write(shell, "b", lines("new", 1), CONTEXT)
    found = shell.json("diff", "a", "b")
    assert {delta["cause"] for delta in found["questions"]["improved"]} == {"routing"}


def test_a_score_that_one_repeat_lacks_trips_the_incomplete_gate(shell: Shell) -> None:
    _write(shell, "a", [{**_line(0), "repeat": 1}, {**_line(0), "repeat": 2}], CONTEXT)
    failed = {**_line(0), "repeat": 2, "scores": {"faithfulness": None}}
    _write(shell, "b", [{**_line(0), "repeat": 1}, failed], CONTEXT)
    found = shell.json("diff", "a", "b", "--fail-on", "incomplete", code=1)
    assert [(reason["kind"], reason["metric"]) for reason in found["gate"]["reasons"]] == [
        ("incomplete", "faithfulness")
    ]
    assert found["metrics"]["faithfulness"]["n_paired"] == 1


def test_claims_held_against_other_excerpts_throughout_are_not_comparable(shell: Shell) -> None:
    def lines(excerpt: str) -> list[dict[str, Any]]:
        claims = [{"text": "It is so.", "verdict": "verified"}]
        return [{**_line(at), "claims": claims, "excerpt": excerpt} for at in range(3)]

    _write(shell, "a", lines("old"), CONTEXT)
    _write(shell, "b", lines("new"), CONTEXT)
    found = shell.json("diff", "a", "b", "--fail-on", "regression", code=1)
    assert found["comparable"]["no_fabrication"]["ok"] is False
    assert found["metrics"]["no_fabrication"]["verdict"] == "not_comparable"
    assert "not_comparable" in {reason["kind"] for reason in found["gate"]["reasons"]}
    assert found["comparable"]["faithfulness"]["ok"] is True


def test_an_answer_that_failed_is_a_change(shell: Shell) -> None:
    _write(shell, "a", [{**_line(at), "scores": {"hit_at_1": 1}} for at in range(3)], CONTEXT)
    failed = {**_line(0), "answer": None, "error": "timeout", "scores": {"hit_at_1": 1}}
    _write(shell, "b", [failed, *({**_line(at), "scores": {"hit_at_1": 1}} for at in (1, 2))], CONTEXT)
    found = shell.json("diff", "a", "b")
    assert [(delta["id"], delta["metrics"]) for delta in found["questions"]["changed"]] == [("q0", {})]
    assert found["questions"]["unchanged"] == 2


def test_equal_results_under_two_labels_are_two_runs(shell: Shell) -> None:
    for name in ("a", "b"):
        _write(shell, name, [_line(at) for at in range(3)], CONTEXT)
    found = shell.json("diff", "a", "b")
    assert found["before"] != found["after"]
    assert found["questions"]["unchanged"] == 3


@pytest.mark.skipif(CASES is None, reason="the shared cases are not here")
def test_two_real_azure_runs_read_as_a_person_would(shell: Shell) -> None:
    folder = Path(str(CASES)) / "imports" / "azure" / "real" / "ai-rag-chat-evaluator"
    for name in ("baseline", "prompt_nomarkdownmention"):
        shell.run("import", str(folder / name), "--label", name)
    found = shell.json("diff", "baseline", "prompt_nomarkdownmention")
    assert found["metrics"].keys() == {"azure.gpt_groundedness", "azure.gpt_relevance"}
    groundedness = found["metrics"]["azure.gpt_groundedness"]
    assert groundedness["n_paired"] == 200
    assert groundedness["before"] == pytest.approx(4.87)
    assert groundedness["verdict"] == "inconclusive"
    assert found["comparable"]["azure.gpt_groundedness"]["ok"] is None
    questions = found["questions"]
    listed = sum(len(questions[name]) for name in ("edited", "unscored", "regressed", "improved", "changed"))
    assert listed + questions["unchanged"] == 200
    assert [change["key"] for change in found["context_changes"]] == [
        "settings.target_parameters.overrides.prompt_template"
    ]
    text = shell.run("diff", "baseline", "prompt_nomarkdownmention")
    assert "No metric's total moved beyond what chance and the tolerance allow." in text
    assert "the judge's prompt is not recorded on either side" in text
