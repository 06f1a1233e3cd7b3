"""The verb `diff`: what changed between runs, for which question, because of what, and whether a build may pass."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from rag_audit.cli.output import diagnose, print_json, say
from rag_audit.cli.verb import Invocation, verb
from rag_audit.comparison import diff_runs, follow, report_diff
from rag_audit.config import load_settings
from rag_audit.diff import CONDITIONS
from rag_audit.errors import HistoryError, UsageError
from rag_audit.export.diff_html import diff_html
from rag_audit.export.diff_json import diff_json, several_json
from rag_audit.export.diff_junit import diff_junit
from rag_audit.export.diff_md import diff_md
from rag_audit.export.diff_report import DiffReport
from rag_audit.export.diff_text import diff_text
from rag_audit.export.several_text import several_text
from rag_audit.export.writing import written
from rag_audit.history import History

GATE_TRIPPED = 1

FORMS: dict[str, Callable[[DiffReport], str]] = {
    "text": diff_text,
    "md": diff_md,
    "junit": diff_junit,
    "html": diff_html,
}
"""Form to the function that writes a report in it."""


@verb("diff", short_help="What changed between runs.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.argument("further", metavar="[MORE]...", nargs=-1)
@click.option("--fail-on", "fail_on", multiple=True, type=click.Choice(CONDITIONS), help="Exit 1 on this; repeatable.")
@click.option("--metric", "only", multiple=True, metavar="M", help="List and gate only this metric; repeatable.")
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="X | M=X",
    help="Change that does not matter, as a share of the metric's range; M=X for one metric.",
)
@click.option("--allow-unverified", is_flag=True, help="Let a gate pass metrics whose context is not fully recorded.")
@click.option("--format", "form", type=click.Choice(list(FORMS)), default="text", help="Form of the report.")
@click.option("--output", type=click.Path(path_type=Path), metavar="PATH", help="Write the report there instead.")
def diff_command(
    invocation: Invocation,
    before: str,
    after: str,
    further: Sequence[str],
    fail_on: Sequence[str],
    only: Sequence[str],
    tolerances: Sequence[str],
    allow_unverified: bool,
    form: str,
    output: Path | None,
) -> int:
    """Compare AFTER with BEFORE question by question, over the questions that both scored.

    With --fail-on the exit code is 1 where the gate trips; the printed verdict and the code come from one value.
    MORE runs give a table by question instead, with the run at which each question broke.
    """
    project = invocation.root
    history = History(project)
    if further:
        if fail_on or output or form != "text":
            raise UsageError("--fail-on, --format and --output take two runs", "Compare two runs at a time.")
        _follow(invocation, history, (before, after, *further), only)
        return 0
    overall, by_metric = _tolerances(tolerances)
    compare = partial(
        diff_runs,
        history,
        before,
        after,
        load_settings(project),
        fail_on=fail_on,
        allow_unverified=allow_unverified,
        only=only,
        tolerance=overall,
        tolerances=by_metric,
    )
    try:
        diff = compare()
    except HistoryError as error:
        # Scores, causes and gates need the ledger alone: a run file that is missing or damaged takes only its claims.
        diff = compare(with_claims=False)
        diagnose(f"warning: claims are not compared: {error}")
    if invocation.json:
        print_json(diff_json(diff))
    elif output is None:
        say(FORMS[form](report_diff(history, diff)))
    if output is not None:
        with written(output, project) as out:
            out.write(FORMS[form](report_diff(history, diff)))
        diagnose(f"{diff.before} → {diff.after}: {output}")
    return GATE_TRIPPED if diff.gate.tripped else 0


def _follow(invocation: Invocation, history: History, refs: Sequence[str], only: Sequence[str]) -> None:
    summaries = [history.resolve(ref) for ref in refs]
    followed = follow(history, summaries, load_settings(invocation.root), only=only)
    if invocation.json:
        print_json(several_json(followed))
    else:
        say(several_text(followed, summaries))


def _tolerances(given: Sequence[str]) -> tuple[float | None, dict[str, float]]:
    """Read `X` (for every metric) and `M=X` (for one)."""
    overall: float | None = None
    by_metric: dict[str, float] = {}
    for text in given:
        metric, _, number = text.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not 0 <= share < float("inf"):
            raise UsageError(f"--tolerance {text} is not a share of a metric's range", "--tolerance 0.02, or M=0.05.")
        if metric:
            by_metric[metric] = share
        else:
            overall = share
    return overall, by_metric
