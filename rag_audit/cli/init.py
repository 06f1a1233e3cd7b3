"""`init`: a new project."""

from pathlib import Path

import click

from rag_audit.cli.output import print_json, say
from rag_audit.cli.verb import Invocation, verb
from rag_audit.project import create_project


@verb("init")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False))
def init_command(invocation: Invocation, folder: Path | None) -> None:
    """Start a project in DIR (default: the current folder); nothing that is there is overwritten."""
    target = folder or invocation.project
    written = create_project(target)
    if invocation.json:
        print_json({"project": str(target), "written": written})
        return
    for name in written:
        say(f"wrote {target / name}")
    say("Put each corpus into a folder below documents/, its questions into questions.yml, then: rag-audit run")
