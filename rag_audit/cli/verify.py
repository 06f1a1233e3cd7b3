"""`verify`: whether anything in history/ was edited, removed, swapped or doubled."""

import click

from rag_audit.cli.output import print_json, say
from rag_audit.cli.verb import Invocation, verb
from rag_audit.history import History, VerifyReport


@verb("verify")
@click.option("--head", metavar="H", help="Also prove that everything up to this head, as exports print it, is there.")
def verify_command(invocation: Invocation, head: str | None) -> int:
    """Check the integrity of history/; exit 1 if there is a problem. Never changes or creates a file."""
    report = History(invocation.root).verify(head)
    if invocation.json:
        print_json(
            {
                "ok": report.ok,
                "runs": report.runs,
                "head": report.head,
                "problems": [
                    {"file": found.file, "line": found.line, "offset": found.offset, "problem": found.problem}
                    for found in report.problems
                ],
                "notes": list(report.notes),
            }
        )
    else:
        say("\n".join(_lines(report)))
    return 0 if report.ok else 1


def _lines(report: VerifyReport) -> list[str]:
    problems = [
        f"{found.file}{f':{found.line}' if found.line else ''}"
        f"{f' (byte {found.offset})' if found.offset is not None else ''}: {found.problem}"
        for found in report.problems
    ]
    verdict = "unchanged" if report.ok else f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
    runs = f"{report.runs} archived run{'' if report.runs == 1 else 's'}: {verdict}"
    return [*problems, *(f"note: {note}" for note in report.notes), runs, f"head: {report.head or '–'}"]
