"""`verify` and `history rebuild`."""

from pathlib import Path

import pytest

from tests.cli.invoke import rag_audit
from tests.history.examples import archive, decision


@pytest.fixture
def project(tmp_path: Path) -> Path:
    from rag_audit.history import History

    archive(tmp_path, "r1")
    History(tmp_path).record(decision("c1"))
    archive(tmp_path, "r2")
    return tmp_path


def test_verify_of_an_untouched_history(project: Path) -> None:
    outcome = rag_audit(project, "verify", "--json")
    assert outcome.code == 0
    assert outcome.json.keys() == {"ok", "runs", "head", "problems", "notes"}
    assert (outcome.json["ok"], outcome.json["runs"], outcome.json["problems"]) == (True, 2, [])
    assert rag_audit(project, "verify", "--head", outcome.json["head"]).code == 0
    said = rag_audit(project, "verify").out.splitlines()
    assert said == ["2 archived runs: unchanged", f"head: {outcome.json['head']}"]


def test_verify_without_a_history_creates_nothing(tmp_path: Path) -> None:
    outcome = rag_audit(tmp_path, "verify", "--json")
    assert (outcome.code, outcome.json["ok"], outcome.json["runs"], outcome.json["head"]) == (0, True, 0, None)
    assert list(tmp_path.iterdir()) == []


def test_verify_names_the_place_and_exits_1(project: Path) -> None:
    ledger = project / "history/eval_history.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"mean":0.5', b'"mean":0.6', 1))
    outcome = rag_audit(project, "verify", "--json")
    assert outcome.code == 1
    assert outcome.json["ok"] is False
    assert outcome.json["problems"][0] == {
        "file": "history/eval_history.jsonl",
        "line": 1,
        "offset": 0,
        "problem": "this line was changed after it was written",
    }
    assert "history/eval_history.jsonl:1 (byte 0): this line was changed" in rag_audit(project, "verify").out


def test_a_head_that_is_not_there_exits_1(project: Path) -> None:
    assert rag_audit(project, "verify", "--head", "0123456789abcdef").code == 1
    assert rag_audit(project, "verify", "--head", "").code == 1


def test_rebuild_writes_beside_the_ledger_once(project: Path) -> None:
    outcome = rag_audit(project, "history", "rebuild", "--json")
    assert (outcome.code, outcome.json["runs"], outcome.json["left_out"]) == (0, 2, [])
    assert Path(outcome.json["path"]).name == "eval_history.rebuilt.jsonl"
    again = rag_audit(project, "history", "rebuild")
    assert again.code == 2
    assert again.err.splitlines()[0].startswith("error: ")
