"""The demo: works on a scratch copy, says so first, and leaves the checkout as it was."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _checkout() -> dict[str, str]:
    files = [ROOT / "questions.yml", *(ROOT / "documents").rglob("*"), *(ROOT / "history").rglob("*")]
    return {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }


def _demo(scratch: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(scratch), "RAG_AUDIT_GENERATOR": "anthropic:claude-haiku-5-5"}
    command = [sys.executable, str(ROOT / "scripts" / "demo.py"), *options]
    return subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_demo_without_a_terminal_prints_summary_and_diff_and_leaves_nothing(tmp_path: Path) -> None:
    before = _checkout()
    finished = _demo(tmp_path)
    assert finished.returncode == 0, finished.stderr
    first, second, third = finished.stdout.splitlines()[:3]
    assert "demo" in first
    assert "No key, no network" in second
    assert str(tmp_path) in third
    assert "“demo” · complete" in finished.stdout
    assert "no-routing (" in finished.stdout
    assert "hit_at_1" in finished.stdout
    assert _checkout() == before
    assert list(tmp_path.iterdir()) == []


def test_demo_keeps_the_copy_where_it_is_told_to_and_overwrites_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    refused = _demo(tmp_path, "--keep", str(folder))
    assert refused.returncode == 2
    assert "not empty" in refused.stderr
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
