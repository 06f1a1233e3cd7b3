"""What a person may write for a run."""

import pytest

from rag_audit.errors import UsageError
from rag_audit.history.references import resolve_run
from rag_audit.model import Origin, RunContext, RunStatus, RunSummary


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
