"""Make the shipped history again: three runs of the shipped project, evaluated offline in a scratch copy.

Run it after a change of documents, questions, retrieval, judging or of the history's format. It replaces history/ only
when all three runs are complete and `verify` finds nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS: dict[str, tuple[str, ...]] = {
    "chunk-800": ("--set", "chunking.size=800"),
    "chunk-1200": ("--set", "chunking.size=1200"),
    "no-routing": ("--set", "chunking.size=800", "--no-routing"),
}
"""Label to the options of `run`, oldest first."""


def make_history(project: Path) -> None:
    """Evaluate the copied project three times; raises CalledProcessError where a step fails."""
    for name in ("documents", "questions.yml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name)
        else:
            shutil.copy2(source, project / name)
    for label, options in RUNS.items():
        print(f"{label}: rag-audit run {' '.join(options)}", flush=True)
        rag_audit(project, "run", "--label", label, *options)
    rag_audit(project, "verify")


def rag_audit(project: Path, *arguments: str) -> None:
    """Run one verb without settings from this machine's environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAG_AUDIT_")}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "rag_audit", "--project", str(project), *arguments]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    """Replace history/ of the checkout."""
    with tempfile.TemporaryDirectory(prefix="rag-audit-history-") as scratch:
        made = Path(scratch) / "project"
        made.mkdir()
        make_history(made)
        shipped = ROOT / "history"
        if shipped.exists():
            shutil.rmtree(shipped)
        shutil.copytree(made / "history", shipped)
    print(f"history/ holds {', '.join(RUNS)}")


if __name__ == "__main__":
    main()
