import subprocess
import sys
from pathlib import Path

import pytest

from rag_audit.cli import run_command_line


def test_without_a_terminal_review_says_what_to_use_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["review"], []):
        assert run_command_line(["--project", str(tmp_path), *arguments]) == 2
        error, hint = capsys.readouterr().err.splitlines()
        assert error == "error: the terminal UI needs a terminal"
        assert hint.startswith("hint: Without one: ")


def test_the_verb_loads_textual_only_when_it_opens_the_screen() -> None:
    code = "import sys; import rag_audit.cli.review; assert not any(m.startswith('textual') for m in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
