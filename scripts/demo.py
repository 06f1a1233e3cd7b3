"""Show the product on the shipped project: evaluate a scratch copy offline, then open the review screen on it.

Without a terminal it prints the summary and the diff with the previous run. The checkout is never written to.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("documents", "questions.yml", "history")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit code of its last step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="copy to DIR (new or empty) and leave it there")
    keep: Path | None = parser.parse_args(argv).keep
    if keep is not None:
        if keep.exists() and any(keep.iterdir()):
            parser.error(f"{keep} is not empty")
        return show_on_copy(keep, kept=True)
    with tempfile.TemporaryDirectory(prefix="rag-audit-demo-") as scratch:
        return show_on_copy(Path(scratch), kept=False)


def show_on_copy(project: Path, *, kept: bool) -> int:
    """Copy the shipped project, evaluate it, and show the result."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    end = "It stays there." if kept else "It is thrown away at the end; --keep DIR keeps one."
    say("rag-audit demo: the manuals of two engine controllers and 69 questions about them.")
    say("No key, no network: the generator and the judges of this run are offline heuristics.")
    say(f"Working on a copy in {project}. {end}")
    say()
    copy_shipped_project(project)
    code = rag_audit(project, "run", "--label", "demo")
    if code != 0:
        return code
    if on_terminal:
        return rag_audit(project, "review")
    say()
    say("On a terminal the review screen opens here. The same from the command line, in your copy (--keep DIR):")
    say("  rag-audit diff chunk-800 no-routing    # what routing does: every changed question, cause routing")
    say("  rag-audit diff chunk-800 chunk-1200    # what larger chunks do, question by question")
    return 0


def copy_shipped_project(project: Path) -> None:
    """Copy documents, questions and history of the checkout."""
    project.mkdir(parents=True, exist_ok=True)
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name)
        elif source.exists():
            shutil.copy2(source, project / name)


def rag_audit(project: Path, *arguments: str) -> int:
    """Run one verb on the copy, offline: settings from this machine's environment are left out."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAG_AUDIT_")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "rag_audit", "--project", str(project), *arguments]
    return subprocess.run(command, env=environment, check=False).returncode


def say(text: str = "") -> None:
    """Print a line before anything a later step prints."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
