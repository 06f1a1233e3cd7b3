"""Where the shared reference cases are, if they are there at all; tests that need them skip otherwise."""

import os
from pathlib import Path


def _find() -> Path | None:
    named = os.environ.get("RAG_AUDIT_CASES")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "cases"
    return folder if folder.is_dir() else None


CASES: Path | None = _find()
