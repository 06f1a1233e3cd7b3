"""The verb `export`: a run as a file for people, spreadsheets and other tools."""

from pathlib import Path

import click

from rag_audit.cli.output import diagnose, print_json
from rag_audit.cli.verb import Invocation, verb
from rag_audit.comparison import archived_run
from rag_audit.export.writing import WRITERS, export_run
from rag_audit.history import History


@verb("export", short_help="A run as a file.")
@click.argument("run", metavar="RUN")
@click.option("--format", "form", type=click.Choice(list(WRITERS)), required=True, help="Form of the file.")
@click.option("--output", required=True, type=click.Path(path_type=Path), metavar="PATH", help="The file to write.")
def export_command(invocation: Invocation, run: str, form: str, output: Path) -> None:
    """Write RUN to PATH.

    jsonl is the plain results file that `import` reads back; csv, html, md and junit are for spreadsheets, browsers,
    pages and build servers. A file that is already there is replaced once the new one is complete.
    """
    history = History(invocation.root)
    summary = archived_run(history, history.resolve(run)).summary
    export_run(invocation.root, summary, form, output)
    head = history.head()
    if invocation.json:
        print_json({"run": summary.id, "output": str(output), "head": head})
    else:
        diagnose(f"{summary.id} → {output}  (history head {head or '–'})")
