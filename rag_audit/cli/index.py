"""`index`: build or refresh the indexes."""

import click

from rag_audit.cli.output import diagnose, print_json, say, table
from rag_audit.cli.verb import Invocation, verb
from rag_audit.config import load_settings
from rag_audit.corpus.documents import scan_documents
from rag_audit.corpus.retrieve import refresh_indexes
from rag_audit.errors import UsageError


@verb("index")
@click.argument("corpus", required=False)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="A setting for this time.")
def index_command(invocation: Invocation, corpus: str | None, overrides: tuple[str, ...]) -> None:
    """Build or refresh the index of CORPUS, or of every corpus."""
    settings = load_settings(invocation.root, overrides)
    documents = scan_documents(invocation.root, settings)
    if corpus is not None and corpus not in documents.corpora:
        raise UsageError(f"no corpus {corpus}", f"It takes {', '.join(documents.corpora)}.")
    for warning in documents.warnings:
        diagnose(f"warning: {warning}")
    reports = refresh_indexes(documents, settings, [corpus] if corpus else [], progress=diagnose)
    if invocation.json:
        print_json({"corpora": reports})
        return
    header = ("corpus", "files", "chunks", "added", "changed", "removed", "embedded", "rebuilt")
    counts = [(r.files, r.chunks, r.added, r.changed, r.removed, r.embedded) for r in reports]
    rows = [
        (report.corpus, *map(str, numbers), report.rebuilt or "–")
        for report, numbers in zip(reports, counts, strict=True)
    ]
    say(table(header, rows, right=range(1, 7)))
