"""`review`: the terminal UI, loaded only when it is asked for."""

import sys

import click

from rag_audit.cli.verb import Invocation, verb
from rag_audit.config import load_settings
from rag_audit.errors import UsageError
from rag_audit.history import History


@verb("review", help="Open the terminal UI, on RUN if one is named.")
@click.argument("run", required=False)
@click.option("--reviewer", metavar="NAME", help="Your name, kept with every decision.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Paint signs and lines with ASCII characters.")
def review_command(invocation: Invocation, run: str | None, reviewer: str | None, ascii_only: bool) -> None:
    """Open the terminal UI."""
    project = invocation.root
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the terminal UI needs a terminal", "Without one: rag-audit runs, show, diff.")
    settings = load_settings(project)
    history = History(project, redact=settings.items("redact"))
    run_id = history.resolve(run).id if run else None

    from rag_audit.tui.app import ReviewApp
    from rag_audit.tui.source import Source

    def known_reviewer() -> str | None:
        from rag_audit.auditing import find_reviewer

        return find_reviewer(project, reviewer)

    source = Source(project, settings, history, find_reviewer=known_reviewer)
    app = ReviewApp(source, run=run_id, ascii_only=ascii_only)
    app.run()
    if app.failure is not None:
        raise app.failure
