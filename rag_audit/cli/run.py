"""`run` and `rejudge`: evaluate, archive, print the summary and the diff with the previous comparable run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from math import isfinite

import click

from rag_audit.attempt import Progress, Watcher
from rag_audit.cli.output import diagnose, error_lines, number, print_json, say, table
from rag_audit.cli.progress import progress_watcher
from rag_audit.cli.verb import Invocation, verb
from rag_audit.errors import KeyRejected, UsageError
from rag_audit.history.references import names_another_run
from rag_audit.model import Origin, RunStatus, RunSummary

_INCOMPLETE = 3
_NOTHING_COMPARABLE = (
    "No earlier run can be compared with this one on every metric; "
    "`rag-audit diff RUN latest` compares what can be, and says why the rest cannot."
)
_MATTERS_TO_REJUDGE = (
    *("judge.claims", "judge.scores", "judge.base_url", "judge.max_tokens", "judge.repeats", "diff.", "prices"),
    *("workers", "timeout_s", "retries", "max_wait_s", "redact"),
)


def _own_label(_: click.Context, __: click.Parameter, label: str | None) -> str | None:
    """The label without spaces around it; one that already means another run is refused."""
    label = (label or "").strip() or None
    if label and names_another_run(label):
        raise UsageError(f"the label {label} already means another run", "Choose one that is not `latest` or NAME~N.")
    return label


@verb("run")
@click.option("--label", callback=_own_label, help="A name for the run; need not be unique.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="A setting for this run alone.")
@click.option("--only", metavar="IDS", help="Question ids, separated by commas.")
@click.option("--judges", metavar="scores,claims|none", help="Which judges to ask.")
@click.option("--workers", type=click.IntRange(1), help="Questions under way at a time.")
@click.option("--repeat-judging", type=click.IntRange(1), metavar="N", help="Judgments per answer.")
@click.option("--seed", type=click.IntRange(0), help="Seed of everything random.")
@click.option("--no-routing", is_flag=True, help="Send every question to the default corpus.")
@click.option("--resume", metavar="RUN", help="Finish an interrupted run under its own id.")
@click.option("--reuse-replies", is_flag=True, help="Take replies that other runs got to the very same requests.")
@click.option("--dry-run", is_flag=True, help="Print the routing and an estimate of calls and cost; evaluate nothing.")
@click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Stop, incomplete, once this much is spent.")
@click.option("--allow-incomplete", is_flag=True, help="Exit 0 although scores are missing.")
def run_command(
    invocation: Invocation,
    label: str | None,
    overrides: tuple[str, ...],
    only: str | None,
    judges: str | None,
    workers: int | None,
    repeat_judging: int | None,
    seed: int | None,
    no_routing: bool,
    resume: str | None,
    reuse_replies: bool,
    dry_run: bool,
    max_cost: float | None,
    allow_incomplete: bool,
) -> int:
    """Evaluate the project's questions, archive the run, print its summary and what changed."""
    from rag_audit.pipeline import run_evaluation

    settings = (
        *overrides,
        *_judge_settings(judges),
        *(
            f"{key}={value}"
            for key, value in (("workers", workers), ("judge.repeats", repeat_judging), ("seed", seed))
            if value is not None
        ),
        *(["routing.enabled=false"] if no_routing else []),
    )
    ids = [id_.strip() for id_ in only.split(",") if id_.strip()] if only is not None else []
    if only is not None and not ids:
        raise UsageError("--only names no question", "Name ids, separated by commas, or leave --only away.")
    if max_cost is not None and not isfinite(max_cost):
        raise UsageError(f"--max-cost {max_cost} is no amount", "Write it in USD: --max-cost 2.50.")
    if resume and (settings or ids or label or dry_run):
        raise UsageError(
            "--resume takes the run's own settings, questions and label",
            "Leave the other options away, or start a new run.",
        )

    if dry_run:
        return _dry_run(invocation, settings, ids)

    def start(watch: Watcher) -> Awaitable[RunSummary]:
        return run_evaluation(
            invocation.root,
            overrides=settings,
            label=label,
            only=ids,
            resume=resume,
            max_cost_usd=max_cost,
            reuse_replies=reuse_replies,
            watch=watch,
        )

    return _finish(invocation, start, allow_incomplete, settings)


@verb("rejudge")
@click.argument("run")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="judge.claims=… or judge.scores=….")
@click.option(
    "--claims", type=click.Choice(["keep", "extract"]), default="keep", help="Judge the same claims, or list them anew."
)
@click.option("--repeat-judging", type=click.IntRange(1), metavar="N", help="Judgments per answer.")
@click.option("--workers", type=click.IntRange(1), help="Answers under way at a time.")
@click.option("--label", callback=_own_label, help="A name for the new run.")
@click.option("--allow-incomplete", is_flag=True, help="Exit 0 although scores are missing.")
def rejudge_command(
    invocation: Invocation,
    run: str,
    overrides: tuple[str, ...],
    claims: str,
    repeat_judging: int | None,
    workers: int | None,
    label: str | None,
    allow_incomplete: bool,
) -> int:
    """Judge the archived answers of RUN again, as a new run.

    The judges named with --set judge again; without any, all that the project's settings name do.
    """
    from rag_audit.config import load_settings
    from rag_audit.history import History
    from rag_audit.pipeline import rejudge

    named = frozenset(
        role
        for role in ("claims", "scores")
        for text in overrides
        if text.replace(" ", "").startswith(f"judge.{role}=")
    )
    more = tuple(
        f"{key}={value}"
        for key, value in (("workers", workers), ("judge.repeats", repeat_judging))
        if value is not None
    )
    settings = load_settings(invocation.root, (*overrides, *more))
    for text in overrides:
        if not text.strip().startswith(_MATTERS_TO_REJUDGE):
            raise UsageError(
                f"--set {text} does not matter to rejudge: answers, contexts and excerpts are the archived ones",
                "Leave it away, or evaluate anew with `rag-audit run`.",
            )
    history = History(invocation.root, redact=settings.items("redact"))
    parent = history.resolve(run)

    def start(watch: Watcher) -> Awaitable[RunSummary]:
        return rejudge(
            history,
            parent.id,
            settings,
            named or frozenset({"claims", "scores"}),
            keep_claims=claims == "keep",
            label=label,
            watch=watch,
        )

    return _finish(invocation, start, allow_incomplete, overrides, compare_with=parent.id)


