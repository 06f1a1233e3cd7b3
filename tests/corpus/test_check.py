from pathlib import Path

import pytest

from rag_audit.corpus.check import QuestionsReport, check_questions, prepare
from rag_audit.errors import ConfigError, RagAuditError
from tests.corpus.projects import settings_of, two_corpora, write_files


def checked(project: Path, *overrides: str) -> QuestionsReport:
    return check_questions(project, settings_of(project, *overrides))


def test_good_project_is_prepared(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    assert checked(project).ok
    prepared = prepare(project, settings_of(project))
    assert [question.id for question in prepared.questions] == ["OLD-1", "NEW-1"]
    assert prepared.table.corpus_of == {"old/idle": "old", "new/idle": "new"}


@pytest.mark.parametrize(
    ("entry", "problem", "hint"),
    [
        ("doc_id: old/idel", "unknown doc_id old/idel", "Did you mean old/idle"),
        ("doc_id: ../outside", "unknown doc_id ../outside", "No doc_id is like it"),
        ("doc_id: old/idle, also_docs: [new/ilde]", "unknown doc_id new/ilde", "Did you mean new/idle"),
        ("doc_id: old/empty", "the document old/empty has no text", "documents/old/empty.md"),
        ("doc_id: old/idle, corpora: [odl]", "unknown corpus odl", "new, old"),
        ("tags: [x]", "no doc_id", "answerable: false"),
        ("doc_id: old/idle, gold: 900 rpm", "the gold text is in none of its documents: '900 rpm'", "Copy"),
    ],
)
def test_problem_stops_the_run_before_it_costs_anything(tmp_path: Path, entry: str, problem: str, hint: str) -> None:
    questions = f"# comment\n- {{id: A, question: q, {entry}}}\n"
    project = two_corpora(tmp_path, questions, **{"documents/old/empty.md": " \n"})
    with pytest.raises(ConfigError) as caught:
        prepare(project, settings_of(project))
    assert caught.value.where == "questions.yml:2"
    assert problem in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("entry", ["answerable: false", "cross_corpus: true", "corpora: [old]"])
def test_question_without_a_document_may_say_why(tmp_path: Path, entry: str) -> None:
    assert checked(two_corpora(tmp_path, f"- {{id: A, question: q, {entry}}}\n")).ok


def test_all_problems_are_listed_in_the_order_of_the_file(tmp_path: Path) -> None:
    questions = """\
- {id: A, question: q, doc_id: old/nothing}
- {id: A2, question: [], doc_id: old/idle}
- {id: B, question: q, doc_id: new/nothing, gold: x}
"""
    report = checked(two_corpora(tmp_path, questions))
    assert [(problem.line, problem.id) for problem in report.problems] == [(1, "A"), (2, "A2"), (3, "B")]


def test_empty_document_that_nobody_needs_is_a_warning(tmp_path: Path) -> None:
    report = checked(two_corpora(tmp_path, **{"documents/old/empty.md": ""}))
    assert report.ok
    assert "documents/old/empty.md: no text" in [str(warning) for warning in report.warnings]


def test_warnings_name_what_leaves_a_number_out(tmp_path: Path) -> None:
    questions = "- {id: A, question: q, doc_id: old/idle, corpora: [new], reviewed: false}\n"
    report = checked(two_corpora(tmp_path, questions))
    assert [warning.problem for warning in report.warnings] == [
        "no reference_answer: completeness cannot be judged",
        "not reviewed: left out of gates",
        "is sent to new, but its documents are in old",
    ]


def test_unreadable_files_are_problems_of_the_report(tmp_path: Path) -> None:
    project = write_files(tmp_path, {"questions.yml": "- id: A\n question: b\n", "documents/a/x.md": b"\xff"})
    report = checked(project)
    assert [(problem.file, problem.line) for problem in report.problems] == [
        ("questions.yml", 2),
        ("documents/a/x.md", 1),
    ]
    with pytest.raises(RagAuditError):
        prepare(project, settings_of(project))


def test_default_corpus_must_exist(tmp_path: Path) -> None:
    report = checked(two_corpora(tmp_path), "routing.default_corpus=nwe")
    assert [problem.problem for problem in report.problems] == ["routing.default_corpus is 'nwe', which is no corpus"]
