"""The verb `export`: a run, or its audit, as files for people, spreadsheets and other tools."""

from pathlib import Path

import click

from rag_audit.cli.output import diagnose, print_json
from rag_audit.cli.verb import Invocation, verb
from rag_audit.errors import UsageError
from rag_audit.export.writing import WRITERS, export_run
from rag_audit.history import History


@verb("export", short_help="A run, or its audit, as a file.")
@click.argument("run", metavar="RUN")
@click.option("--format", "form", type=click.Choice(list(WRITERS)), help="Form of the file.")
@click.option(
    "--audit", is_flag=True, help="The audit pack instead: audit.csv, audit.jsonl and audit.html in a folder."
)
@click.option("--bom", is_flag=True, help="Start audit.csv with a byte order mark, which some spreadsheets want.")
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The file, or the folder, to write.",
)
def export_command(invocation: Invocation, run: str, form: str | None, audit: bool, bom: bool, output: Path) -> None:
    """Write RUN to PATH, or with --audit its decisions and what follows from them to the folder PATH.

    jsonl is the plain results file that `import` reads back; csv, html, md and junit are for spreadsheets, browsers,
    pages and build servers. A file that is already there is replaced once the new one is complete.
    """
    history = History(invocation.root)
    archived = history.archived(history.resolve(run).id)
    run_id = archived.summary.id
    if audit:
        from rag_audit.export.auditpack import write_audit_pack

        if form is not None:
            raise UsageError("--audit writes all its forms at once", "Leave out --format.")
        paths = write_audit_pack(history, run_id, output, bom=bom)
    elif form is None:
        raise UsageError("which form?", f"Give --format {'|'.join(WRITERS)}, or --audit.")
    else:
        export_run(invocation.root, archived, form, output)
        paths = (output,)
    head = history.head()
    if invocation.json:
        print_json({"run": run_id, "output": str(output), "files": [str(path) for path in paths], "head": head})
    else:
        diagnose(f"{run_id} → {', '.join(map(str, paths))}  (history head {head or '–'})")
