"""Puts made runs into a real history, and runs the command line on it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from rag_audit.cli import run_command_line
from rag_audit.history import History
from rag_audit.model import Origin, QuestionResult, RunContext, RunStatus, RunSummary
from rag_audit.summary import MetricKind, SummaryBuilder
from tests.diff.made import CONTEXT


def archive(
    project: Path,
    name: str,
    results: Sequence[QuestionResult],
    *,
    context: RunContext = CONTEXT,
    declared: dict[str, MetricKind] | None = None,
    origin: Origin = Origin.EVALUATED,
    **changes: Any,
) -> str:
    """Archive a run under an id that is also its label."""
    header = RunSummary(
        id=name,
        label=name,
        status=RunStatus.RUNNING,
        origin=origin,
        started_at="2026-01-01T00:00:00Z",
        context=replace(context, **changes),
        questions=len(results),
    )
    builder = SummaryBuilder(declared)
    writer = History(project).start(header, [(found.question.id, found.repeat) for found in results])
    for found in results:
        writer.append(found)
        builder.add(found)
    writer.close(builder.build(header, duration_s=1.0), builder.rows)
    return name


class Shell:
    """The command line on one project."""

    def __init__(self, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self._capsys = capsys

    def run(self, *argv: str, code: int = 0) -> str:
        """Run a verb, check its exit code, and return what it printed."""
        got = run_command_line(["--project", str(self.project), *argv])
        out, err = self._capsys.readouterr()
        assert got == code, f"exit {got}: {err}"
        return out if code != 2 else err

    def json(self, *argv: str, code: int = 0) -> Any:
        """Run a verb with --json and return the document."""
        return orjson.loads(self.run(*argv, "--json", code=code))
