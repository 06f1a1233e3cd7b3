"""The command line: one small module a verb group; this one finds the verb and turns errors into two lines.

Verbs are imported when they are used, so that `rag-audit runs` loads neither Textual nor numpy nor an SDK.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from rag_audit import __version__
from rag_audit.cli.output import error_lines
from rag_audit.cli.verb import Invocation, VerbGroup
from rag_audit.errors import RagAuditError

VERBS: dict[str, tuple[str, str]] = {
    "review": ("rag_audit.cli.review", "Open the terminal UI, on a run if one is named."),
    "init": ("rag_audit.cli.init", "A new project: documents/, questions.yml, config with every setting commented."),
    "run": ("rag_audit.cli.run", "Evaluate, archive, print the summary and the diff with the previous comparable run."),
    "runs": ("rag_audit.cli.show", "List the runs, newest first."),
    "show": ("rag_audit.cli.show", "One run, or one question with all that each layer saw."),
    "verify": ("rag_audit.cli.verify", "Integrity of history/; exit 1 if anything was changed."),
    "history": ("rag_audit.cli.history", "`history rebuild` makes a new ledger from the run files."),
    "import": ("rag_audit.cli.import_", "Turn other tools' results into runs."),
    "diff": ("rag_audit.cli.diff", "What changed between runs, for which question, because of what; gates for builds."),
    "rejudge": ("rag_audit.cli.run", "Judge the archived answers of a run again, as a new run."),
    "flags": ("rag_audit.cli.show", "The claims and questions of a run that a person should look at."),
    "audit": ("rag_audit.cli.audit", "The human side: draw a sample, record decisions, report."),
    "export": ("rag_audit.cli.export", "A run as CSV, HTML, JSONL, Markdown or JUnit; the audit pack."),
    "index": ("rag_audit.cli.index", "Build or refresh the indexes."),
    "questions": ("rag_audit.cli.questions", "Validate questions.yml against documents/ (`questions check`)."),
    "probe": ("rag_audit.cli.probe", "Plant known faults into verified claims; does the judge notice?"),
    "doctor": ("rag_audit.cli.doctor", "Versions, models, keys present (never their values), terminal, caches."),
}
"""Verb to the module that holds it (as `<verb>_command`, `-` as `_`) and its line in `--help`."""


class LazyVerbs(VerbGroup):
    """The root group: lists every verb from the table and imports only the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module."""
        if cmd_name not in VERBS:
            return None
        module = import_module(VERBS[cmd_name][0])
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(cls=LazyVerbs, invoke_without_command=True)
@click.version_option(__version__, prog_name="rag-audit", message="%(prog)s %(version)s")
@click.pass_context
def rag_audit(ctx: click.Context) -> None:
    """Run or load RAG evaluations, see what changed between runs, and check the judge claim by claim.

    Without a verb the terminal UI opens.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(LazyVerbs.get_command(rag_audit, ctx, "review"))  # type: ignore[arg-type]


def run_command_line(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error becomes two lines on stderr."""
    invocation = Invocation()
    try:
        code = rag_audit.main(args=list(argv), prog_name="rag-audit", standalone_mode=False, obj=invocation)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        hint = f"rag-audit {_verb_of(error)}--help lists what it takes."
        click.echo(error_lines(error.format_message(), hint), err=True)
        return 2
    except RagAuditError as error:
        if invocation.debug:
            raise
        click.echo(error_lines(str(error), error.hint), err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo(error_lines("interrupted", "What was finished is kept; `rag-audit runs` shows it."), err=True)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        if invocation.debug:
            raise
        message = f"internal error: {type(error).__name__}: {error}"
        click.echo(error_lines(message, "Please report it; --debug shows where it happened."), err=True)
        return 2


def _verb_of(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path.split()[1:] if context else []
    return " ".join(path) + " " if path else ""


def main() -> None:
    """Entry point of the `rag-audit` command."""
    sys.exit(run_command_line(sys.argv[1:]))
