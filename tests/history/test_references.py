"""What a person may write for a run."""

import asyncio
from pathlib import Path

import pytest

from rag_audit.errors import UsageError
from rag_audit.history import History, check_label
from rag_audit.history.references import resolve_run
from rag_audit.importers.importing import Imported, ImportOptions, import_paths
from rag_audit.model import Origin, RunContext, RunStatus, RunSummary
from rag_audit.pipeline import run_evaluation


def _run(run_id: str, label: str, status: RunStatus) -> RunSummary:
    return RunSummary(
        id=run_id,
        label=label,
        status=status,
        origin=Origin.EVALUATED,
        started_at="2026-01-01T00:00:00Z",
        context=RunContext(),
    )


def test_the_label_of_a_run_that_has_not_ended_leads_to_its_id() -> None:
    archived, going = (
        _run("20260101-a", "done", RunStatus.COMPLETE),
        _run("20260102-b", "going", RunStatus.RUNNING),
    )
    with pytest.raises(UsageError, match="no archived run going") as caught:
        resolve_run("going", [archived], [going])
    assert caught.value.hint == "Write 20260102-b."
    assert resolve_run("20260102-b", [archived], [going]) is going
    assert resolve_run("20260102", [archived], [going]) is going


@pytest.mark.parametrize("label", ["latest", "latest~1", "base~9", "a\n~1"])
def test_a_label_that_means_a_place_is_refused(label: str, tmp_path: Path) -> None:
    for act in (
        lambda: asyncio.run(run_evaluation(tmp_path, label=label)),
        lambda: list(import_paths(tmp_path, [tmp_path], ImportOptions(label=label))),
    ):
        with pytest.raises(UsageError, match="cannot be a label") as caught:
            act()
        assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("label", ["latest-2", "~1", "base~", "base~x", "", None])
def test_other_labels_are_taken(label: str | None) -> None:
    check_label(label)


def test_a_file_called_like_a_place_gets_a_label_that_is_reached(tmp_path: Path) -> None:
    path = tmp_path / "latest.jsonl"
    path.write_text('{"id": "a", "question": "How long?", "answer": "12 ms", "scores": {"faithfulness": 5}}\n')
    (imported,) = import_paths(tmp_path, [path], ImportOptions())
    assert isinstance(imported, Imported)
    assert History(tmp_path).resolve("latest (imported)").id == imported.summary.id
