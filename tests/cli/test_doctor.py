"""`doctor` on projects that are whole, bare and wrong."""

from pathlib import Path

import pytest

from tests.cli.invoke import rag_audit
from tests.projects import make_project


def test_it_says_which_keys_are_there_and_never_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-value")
    monkeypatch.delenv("CO_API_KEY", raising=False)
    project = make_project(tmp_path)
    report = rag_audit(project, "doctor", "--json").json
    assert (report["keys"]["ANTHROPIC_API_KEY"], report["keys"]["CO_API_KEY"]) == (True, False)
    assert report["models"]["generator"] == "offline"
    text = rag_audit(project, "doctor").out
    assert "secret-value" not in text
    lines = dict(line.split(maxsplit=1) for line in text.splitlines() if line.startswith("  "))
    assert lines["ANTHROPIC_API_KEY"] == "present"
    assert lines["bytes"] == "0"


def test_wrong_settings_are_reported_like_the_rest(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project / "documents" / "config.yml").write_text("workers: many\n", encoding="utf-8")
    outcome = rag_audit(project, "doctor")
    assert outcome.code == 0
    assert "documents/config.yml:1: workers must be a whole number" in outcome.out