def _dry_run(invocation: Invocation, settings: tuple[str, ...], ids: list[str]) -> int:
    from rag_audit.estimate import plan_run

    plan = plan_run(invocation.root, settings, ids)
    if invocation.json:
        routes = [
            {"id": question.id, "doc_id": question.doc_id, "corpora": list(route.corpora), "rule": route.rule}
            for question, route in plan.routes
        ]
        print_json({"routes": routes, "calls": [asdict(call) for call in plan.calls], "cost_usd": plan.cost_usd})
        return 0
    rows = [[question.id, question.doc_id or "–", ", ".join(r.corpora), r.rule] for question, r in plan.routes]
    say(table(("question", "doc_id", "routed to", "rule"), rows))
    say()
    estimates = [
        [
            call.role,
            call.model,
            str(call.calls),
            str(call.input_tokens),
            str(call.output_tokens),
            number(call.cost_usd, 2),
        ]
        for call in plan.calls
    ]
    say(table(("role", "model", "calls", "tokens in", "tokens out", "USD"), estimates, right=(2, 3, 4, 5)))
    say("An estimate from typical lengths; – where the price of a model is not in the settings (`prices`).")
    return 0


def _judge_settings(judges: str | None) -> list[str]:
    """Turn off the judges that are not named."""
    if judges is None:
        return []
    named = {name.strip() for name in judges.split(",")}
    if not named <= {"scores", "claims", "none"} or ("none" in named and len(named) > 1):
        raise UsageError(f"unknown judges: {judges}", "Name scores, claims, scores,claims or none.")
    return [f"judge.{role}=none" for role in ("claims", "scores") if role not in named]


def _finish(
    invocation: Invocation,
    start: Callable[[Watcher], Awaitable[RunSummary]],
    allow_incomplete: bool,
    overrides: Sequence[str],
    compare_with: str | None = None,
) -> int:
    """Run to the end with a watcher, print summary and diff, and return the exit code of the summary's status.

    The diff follows the settings of this run, `--set diff.…` included.
    """

    run_id = ""

    async def to_the_end() -> RunSummary:
        with progress_watcher() as show:

            def watch(progress: Progress) -> None:
                nonlocal run_id
                run_id = run_id or progress.run_id
                show(progress)

            return await start(watch)

    try:
        summary = asyncio.run(to_the_end())
    except KeyRejected as refused:
        if not run_id:
            raise
        return _stopped(invocation, run_id, refused)
    from rag_audit.cli.report import summary_text
    from rag_audit.comparison import diff_runs, previous_comparable, report_diff
    from rag_audit.config import load_settings
    from rag_audit.export.diff_json import diff_json
    from rag_audit.export.diff_text import diff_text
    from rag_audit.export.shapes import summary_json
    from rag_audit.history import History

    history = History(invocation.root)
    previous = history.resolve(compare_with) if compare_with else previous_comparable(history, summary.id)
    settings = load_settings(invocation.root, overrides or summary.overrides)
    diff = diff_runs(history, previous.id, summary.id, settings) if previous else None
    if invocation.json:
        print_json(
            {
                "run": summary_json(summary),
                "diff": diff_json(diff) if diff else None,
                "compared_with": previous.id if previous else None,
            }
        )
    else:
        say(summary_text(summary))
        say()
        say(diff_text(report_diff(history, diff)) if diff else _NOTHING_COMPARABLE)
    if summary.status is RunStatus.INCOMPLETE and not allow_incomplete:
        diagnose(f"incomplete: scores are missing; `rag-audit show {summary.id}` says which and why")
        return _INCOMPLETE
    return 0


def _stopped(invocation: Invocation, run_id: str, refused: KeyRejected) -> int:
    """Show what is kept of a run that a refused key ended, and how to finish it."""
    from rag_audit.cli.report import summary_text
    from rag_audit.export.shapes import summary_json
    from rag_audit.history import History

    summary = History(invocation.root).archived(run_id).summary
    if invocation.json:
        print_json({"run": summary_json(summary), "diff": None, "compared_with": None})
    else:
        say(summary_text(summary))
    finish = f"`rag-audit run --resume {run_id}` finishes the run with a valid key; nothing that was done is lost."
    click.echo(error_lines(str(refused), refused.hint if summary.origin is Origin.REJUDGED else finish), err=True)
    return _INCOMPLETE
