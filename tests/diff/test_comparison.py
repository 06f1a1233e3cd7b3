"""Which earlier run a new one is compared with, and diffs whose evidence is gone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag_audit.comparison import previous_comparable
from rag_audit.history import History
from rag_audit.model import QuestionResult, RunContext
from tests.diff.archive import Shell, archive
from tests.diff.made import CONTEXT, result


def _judged(judge: str | None = "offline", ids: Sequence[str] = ("q1", "q2"), text: str = "") -> list[QuestionResult]:
    return [
        result(name, scores={"faithfulness": 8.0}, score_judge=(judge, "p2") if judge else None, text=text)
        for name in ids
    ]


def _previous(project: Path, run: str) -> str | None:
    found = previous_comparable(History(project), run)
    return found.id if found else None


def test_the_latest_run_whose_numbers_mean_the_same(tmp_path: Path) -> None:
    archive(tmp_path, "one", _judged())
    archive(tmp_path, "other-judge", _judged("strict"), judges={"claims": "strict", "scores": "strict"})
    archive(tmp_path, "other-questions", _judged(ids=("x", "y")))
    archive(tmp_path, "edited", _judged(text="all edited?"))
    archive(tmp_path, "now", _judged())
    archive(tmp_path, "later", _judged())
    assert _previous(tmp_path, "now") == "one"
    assert _previous(tmp_path, "later") == "now"
    assert _previous(tmp_path, "one") is None
    assert _previous(tmp_path, "nothing") is None


def test_a_run_of_few_questions_or_metrics_only_where_none_shares_more(tmp_path: Path) -> None:
    ids = ("q1", "q2", "q3")
    archive(tmp_path, "trial", _judged(ids=("q1",)))
    archive(tmp_path, "first", _judged(ids=ids))
    assert _previous(tmp_path, "first") == "trial"
    archive(tmp_path, "trial-again", _judged(ids=("q2",)))
    archive(tmp_path, "unjudged", [result(name, scores={"hit_at_1": 1.0}) for name in ids])
    with_hits = [replace(one, scores={**one.scores, "hit_at_1": 1.0}) for one in _judged(ids=ids)]
    archive(tmp_path, "second", with_hits)
    assert _previous(tmp_path, "trial-again") == "first"
    assert _previous(tmp_path, "unjudged") is None
    assert _previous(tmp_path, "second") == "unjudged"
    archive(tmp_path, "unjudged-again", [result(name, scores={"hit_at_1": 1.0}) for name in ids])
    archive(tmp_path, "third", with_hits)
    assert _previous(tmp_path, "third") == "second"


def test_an_unverified_run_only_where_there_is_no_verified_one(tmp_path: Path) -> None:
    archive(tmp_path, "imported", _judged(None), context=RunContext())
    archive(tmp_path, "first", _judged())
    assert _previous(tmp_path, "first") == "imported"
    archive(tmp_path, "imported-again", _judged(None), context=replace(CONTEXT, judges={}, prompts={}))
    archive(tmp_path, "second", _judged())
    assert _previous(tmp_path, "second") == "first"


def test_without_the_run_files_scores_and_gate_still_stand(shell: Shell) -> None:
    for name, value in (("before", 1.0), ("after", 0.0)):
        made = [
            result(f"q{at}", scores={"hit_at_1": value}, chunks=[name], claims=[("x", "verified")]) for at in range(12)
        ]
        archive(shell.project, name, made)
    whole = shell.json("diff", "before", "after", "--fail-on", "regression", code=1)
    (shell.project / "history" / "runs" / "after.jsonl").unlink()
    bare = shell.json("diff", "before", "after", "--fail-on", "regression", code=1)
    assert bare == whole
    assert "Regressed (12)" in shell.run("diff", "before", "after")
