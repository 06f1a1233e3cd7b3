"""questions.yml: read with a line for every entry, checked field by field, all problems collected."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_audit import yamlfile
from rag_audit.corpus.problem import Problem
from rag_audit.errors import ConfigError
from rag_audit.folders import check_inside
from rag_audit.model import Question

QUESTIONS_FILE = "questions.yml"
_ORIGINS = ("generated", "written", "production")


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """What questions.yml holds: the usable questions and everything that is wrong with the others."""

    questions: tuple[Question, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


class _Refused(Exception):
    """A value of a field that cannot be used."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def load_questions(project: Path) -> tuple[Question, ...]:
    """The questions of a project, in the order of the file; raises ConfigError for the first problem."""
    read = read_questions(project)
    for problem in read.problems:
        raise problem.error()
    return read.questions


def read_questions(project: Path) -> QuestionFile:
    """Read questions.yml and collect every problem; raises ConfigError only where the file cannot be read at all."""
    path = project / QUESTIONS_FILE
    if not path.is_file():
        raise ConfigError(
            "no questions.yml", "Write one, or start a project with rag-audit init.", where=QUESTIONS_FILE
        )
    check_inside(path, project)
    node = yamlfile.read_yaml(path, QUESTIONS_FILE)
    if isinstance(node, yamlfile.Mapping) and list(node.entries) == ["questions"]:
        node = node.entries["questions"]
    if node is None or (isinstance(node, yamlfile.Sequence) and not node.items):
        problem = Problem(QUESTIONS_FILE, 1, None, "no questions", "Write at least one entry with id and question.")
        return QuestionFile((), (problem,))
    if not isinstance(node, yamlfile.Sequence):
        problem = Problem(QUESTIONS_FILE, node.line, None, "not a list of questions", "Begin each entry with `- id:`.")
        return QuestionFile((), (problem,))
    return _read_entries(node)


def _read_entries(entries: yamlfile.Sequence) -> QuestionFile:
    questions: list[Question] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    line_of: dict[str, int] = {}
    for entry in entries.items:
        if not isinstance(entry, yamlfile.Mapping):
            problem = f"an entry must be a mapping, not {yamlfile.kind_of(entry)}"
            problems.append(Problem(QUESTIONS_FILE, entry.line, None, problem, "Begin each entry with `- id:`."))
            continue
        question = _read_entry(entry, problems, warnings)
        if question is None:
            continue
        if question.id in line_of:
            problem = f"the id {question.id!r} is there twice (first in line {line_of[question.id]})"
            problems.append(
                Problem(QUESTIONS_FILE, entry.line, question.id, problem, "Give each question an id of its own.")
            )
            continue
        line_of[question.id] = entry.line
        questions.append(question)
    return QuestionFile(tuple(questions), tuple(problems), tuple(warnings))


def _read_entry(entry: yamlfile.Mapping, problems: list[Problem], warnings: list[Problem]) -> Question | None:
    """One question, or None where a field of it cannot be used."""
    identity = entry.entries.get("id")
    shown_id = identity.text if isinstance(identity, yamlfile.Scalar) else None
    found: dict[str, Any] = {"line": entry.line}
    wrong: set[str] = set()
    for name, node in entry.entries.items():
        line = entry.key_lines[name]
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, _FIELDS, n=1, cutoff=0.75)
            if near:
                hint = f"Did you mean {near[0]}?"
                problems.append(Problem(QUESTIONS_FILE, line, shown_id, f"unknown field {name!r}", hint))
                wrong.update((name, *near))
            else:
                warnings.append(
                    Problem(QUESTIONS_FILE, line, shown_id, f"the field {name!r} is not known and not used")
                )
            continue
        if isinstance(node, yamlfile.Scalar) and node.is_null:
            continue
        try:
            found[name] = _FIELDS[name](node)
        except _Refused as refused:
            problem = f"{name} {refused.problem}"
            problems.append(Problem(QUESTIONS_FILE, node.line, shown_id, problem, refused.hint))
            wrong.add(name)
    for name in ("id", "question"):
        if name not in found and name not in wrong:
            hint = "Every entry needs an id and a question."
            problems.append(Problem(QUESTIONS_FILE, entry.line, shown_id, f"no {name}", hint))
            wrong.add(name)
    return None if wrong else Question(**found)


def _text(node: yamlfile.Node) -> str:
    if not isinstance(node, yamlfile.Scalar):
        raise _Refused(f"must be text, not {yamlfile.kind_of(node)}", "Write it on one line, or after `|`.")
    if not node.text.strip():
        raise _Refused("is empty", "Write a text, or leave the field out.")
    return node.text


def _name(node: yamlfile.Node) -> str:
    """A text on one line without spaces around it."""
    text = _text(node).strip()
    if "\n" in text or "\r" in text:
        raise _Refused("must be one line", "Write it on one line.")
    return text


def _list(node: yamlfile.Node) -> tuple[str, ...]:
    if not isinstance(node, yamlfile.Sequence):
        raise _Refused(f"must be a list, not {yamlfile.kind_of(node)}", "Write it as [first, second].")
    return tuple(_text(item) for item in node.items)


def _one_or_more(read: Callable[[yamlfile.Node], str]) -> Callable[[yamlfile.Node], tuple[str, ...]]:
    def texts(node: yamlfile.Node) -> tuple[str, ...]:
        items = node.items if isinstance(node, yamlfile.Sequence) else (node,)
        return tuple(dict.fromkeys(read(item) for item in items))

    return texts


def _switch(node: yamlfile.Node) -> bool:
    value = yamlfile.as_boolean(node.text) if isinstance(node, yamlfile.Scalar) else None
    if value is None:
        raise _Refused("must be true or false", "Write true or false.")
    return value


def _origin(node: yamlfile.Node) -> str:
    text = _name(node)
    if text not in _ORIGINS:
        raise _Refused(f"cannot be {text!r}", f"It takes {', '.join(_ORIGINS)}.")
    return text


_FIELDS: Mapping[str, Callable[[yamlfile.Node], Any]] = {
    "id": _name,
    "question": _text,
    "reference_answer": _text,
    "doc_id": _name,
    "keywords": _list,
    "also_docs": _one_or_more(_name),
    "gold": _one_or_more(_text),
    "cross_corpus": _switch,
    "corpora": _one_or_more(_name),
    "context": _text,
    "source": _name,
    "answerable": _switch,
    "tags": _one_or_more(_name),
    "origin": _origin,
    "drafted_by": _name,
    "reviewed": _switch,
}
