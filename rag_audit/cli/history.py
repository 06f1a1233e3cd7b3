"""`history rebuild`: a new ledger from the run files."""

import click

from rag_audit.cli.output import diagnose, print_json, say
from rag_audit.cli.verb import Invocation, VerbGroup
from rag_audit.history import History


@click.group("history", cls=VerbGroup)
def history_command() -> None:
    """Look after the files in history/."""


@history_command.command("rebuild")
@click.pass_obj
def rebuild_command(invocation: Invocation) -> None:
    """Write a new ledger from the run files, beside the old one; nothing else changes."""
    history = History(invocation.root)
    rebuilt = history.rebuild()
    for found in rebuilt.left_out:
        diagnose(f"left out: {found.file}: {found.problem}")
    if invocation.json:
        print_json(
            {
                "path": str(rebuilt.path),
                "runs": rebuilt.runs,
                "left_out": [{"file": found.file, "why": found.problem} for found in rebuilt.left_out],
            }
        )
    else:
        runs = f"{rebuilt.runs} run{'' if rebuilt.runs == 1 else 's'}"
        say(f"{rebuilt.path}: {runs}. To use it, move it over eval_history.jsonl.")
