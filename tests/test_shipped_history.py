"""The shipped history: its three runs come out again from documents and settings, and show what they are there for."""

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from rag_audit.cli import run_command_line
from rag_audit.comparison import diff_runs
from rag_audit.history import History
from rag_audit.model import Cause, FlagName, MetricVerdict, QuestionRow, RunDiff
from rag_audit.model.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
RUNS: dict[str, tuple[str, ...]] = runpy.run_path(str(ROOT / "scripts" / "make_history.py"))["RUNS"]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> History:
    project = tmp_path_factory.mktemp("shipped")
    shutil.copytree(ROOT / "history", project / "history")
    return History(project)


@pytest.fixture(scope="module")
def made_again(tmp_path_factory: pytest.TempPathFactory) -> History:
    project = tmp_path_factory.mktemp("made-again")
    shutil.copytree(ROOT / "documents", project / "documents")
    shutil.copy2(ROOT / "questions.yml", project)
    for label, options in RUNS.items():
        assert run_command_line(["--project", str(project), "run", "--label", label, *options]) == 0
    return History(project)


def _measured(row: QuestionRow) -> dict[str, Any]:
    return {
        "scores": row.scores,
        "missing": row.missing,
        "verdicts": row.verdicts,
        "route": (row.route, row.rule),
        "question": row.question_hash,
        "answer": row.answer_hash,
        "retrieved": row.context_hash,
        "excerpt": row.excerpt_hash,
    }


def _rows(history: History, label: str) -> dict[str, dict[str, Any]]:
    return {row.id: _measured(row) for row in history.archived(history.resolve(label).id).rows}


def _diff(history: History, before: str, after: str) -> RunDiff:
    return diff_runs(history, before, after, Settings(), with_claims=False)


def test_shipped_history_holds_the_three_runs_and_verifies(shipped: History) -> None:
    assert [summary.label for summary in shipped.summaries()] == list(RUNS)
    assert shipped.unclosed() == []
    assert shipped.verify().problems == ()


@pytest.mark.parametrize("label", RUNS)
def test_run_comes_out_again_from_documents_and_settings(shipped: History, made_again: History, label: str) -> None:
    assert _rows(made_again, label) == _rows(shipped, label)
    again, archived = (history.resolve(label).context for history in (made_again, shipped))
    assert again.questions_hash == archived.questions_hash
    assert again.corpora == archived.corpora
    assert again.chunking == archived.chunking


def test_without_routing_the_newer_unit_is_answered_from_the_older_manual(shipped: History) -> None:
    diff = _diff(shipped, "chunk-800", "no-routing")
    hit_at_1 = diff.metrics["hit_at_1"]
    assert hit_at_1.verdict is MetricVerdict.REGRESSED
    assert hit_at_1.before is not None
    assert hit_at_1.after is not None
    assert hit_at_1.before - hit_at_1.after > 0.15
    assert [change.key for change in diff.context_changes] == ["routing.enabled"]
    assert len(diff.questions.regressed) >= 15
    assert {delta.cause for delta in diff.questions.regressed} == {Cause.ROUTING}
    older_unit = {row.id for row in shipped.archived(diff.before).rows if row.corpus == "ecu-a4"}
    comparisons = {delta.id for delta in diff.questions.regressed if delta.id.startswith("CMP-")}
    assert {delta.id for delta in diff.questions.regressed} & older_unit <= comparisons


def test_without_routing_a_plausible_wrong_default_is_given(shipped: History) -> None:
    answers = {}
    for label in ("chunk-800", "no-routing"):
        generation = shipped.result(shipped.resolve(label).id, "B-DIA-01").generation
        assert generation is not None
        answers[label] = generation.answer
    assert "`diag_sec_lock_s` | 600 | s" in answers["chunk-800"]
    assert "`diag_sec_lock_s` | 10 | s" in answers["no-routing"]


def test_larger_chunks_sink_short_tables_while_other_questions_gain(shipped: History) -> None:
    diff = _diff(shipped, "chunk-800", "chunk-1200")
    assert diff.metrics["hit_at_1"].verdict is MetricVerdict.INCONCLUSIVE
    tags = {row.id: row.tags for row in shipped.archived(diff.before).rows}
    sunk = [
        delta.id
        for delta in (*diff.questions.regressed, *diff.questions.changed)
        if delta.metrics.get("hit_at_1") == (1.0, 0.0) and "short-table" in tags[delta.id]
    ]
    assert len(sunk) >= 2
    assert {delta.cause for delta in (*diff.questions.regressed, *diff.questions.improved)} == {Cause.SYSTEM}
    assert len(diff.questions.improved) >= 5


def test_claims_that_only_the_wrong_manual_supports_are_flagged(shipped: History) -> None:
    run = shipped.resolve("no-routing")
    flagged = {
        (result.question.id, flag.claim_id)
        for result in shipped.results(run.id)
        for flag in result.flags
        if flag.flag is FlagName.MISROUTED
    }
    assert ("B-DIA-01", None) in flagged
    assert ("B-DIA-01", "c2") in flagged
    assert shipped.resolve("chunk-800").flags.get(FlagName.MISROUTED, 0) == 0
