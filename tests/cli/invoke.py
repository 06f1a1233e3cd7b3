"""Runs one command line in this process, as `rag-audit` would."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_audit.cli import run_command_line


@dataclass(frozen=True)
class Outcome:
    """What a command line printed and returned."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def rag_audit(project: Path, *argv: str) -> Outcome:
    """Run `rag-audit --project PROJECT ARGV…`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command_line(["--project", str(project), *argv])
    return Outcome(code, out.getvalue(), err.getvalue())
