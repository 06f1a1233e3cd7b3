"""`audit`: draw a sample, record decisions, settle disputes, report."""

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import click

from rag_audit.audit.effective import Decisions
from rag_audit.audit.recording import (
    VERDICTS,
    Act,
    Case,
    add_claim,
    adjudicate,
    decide_claim,
    score_answer,
    undo,
)
from rag_audit.audit.standing import SKIP
from rag_audit.cli.output import diagnose, print_json, say
from rag_audit.cli.verb import Invocation, VerbGroup
from rag_audit.errors import UsageError
from rag_audit.model import AuditSample, Decision
from rag_audit.statistics.agreement import CLASSES

if TYPE_CHECKING:
    from rag_audit.history import History


@click.group("audit", cls=VerbGroup)
def audit_command() -> None:
    """Check the judge: draw questions, decide their claims, and see what the numbers become."""


@audit_command.command("sample")
@click.argument("run")
@click.option("--fraction", type=float, help="Share of the questions, rounded up (default: audit.fraction, 0.1).")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the draw (default: from the run's id).")
@click.option("--stratify", type=click.Choice(["none", "corpus"]), help="Spread the draw over the corpora, or not.")
@click.option("--target", help="What is decided: claims, scores or claims,scores (default: audit.target).")
@click.pass_obj
def sample_command(
    invocation: Invocation,
    run: str,
    fraction: float | None,
    seed: int | None,
    stratify: str | None,
    target: str | None,
) -> None:
    """Draw questions of RUN at random; a larger draw with the same seed keeps the smaller one."""
    from rag_audit.auditing import draw_sample
    from rag_audit.config import load_settings
    from rag_audit.history import History

    history = History(invocation.root)
    settings = load_settings(invocation.root)
    chosen = settings.number("audit.fraction") if fraction is None else fraction
    if not 0 < chosen <= 1:
        raise UsageError(f"--fraction is {chosen:g}", "Give a share above 0 and up to 1, such as 0.1.")
    sample, drawn_now = draw_sample(
        history,
        history.resolve(run),
        fraction=chosen,
        seed=seed,
        stratify=stratify or settings.text("audit.stratify"),
        target=_targets(target.split(",") if target else settings.items("audit.target")),
    )
    if invocation.json:
        print_json({"run": sample.run_id, "questions": sample.questions, "sample": sample})
        return
    if not drawn_now:
        diagnose("This draw is recorded already.")
    say(_sample_text(sample))


def _targets(names: Any) -> tuple[str, ...]:
    wanted = {str(name).strip() for name in names}
    if not wanted or not wanted <= {"claims", "scores"}:
        raise UsageError("no such target", "Give --target claims, scores, or claims,scores.")
    return tuple(sorted(wanted))


def _sample_text(sample: AuditSample) -> str:
    strata = ", ".join(f"{name} {drawn} of {size}" for name, (drawn, size) in sample.strata.items())
    size = f"{len(sample.questions)} of {sample.population} questions"
    head = f"Sample {sample.id} of run {sample.run_id}: {size} for {' and '.join(sample.target)} (seed {sample.seed})"
    return "\n".join([head, f"  {sample.stratify}: {strata}", *(f"  {question}" for question in sample.questions)])


class Given(TypedDict):
    """What every act of a reviewer may be given."""

    reviewer: str | None
    reason: str | None
    blind: bool
    repeat: int | None


Function = TypeVar("Function", bound=Callable[..., Any])


def _act_options(function: Function) -> Function:
    """The options of an act: who, why, how much was seen, and which repeat."""
    options = (
        click.option("--reviewer", metavar="NAME", help="Who decides (default: configuration, then git)."),
        click.option("--reason", help="Why."),
        click.option("--blind", is_flag=True, help="Decided without having seen the judge's verdict, quote or flags."),
        click.option("--repeat", type=int, help="Which repeat, where the question was answered several times."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _open(
    invocation: Invocation, run: str, question: str, given: Given, claim: str | None
) -> "tuple[History, Case, Act]":
    """The history, the answer on the desk, and who is about to decide."""
    from rag_audit.auditing import now, open_case, require_reviewer

    history = _history_for_writing(invocation)
    case = open_case(history, history.resolve(run), question, given["repeat"], claim_id=claim)
    reviewer = require_reviewer(invocation.root, given["reviewer"])
    return history, case, Act(reviewer, now(), blind=given["blind"], reason=given["reason"])


def _history_for_writing(invocation: Invocation) -> "History":
    """The history that replaces what the project's `redact` patterns match, in reasons as anywhere."""
    from rag_audit.config import load_settings
    from rag_audit.history import History

    return History(invocation.root, redact=load_settings(invocation.root).items("redact"))


def _announce(invocation: Invocation, decision: Decision, act: Act, said: str) -> None:
    """Print the id of a recorded decision, alone on stdout; say so where it could not count as blind."""
    if act.blind and not decision.blind:
        diagnose(f"{decision.reviewer} decided this with the judge's verdict in view before: recorded as not blind.")
    if invocation.json:
        document = asdict(decision)
        if decision.blind:
            # An undo right after this still comes before the reveal.
            del document["judge_verdict"]
        print_json(document)
    else:
        say(decision.id)
        diagnose(f"{said} ({decision.queue}, {'blind' if decision.blind else 'not blind'})")


@audit_command.command("record")
@click.argument("run")
@click.argument("question")
@click.argument("claim")
@click.argument("verdict", type=click.Choice(VERDICTS))
@_act_options
@click.pass_obj
def record_command(
    invocation: Invocation, run: str, question: str, claim: str, verdict: str, **given: Unpack[Given]
) -> None:
    """Record the verdict on one claim; prints the decision's id. A later one of yours replaces it.

    Without --blind the judge's verdict is taken to have been seen: the decision moves adjusted values, not agreement
    and corrected ones.
    """
    history, case, act = _open(invocation, run, question, given, claim)
    decision = history.record(decide_claim(case, claim, verdict, act))
    _announce(invocation, decision, act, f"{question} {claim} {verdict}")


@audit_command.command("add-claim")
@click.argument("run")
@click.argument("question")
@click.argument("text")
@click.argument("verdict", type=click.Choice(CLASSES))
@_act_options
@click.pass_obj
def add_claim_command(
    invocation: Invocation, run: str, question: str, text: str, verdict: str, **given: Unpack[Given]
) -> None:
    """Add a claim of the answer that the judge missed, with its verdict; prints the decision's id."""
    history, case, act = _open(invocation, run, question, given, None)
    decision = history.record(add_claim(case, text, verdict, act))
    _announce(invocation, decision, act, f"{question} {decision.claim_id} {verdict}")


@audit_command.command("score")
@click.argument("run")
@click.argument("question")
@click.argument("metric")
@click.argument("value", metavar="N")
@_act_options
@click.pass_obj
def score_command(
    invocation: Invocation, run: str, question: str, metric: str, value: str, **given: Unpack[Given]
) -> None:
    """Record a score of one answer (N: a number in the metric's range, or skip); prints the decision's id."""
    history, case, act = _open(invocation, run, question, given, None)
    decision = history.record(score_answer(case, metric, None if value == SKIP else _number(value), act))
    _announce(invocation, decision, act, f"{question} {metric} {value}")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"not a number: {text!r}", f"Give a score such as 7, or {SKIP}.")
    return value


@audit_command.command("adjudicate")
@click.argument("run")
@click.argument("question")
@click.argument("claim")
@click.argument("verdict", type=click.Choice(CLASSES))
@_act_options
@click.pass_obj
def adjudicate_command(
    invocation: Invocation, run: str, question: str, claim: str, verdict: str, **given: Unpack[Given]
) -> None:
    """Settle a claim on which reviewers differ; names all their decisions."""
    history, case, act = _open(invocation, run, question, given, claim)
    decision = history.record(adjudicate(case, claim, verdict, act))
    _announce(invocation, decision, act, f"{question} {claim} {verdict}")


@audit_command.command("undo")
@click.argument("decision_id", metavar="ID")
@click.option("--reviewer", metavar="NAME", help="Who takes it back: whoever made it.")
@click.option("--reason", help="Why.")
@click.option("--informed", is_flag=True, help="The judge's verdict was seen since: a blind decision still counts.")
@click.pass_obj
def undo_command(
    invocation: Invocation, decision_id: str, reviewer: str | None, reason: str | None, informed: bool
) -> None:
    """Take back one of your own decisions; a blind one counts as never made, unless --informed."""
    from rag_audit.auditing import find_decision, now, require_reviewer

    history = _history_for_writing(invocation)
    target = find_decision(history, decision_id)
    blind = target.blind and not informed
    act = Act(require_reviewer(invocation.root, reviewer), now(), blind=blind, reason=reason)
    decision = history.record(undo(target, Decisions(history.decisions(target.run_id)), act))
    _announce(invocation, decision, act, f"undoes {target.id}")


@audit_command.command("carry")
@click.argument("run")
@click.argument("earlier")
@click.option("--reviewer", metavar="NAME", help="Whose decisions (default: configuration, then git).")
@click.pass_obj
def carry_command(invocation: Invocation, run: str, earlier: str, reviewer: str | None) -> None:
    """Take over one's decisions of EARLIER for RUN where the claim and the excerpt are the same.

    They are never blind and leave the drawn questions alone; where the excerpt changed nothing is taken over.
    """
    from rag_audit.auditing import carry_over, require_reviewer

    history = _history_for_writing(invocation)
    name = require_reviewer(invocation.root, reviewer)
    recorded, stale = carry_over(history, history.resolve(run), history.resolve(earlier), name)
    if invocation.json:
        print_json({"recorded": recorded, "stale": stale})
    else:
        say(f"{len(recorded)} decisions taken over, {stale} stale: their excerpt changed")


@audit_command.command("report")
@click.argument("run")
@click.pass_obj
def report_command(invocation: Invocation, run: str) -> None:
    """What the audit of RUN says: the judge's own, adjusted and corrected values, and how far to trust the judge."""
    from rag_audit.audit.report_json import report_json
    from rag_audit.audit.report_text import report_text
    from rag_audit.auditing import report_run
    from rag_audit.history import History

    history = History(invocation.root)
    summary = history.resolve(run)
    report = report_run(history, history.archived(summary.id).summary)
    if invocation.json:
        print_json(report_json(report))
    else:
        say(report_text(report))
