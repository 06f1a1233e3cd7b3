"""Questions against documents: everything that would make a run stop or a number lie, found before money is spent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_audit.config import load_settings
from rag_audit.corpus.documents import Documents, scan_documents
from rag_audit.corpus.problem import Problem
from rag_audit.corpus.questions import QUESTIONS_FILE, QuestionFile, read_questions
from rag_audit.corpus.relevance import missing_gold
from rag_audit.errors import ConfigError, RagAuditError, UsageError
from rag_audit.model import Question
from rag_audit.model.settings import Settings
from rag_audit.routing import RoutingTable, build_routing_table

_SHOWN_GOLD = 60


@dataclass(frozen=True, slots=True)
class QuestionsReport:
    """What `questions check` says."""

    questions: int
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether a run would start."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Prepared:
    """A project that was read and checked: ready to be evaluated."""

    settings: Settings
    documents: Documents
    questions: tuple[Question, ...]
    table: RoutingTable
    warnings: tuple[str, ...] = ()


def check_questions(project: Path, settings: Settings) -> QuestionsReport:
    """Check questions.yml against documents/ and collect every problem, those that leave one unreadable included."""
    problems: list[Problem] = []
    read = QuestionFile(())
    documents = None
    try:
        read = read_questions(project)
    except RagAuditError as error:
        problems.append(_as_problem(error))
    try:
        documents = scan_documents(project, settings)
        _check_default_corpus(documents, settings)
    except RagAuditError as error:
        problems.append(_as_problem(error))
    if documents is None:
        return QuestionsReport(len(read.questions), (*problems, *read.problems), read.warnings)
    report = _compare(read, documents)
    return QuestionsReport(report.questions, (*problems, *report.problems), report.warnings)


def check_project(project: Path) -> QuestionsReport:
    """As `check_questions` with the project's own settings; settings that are wrong are a problem of the report."""
    try:
        settings = load_settings(project)
    except RagAuditError as error:
        return QuestionsReport(0, (_as_problem(error),), ())
    return check_questions(project, settings)


def prepare(project: Path, settings: Settings) -> Prepared:
    """Read and check a project; raises ConfigError or InputError for the first problem."""
    read = read_questions(project)
    documents = scan_documents(project, settings)
    _check_default_corpus(documents, settings)
    report = _compare(read, documents)
    for problem in report.problems:
        raise problem.error()
    warnings = tuple(str(warning) for warning in report.warnings)
    return Prepared(settings, documents, read.questions, build_routing_table(documents), warnings)


def _compare(read: QuestionFile, documents: Documents) -> QuestionsReport:
    """What is wrong with the questions, by themselves and against the documents, in the order of the file."""
    problems = list(read.problems)
    warnings = list(read.warnings)
    for question in read.questions:
        problems.extend(
            Problem(QUESTIONS_FILE, question.line, question.id, problem, hint)
            for problem, hint in _problems_of(question, documents)
        )
        warnings.extend(
            Problem(QUESTIONS_FILE, question.line, question.id, warning)
            for warning in _warnings_of(question, documents)
        )
    problems.sort(key=lambda problem: problem.line or 0)
    return QuestionsReport(len(read.questions), tuple(problems), (*warnings, *documents.warnings))


def _as_problem(error: RagAuditError) -> Problem:
    file, _, line = (error.where or "").rpartition(":")
    if not line.isdecimal():
        return Problem(error.where or "", None, None, error.message, error.hint)
    return Problem(file, int(line), None, error.message, error.hint)


def _check_default_corpus(documents: Documents, settings: Settings) -> None:
    name = settings.optional("routing.default_corpus")
    if name is not None and name not in documents.corpora:
        raise ConfigError(
            f"routing.default_corpus is {name!r}, which is no corpus", f"It takes {', '.join(documents.corpora)}."
        )


def _problems_of(question: Question, documents: Documents) -> Iterator[tuple[str, str]]:
    """What would make the run stop, or a number lie: (problem, hint)."""
    known = True
    for doc_id in question.relevant_docs:
        document = documents.get(doc_id)
        if document is None:
            known = False
            near = documents.nearest(doc_id)
            yield f"unknown doc_id {doc_id}", f"Did you mean {', '.join(near)}?" if near else "No doc_id is like it."
        elif document.empty:
            known = False
            yield f"the document {doc_id} has no text", f"Write {document.path}, or name another document."
    for corpus in question.corpora:
        if corpus not in documents.corpora:
            yield f"unknown corpus {corpus}", f"It takes {', '.join(documents.corpora)}."
    if not question.relevant_docs and question.answerable and not question.cross_corpus and not question.corpora:
        yield "no doc_id", "Name the document that answers it, or mark it answerable: false or cross_corpus: true."
    if known and question.relevant_docs:
        for gold in missing_gold(question, [documents.text(doc_id) for doc_id in question.relevant_docs]):
            shown = gold if len(gold) <= _SHOWN_GOLD else gold[:_SHOWN_GOLD] + "…"
            yield f"the gold text is in none of its documents: {shown!r}", "Copy the passage from the document."


def _warnings_of(question: Question, documents: Documents) -> Iterator[str]:
    """What leaves a number out, or may surprise."""
    if question.answerable and not question.reference_answer:
        yield "no reference_answer: completeness cannot be judged"
    if question.reviewed is False:
        yield "not reviewed: left out of gates"
    elsewhere = {
        document.corpus for doc_id in question.relevant_docs if (document := documents.get(doc_id)) is not None
    }.difference(question.corpora)
    if question.corpora and elsewhere:
        yield f"is sent to {', '.join(question.corpora)}, but its documents are in {', '.join(sorted(elsewhere))}"


def chosen_questions(questions: Sequence[Question], ids: Sequence[str]) -> Sequence[Question]:
    """The questions with these ids in the order of the file; all of them where no id is named."""
    unknown = sorted(set(ids) - {question.id for question in questions})
    if unknown:
        raise UsageError(f"no such question: {', '.join(unknown)}", "`rag-audit questions check` lists the ids.")
    return [question for question in questions if not ids or question.id in set(ids)]
