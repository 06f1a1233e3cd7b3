from pathlib import Path

import pytest

from tests.diff.archive import Shell


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    project = tmp_path / "project"
    project.mkdir()
    return Shell(project, capsys)
