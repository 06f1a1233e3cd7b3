from pathlib import Path

import pytest

from tests.cli.invoke import rag_audit
from tests.corpus.projects import two_corpora, write_files


def test_init_makes_a_project_that_is_in_order(tmp_path: Path) -> None:
    outcome = rag_audit(tmp_path, "init", str(tmp_path / "new"))
    assert outcome.code == 0
    assert (tmp_path / "new/.gitattributes").read_text() == "history/**/*.jsonl merge=union -text\n"
    assert ".rag-audit/" in (tmp_path / "new/.gitignore").read_text().splitlines()
    checked = rag_audit(tmp_path / "new", "questions", "check", "--json")
    assert (checked.code, checked.json["ok"], checked.json["warnings"]) == (0, True, [])


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    project = write_files(tmp_path, {"questions.yml": "mine", ".gitignore": "build/"})
    outcome = rag_audit(project, "init")
    assert outcome.code == 2
    assert outcome.err == (
        "error: questions.yml: is there already\nhint: init only starts new projects; name an empty folder.\n"
    )
    assert {path.name for path in project.iterdir()} == {"questions.yml", ".gitignore"}
    (project / "questions.yml").unlink()
    assert rag_audit(project, "init").code == 0
    assert (project / ".gitignore").read_text() == "build/\n.rag-audit/\n"


def test_questions_check_prints_every_problem(tmp_path: Path) -> None:
    questions = "- {id: A, question: q, doc_id: old/idel}\n- {id: A, question: q, doc_id: old/idle}\n"
    outcome = rag_audit(two_corpora(tmp_path, questions), "questions", "check", "--json")
    assert outcome.code == 2
    assert (outcome.json["ok"], outcome.json["questions"]) == (False, 1)
    assert [(p["file"], p["line"], p["id"], p["problem"]) for p in outcome.json["problems"]] == [
        ("questions.yml", 1, "A", "unknown doc_id old/idel"),
        ("questions.yml", 2, "A", "the id 'A' is there twice (first in line 1)"),
    ]
    text = rag_audit(tmp_path, "questions", "check")
    assert (text.code, text.out) == (2, "")
    assert "error: questions.yml:1: A: unknown doc_id old/idel\nhint: Did you mean old/idle" in text.err


def test_questions_check_reports_wrong_settings_too(tmp_path: Path) -> None:
    project = two_corpora(tmp_path, **{"documents/config.yml": "seed: 1\nworker: 3\n"})
    outcome = rag_audit(project, "questions", "check", "--json")
    assert outcome.code == 2
    assert [(p["file"], p["line"], p["problem"]) for p in outcome.json["problems"]] == [
        ("documents/config.yml", 2, "unknown setting worker")
    ]


def test_questions_check_shows_hostile_text_safely(tmp_path: Path) -> None:
    outcome = rag_audit(
        two_corpora(tmp_path, '- {id: "\\e[31mA", question: q, doc_id: "x\\u202e"}\n'), "questions", "check"
    )
    assert "\x1b" not in outcome.err
    assert "\u202e" not in outcome.err


def test_index_reports_what_it_did(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    (first,) = rag_audit(project, "index", "old", "--json").json["corpora"]
    assert first == {
        "corpus": "old",
        "files": 1,
        "chunks": 1,
        "added": 1,
        "changed": 0,
        "removed": 0,
        "embedded": 1,
        "rebuilt": None,
    }
    again = rag_audit(project, "index", "--json").json["corpora"]
    assert [(report["corpus"], report["embedded"]) for report in again] == [("new", 1), ("old", 0)]
    assert "chunks" in rag_audit(project, "index").out


@pytest.mark.parametrize(
    ("argv", "error", "hint"),
    [
        (("index", "odl"), "no corpus odl", "It takes new, old."),
        (("index", "--set", "chunking.sise=3"), "unknown setting chunking.sise", "Did you mean chunking.size?"),
        (("index", "--set", "chunking.size=0"), "chunking.size is out of range: 0", "50 to 100000"),
    ],
)
def test_wrong_use_is_two_lines_and_exit_2(tmp_path: Path, argv: tuple[str, ...], error: str, hint: str) -> None:
    outcome = rag_audit(two_corpora(tmp_path), *argv)
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert len(lines) == 2
    assert error in lines[0]
    assert hint in lines[1]


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ({"questions.yml": "- id: A\n bad: x\n"}, "questions.yml:2"),
        ({"questions.yml": "- &a {id: A, question: *a}\n"}, "questions.yml:1"),
        ({"questions.yml": "- {id: A, question: q, doc_id: old/nothing}\n"}, "questions.yml:1"),
        ({"documents/config.yml": "worker: 3\n"}, "documents/config.yml:1"),
        ({"documents/old/idle.md": b"a\nb\xff\n"}, "documents/old/idle.md:2"),
    ],
)
def test_run_stops_at_bad_input_and_leaves_no_run(tmp_path: Path, files: dict[str, str | bytes], where: str) -> None:
    project = write_files(two_corpora(tmp_path), files)
    outcome = rag_audit(project, "run", "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {where}: ")
    assert "\nhint: " in outcome.err
    assert not (project / "history").exists()
