"""`questions check`: questions.yml against documents/, before anything is spent."""

import click

from rag_audit.cli.output import diagnose, print_json, say
from rag_audit.cli.verb import Invocation, Verb, VerbGroup
from rag_audit.corpus.check import QuestionsReport, check_project
from rag_audit.corpus.problem import Problem


@click.group("questions", cls=VerbGroup)
def questions_command() -> None:
    """Work with questions.yml."""


@questions_command.command("check", cls=Verb)
@click.pass_obj
def check(invocation: Invocation) -> int:
    """Validate questions.yml against documents/; exit code 2 when a run would not start."""
    report = check_project(invocation.root)
    if invocation.json:
        print_json(_shape(report))
    else:
        _print(report)
    return 0 if report.ok else 2


def _print(report: QuestionsReport) -> None:
    for warning in report.warnings:
        diagnose(f"warning: {warning}")
    for problem in report.problems:
        diagnose(f"error: {problem}")
        if problem.hint:
            diagnose(f"hint: {problem.hint}")
    if report.ok:
        say(f"{report.questions} question{'' if report.questions == 1 else 's'}, no problem")


def _shape(report: QuestionsReport) -> dict[str, object]:
    return {
        "ok": report.ok,
        "questions": report.questions,
        "problems": [_entry(problem) for problem in report.problems],
        "warnings": [_entry(warning) for warning in report.warnings],
    }


def _entry(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "id": problem.id,
        "problem": problem.problem,
        "hint": problem.hint or None,
    }
