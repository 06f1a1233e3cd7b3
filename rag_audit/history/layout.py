"""Where the files of a history are, and what a problem in one of them looks like."""

from dataclasses import dataclass
from pathlib import Path

from rag_audit.errors import HistoryError

GIT_ATTRIBUTES = "history/**/*.jsonl merge=union -text\n"
"""What a project's .gitattributes says so that branches that each added runs and decisions merge by lines."""
TORN = ".torn-"
"""Between the name of a file and the offset of a record that a crash tore off its end."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A place in a history file that is not as it was written."""

    file: str
    line: int | None
    """From 1; None where no single line is meant."""
    offset: int | None
    """Of the line, in bytes."""
    problem: str
    torn: bool = False
    """An unterminated last record: what a crash leaves, no damage to archived data."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths below a project's history/ folder."""

    folder: Path

    @property
    def ledger(self) -> Path:
        """One line a closed run."""
        return self.folder / "eval_history.jsonl"

    @property
    def rebuilt(self) -> Path:
        """The ledger that `history rebuild` writes."""
        return self.folder / "eval_history.rebuilt.jsonl"

    @property
    def samples(self) -> Path:
        """One line a draw."""
        return self.folder / "samples.jsonl"

    def run_file(self, run_id: str) -> Path:
        """The evidence of one run; HistoryError if the id is no plain file name."""
        if not run_id or Path(run_id).name != run_id or "\0" in run_id:
            raise HistoryError(f"{run_id!r} cannot be the id of a run", "Run `rag-audit verify`.")
        return self.folder / "runs" / f"{run_id}.jsonl"

    def run_files(self) -> list[Path]:
        """All run files, by id."""
        return sorted((self.folder / "runs").glob("*.jsonl"))

    def audit_files(self) -> list[Path]:
        """The files with decisions, one a reviewer."""
        return sorted((self.folder / "audits").glob("*.jsonl"))

    def torn_files(self) -> list[Path]:
        """Records that a crash tore off, kept beside their files."""
        return sorted(path for path in self.folder.rglob(f"*{TORN}*") if path.suffix != ".jsonl")

    def named(self, path: Path) -> str:
        """A path as it is written in reports: from the project's folder on."""
        return str(path.relative_to(self.folder.parent))
