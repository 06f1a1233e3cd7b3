"""`runs`, `show` and `flags`: what is in the history, read and printed."""

import click

from rag_audit.cli.output import diagnose, number, print_json, say, table
from rag_audit.cli.verb import Invocation, verb
from rag_audit.history import History
from rag_audit.model import MetricSummary, QuestionResult, RunStatus, RunSummary


@verb("runs")
def runs_command(invocation: Invocation) -> None:
    """List the runs, newest first, running and interrupted ones included."""
    history = History(invocation.root)
    summaries = [*history.unclosed()[::-1], *history.summaries()[::-1]]
    for found in history.damage():
        place = f"{found.file}:{found.line}" if found.line else found.file
        diagnose(f"warning: {place}: {found.problem}; `rag-audit verify` tells more")
    if invocation.json:
        from rag_audit.export.shapes import summary_json

        print_json({"runs": [summary_json(summary) for summary in summaries]})
    elif summaries:
        header = ("run", "label", "status", "origin", "started", "questions", "mean (scored/all)")
        say(table(header, [_run_row(summary) for summary in summaries], right=(5,)))
    else:
        say("No runs yet: `rag-audit run` makes one, `rag-audit import PATH` brings one in.")


_FIRST = ("hit_at_1", "keyword_coverage", "faithfulness", "no_fabrication")
"""The metrics a list shows where a run has them; imported runs show the first of their own."""


def _run_row(summary: RunSummary) -> list[str]:
    scored = [name for name, metric in summary.metrics.items() if metric.n]
    shown = [name for name in _FIRST if name in scored] or scored[: len(_FIRST)]
    means = [_mean_text(name, summary.metrics[name]) for name in shown]
    head = [summary.id, summary.label or "", summary.status, summary.origin, summary.started_at, str(summary.questions)]
    return [*head, " · ".join(means)]


def _mean_text(name: str, metric: MetricSummary) -> str:
    return f"{name} {number(metric.mean)} ({metric.n}/{metric.total})"


@verb("show")
@click.argument("run")
@click.option("--question", metavar="ID", help="One question with all that each layer saw.")
def show_command(invocation: Invocation, run: str, question: str | None) -> None:
    """Show RUN, or one of its questions."""
    from rag_audit.audit.effective import Decisions, effective_verdicts
    from rag_audit.cli.report import result_text, summary_text
    from rag_audit.export.shapes import result_json, summary_json

    history = History(invocation.root)
    summary = _so_far(history, history.resolve(run))
    if question is None and not invocation.json:
        say(summary_text(summary))
        return
    results = _results_of(history, summary.id, question)
    decisions = Decisions(history.decisions(summary.id))
    effective = [effective_verdicts(result, decisions) for result in results]
    if invocation.json:
        in_full = question is not None
        print_json(
            {
                "run": summary_json(summary),
                "questions": [
                    result_json(result, verdicts, in_full=in_full)
                    for result, verdicts in zip(results, effective, strict=True)
                ],
            }
        )
    else:
        say("\n\n".join(map(result_text, results, effective)))


def _so_far(history: History, run: RunSummary) -> RunSummary:
    """The summary, of what is finished where the run has not ended; the rows of an ended one need not be read."""
    if run.status in (RunStatus.RUNNING, RunStatus.INTERRUPTED):
        return history.archived(run.id).summary
    return run


def _results_of(history: History, run_id: str, question: str | None) -> list[QuestionResult]:
    """One question with its repeats, or all finished ones in the order of the question file."""
    if question is not None:
        return history.repeats(run_id, question)
    place = {(row.id, row.repeat): at for at, row in enumerate(history.archived(run_id).rows)}
    # A running run may have finished more since its rows were read.
    return sorted(
        history.results(run_id), key=lambda result: place.get((result.question.id, result.repeat), len(place))
    )


@verb("flags")
@click.argument("run")
def flags_command(invocation: Invocation, run: str) -> None:
    """List the claims and questions of RUN that a person should look at, and why."""
    history = History(invocation.root)
    summary = history.resolve(run)
    found: list[dict[str, object]] = [
        {
            "question_id": result.question.id,
            "repeat": result.repeat,
            "claim_id": flag.claim_id,
            "flag": flag.flag.value,
            "why": flag.why,
            "matches": list(flag.matches),
        }
        for result in history.results(summary.id)
        for flag in result.flags
    ]
    if invocation.json:
        print_json({"run": summary.id, "flags": found})
    elif found:
        say(table(("question", "claim", "flag", "why"), [_flag_row(flag) for flag in found]))
    else:
        say("No flags.")


def _flag_row(flag: dict[str, object]) -> list[str]:
    return [str(flag["question_id"]), str(flag["claim_id"] or ""), str(flag["flag"]), str(flag["why"])]
