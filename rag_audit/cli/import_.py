"""The `import` verb: other tools' results as runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_audit.cli.output import diagnose, error_lines, number, print_json, say
from rag_audit.cli.verb import Invocation, verb
from rag_audit.errors import UsageError
from rag_audit.importers.mapping import FIELDS
from rag_audit.importers.values import clean
from rag_audit.text.visible import visible_line

if TYPE_CHECKING:
    from rag_audit.importers.importing import Imported
    from rag_audit.importers.mapping import FieldMap
    from rag_audit.importers.source import Source

FORMAT_NAMES = (
    *("auto", "plain", "azure", "ragas", "deepeval", "django-explain-errors", "generic"),
    *("ragchecker", "promptfoo", "inspect", "trulens"),
)
_FIELDS = "\n".join(f"  {name:23} {meaning}" for name, meaning in FIELDS.items())
_HELP = f"""Turn other tools' results into runs that can be listed, compared, audited and exported.

PATH is a file or a folder (dot-folders included). The format is found out by the content. A file that was imported
before gives its run again, with a warning.

A table, JSON list or JSON lines of your own needs a mapping: --map FIELD=COLUMN, where COLUMN is a column or a path
with dots (out.text). The fields are

\b
{_FIELDS}

For example:

\b
  rag-audit import eval.csv --map question=Frage --map answer=Antwort
      --map contexts=Quellen --map "contexts.separator= || "
      --map scores.Treue="Treue (0-10)" --map scores.Treue.range=0..10
"""


@verb("import", help=_HELP, short_help="Turn other tools' results into runs.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--format", "format_name", type=click.Choice(FORMAT_NAMES), default="auto", help="Default: by content.")
@click.option("--map", "mappings", multiple=True, metavar="FIELD=COLUMN", help="See above; may be given often.")
@click.option("--label", help="A name for the run.")
@click.option("--judge", metavar="NAME", help="The judge's model, where the file does not name it.")
@click.option("--generator", metavar="NAME", help="The system's model, where the file does not name it.")
def import_command(
    invocation: Invocation,
    paths: tuple[Path, ...],
    format_name: str,
    mappings: tuple[str, ...],
    label: str | None,
    judge: str | None,
    generator: str | None,
) -> int:
    """Import files and folders; 2 if everything was refused."""
    from rag_audit.importers.importing import ImportOptions, Refused, import_json, import_paths
    from rag_audit.importers.mapping import parse_field_map

    try:
        mapping = parse_field_map(mappings)
    except UsageError as error:
        if invocation.json:
            print_json(import_json([Refused(clean(str(path)), error.message, error.hint) for path in paths]))
        raise
    asks = sys.stdin.isatty() and not invocation.json
    options = ImportOptions(
        format=format_name,
        mapping=mapping,
        label=label,
        judge=judge,
        generator=generator,
        confirm=_confirm if asks else None,
    )
    outcomes = []
    for outcome in import_paths(invocation.root, paths, options):
        outcomes.append(outcome)
        if isinstance(outcome, Refused):
            diagnose(error_lines(f"{outcome.path}: {outcome.why}", outcome.hint))
        elif not invocation.json:
            _say_imported(outcome)
    if invocation.json:
        print_json(import_json(outcomes))
    return 2 if all(isinstance(outcome, Refused) for outcome in outcomes) else 0


def _say_imported(outcome: "Imported") -> None:
    summary = outcome.summary
    system = f" [{outcome.system}]" if outcome.system else ""
    repeats = "" if outcome.rows == outcome.questions else f" in {outcome.rows} rows"
    where = visible_line(f"{outcome.path}{system}")
    say(f"{where}  {outcome.format}  run {summary.id}  {outcome.questions} questions{repeats}")
    for name, metric in summary.metrics.items():
        say(f"  {visible_line(name)}  {number(metric.mean)}  n {metric.n} of {metric.total}")
    if outcome.has_claims:
        say("  claims  " + "  ".join(f"{count} {verdict}" for verdict, count in summary.claims.items()))
    for warning in outcome.warnings:
        say(f"  warning: {visible_line(warning)}")


def _confirm(mapping: "FieldMap", source: "Source") -> bool:
    say(f"{visible_line(source.where)} is no file of a known tool. This is a guess:")
    say(f"  {visible_line(mapping.as_options())}")
    return click.confirm("Import it like this?", default=False, err=True)
