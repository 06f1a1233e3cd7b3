from pathlib import Path

import pytest

from rag_audit.corpus.questions import load_questions, read_questions
from rag_audit.errors import ConfigError, InputError
from tests.corpus.projects import write_files


def read(tmp_path: Path, text: str | bytes) -> Path:
    return write_files(tmp_path, {"questions.yml": text})


def test_every_field_is_read(tmp_path: Path) -> None:
    text = """\
- id: EVT-01
  question: How long is the CAN transmission delay?
  reference_answer: 12 ms.
  doc_id: mss54/evt
  keywords: [12 ms, CAN, 0x1F, no, 1_000]
  also_docs: mss60/evt
  gold: |
    delay: 12 ms
  cross_corpus: yes
  corpora: [mss54, mss60]
  context: Traceback
  source: src/a.py:3
  answerable: true
  tags: [timing]
  origin: generated
  drafted_by: claude
  reviewed: false
"""
    (question,) = load_questions(read(tmp_path, text))
    assert question.keywords == ("12 ms", "CAN", "0x1F", "no", "1_000")
    assert (question.also_docs, question.gold) == (("mss60/evt",), ("delay: 12 ms\n",))
    assert (question.cross_corpus, question.reviewed, question.answerable) == (True, False, True)
    assert (question.source, question.origin, question.line) == ("src/a.py:3", "generated", 1)


def test_texts_stay_as_written(tmp_path: Path) -> None:
    text = "- id: 007\n  question: 12:30\n  reference_answer: no\n- {id: N, question: q, reference_answer: null}\n"
    first, second = load_questions(read(tmp_path, text))
    assert (first.id, first.question, first.reference_answer) == ("007", "12:30", "no")
    assert second.reference_answer is None


def test_questions_may_stand_under_a_key(tmp_path: Path) -> None:
    assert [question.id for question in load_questions(read(tmp_path, "questions:\n- {id: A, question: b}\n"))] == ["A"]


def test_escaped_pairs_are_one_character_and_lone_halves_are_refused(tmp_path: Path) -> None:
    (question,) = load_questions(read(tmp_path, '[{"id": "A", "question": "a\\ud83d\\ude00b"}]'))
    assert question.question == "a😀b"
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_questions(read(tmp_path, '[{"id": "A", "question": "a\\ud800b"}]'))


@pytest.mark.parametrize(
    ("text", "line", "problem", "hint"),
    [
        ("", 1, "no questions", "at least one"),
        ("[]", 1, "no questions", "at least one"),
        ("just text", 1, "not a list of questions", "- id:"),
        ("a: 1\n", 1, "not a list of questions", "- id:"),
        ("- one\n", 1, "an entry must be a mapping, not text", "- id:"),
        ("- question: q\n", 1, "no id", "id and a question"),
        ("- id: A\n", 1, "no question", "id and a question"),
        ("- {id: A, question: q}\n- {id: A, question: r}\n", 2, "the id 'A' is there twice (first in line 1)", "own"),
        ("- id: A\n  question: [q]\n", 2, "question must be text, not a list", "|"),
        ("- id: A\n  question: ''\n", 2, "question is empty", "leave the field out"),
        ("- id: A\n  question: q\n  keywords: one\n", 3, "keywords must be a list, not text", "[first, second]"),
        ("- id: A\n  question: q\n  keywords: [[a]]\n", 3, "keywords must be text, not a list", "|"),
        ("- id: A\n  question: q\n  answerable: perhaps\n", 3, "answerable must be true or false", "true or false"),
        ("- id: A\n  question: q\n  origin: dreamt\n", 3, "origin cannot be 'dreamt'", "generated, written"),
        ("- id: A\n  question: q\n  keyword: [a]\n", 3, "unknown field 'keyword'", "Did you mean keywords?"),
        ("- id: |\n    A\n    B\n  question: q\n", 1, "id must be one line", "one line"),
    ],
)
def test_wrong_entry_is_refused_with_its_line(tmp_path: Path, text: str, line: int, problem: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_questions(read(tmp_path, text))
    assert caught.value.where == f"questions.yml:{line}"
    assert problem in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("content", "where", "problem"),
    [
        (b"- id: A\n  question: f\xfcr\n", "questions.yml:2", "not UTF-8"),
        (b"- id: A\n question: b\n", "questions.yml:2", "not valid YAML"),
        (b"- &x {id: A, question: b}\n- *x\n", "questions.yml:1", "the id 'A' is there twice"),
        (b"- id: A\n  question: [b]\n", "questions.yml:2", "question must be text, not a list"),
        (b"- id: A\n  questoin: b\n", "questions.yml:2", "unknown field 'questoin'"),
        (b"- !!python/name:os.system {}\n", "questions.yml:1", "the tag"),
        (b"- id: A\n  question: b\n  id: C\n", "questions.yml:3", "'id' is there twice (first in line 1)"),
    ],
)
def test_unreadable_file_is_refused_with_its_line(tmp_path: Path, content: bytes, where: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_questions(read(tmp_path, content))
    assert caught.value.where == where
    assert problem in caught.value.message


def test_shared_fields_are_merged_and_own_ones_win(tmp_path: Path) -> None:
    text = (
        "- &first {id: A, question: b, doc_id: a/b, tags: &tags [x, y]}\n"
        "- {<<: *first, id: B}\n"
        "- {id: C, question: c, <<: [{doc_id: a/c}, *first], tags: *tags}\n"
    )
    first, second, third = load_questions(read(tmp_path, text))
    assert (second.id, second.question, second.doc_id, second.tags) == ("B", "b", first.doc_id, ("x", "y"))
    assert (third.question, third.doc_id, third.tags) == ("c", "a/c", ("x", "y"))


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no questions\.yml"):
        load_questions(tmp_path)


def test_file_outside_the_project_is_refused(tmp_path: Path) -> None:
    outside = write_files(tmp_path, {"outside.yml": "- {id: A, question: b}"}) / "outside.yml"
    project = tmp_path / "project"
    project.mkdir()
    (project / "questions.yml").symlink_to(outside)
    with pytest.raises(InputError, match="leads outside the project"):
        load_questions(project)


def test_all_problems_are_collected_and_strange_fields_are_warnings(tmp_path: Path) -> None:
    text = "- {id: A, question: [x], tags: {a: b}}\n- {question: y}\n- {id: C, question: z, severity: 3}\n"
    found = read_questions(read(tmp_path, text))
    assert [(problem.line, problem.id) for problem in found.problems] == [(1, "A"), (1, "A"), (2, None)]
    assert [question.id for question in found.questions] == ["C"]
    assert [str(warning) for warning in found.warnings] == [
        "questions.yml:3: C: the field 'severity' is not known and not used"
    ]
