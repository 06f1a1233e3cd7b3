"""`probe`: plant known faults into verified claims and see whether the judge notices."""

from typing import TYPE_CHECKING, Any

import click

from rag_audit.audit.probe import Rate
from rag_audit.cli.output import diagnose, number, print_json, say, table
from rag_audit.cli.verb import Invocation, verb

if TYPE_CHECKING:
    from rag_audit.probing import Probe


@verb("probe")
@click.argument("run")
@click.option("--n", type=click.IntRange(1), default=50, show_default=True, help="Faults to plant.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is planted where.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Another judge: judge.claims=….")
def probe_command(invocation: Invocation, run: str, n: int, seed: int, overrides: tuple[str, ...]) -> None:
    """Ask the judge of RUN about claims with known faults and about untouched ones.

    Reports how many faults of each kind it catches and how many untouched claims it rejects. Nothing is recorded.
    """
    from rag_audit.config import load_settings
    from rag_audit.history import History
    from rag_audit.probing import judge_setting, probe_run

    history = History(invocation.root)
    summary = history.resolve(run)
    settings = load_settings(invocation.root, judge_setting(summary, overrides))
    probe = probe_run(
        history,
        summary,
        settings,
        n=n,
        seed=seed,
        on_done=lambda question_id: diagnose(f"done {question_id}"),
        on_wait=diagnose,
    )
    if invocation.json:
        print_json({"run": summary.id, **_shape(probe)})
    else:
        say(_text(probe))


def _shape(probe: "Probe") -> dict[str, Any]:
    report = probe.report
    return {
        "judge": probe.judge,
        "same_judge": probe.same_judge,
        "seed": probe.seed,
        "planted": _rate(report.overall),
        "kinds": {kind.value: _rate(rate) for kind, rate in report.caught.items()},
        "false_alarms": _rate(report.false_alarms),
        "claims": [
            {
                "question_id": answer.planted.question_id,
                "claim_id": answer.planted.claim.id,
                "fault": answer.planted.fault,
                "original": answer.planted.original,
                "asked": answer.planted.claim.text,
                "verdict": answer.verdict,
            }
            for answer in report.answers
        ],
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "n": rate.n,
        "rejected": rate.rejected,
        "contradicted": rate.contradicted,
        "failed": rate.failed,
        "rate": rate.share,
        "low": rate.bounds[0],
        "high": rate.bounds[1],
    }


def _text(probe: "Probe") -> str:
    report = probe.report
    rows = [(kind.value.replace("_", " "), rate) for kind, rate in report.caught.items()]
    rows += [("all faults", report.overall), ("untouched claims", report.false_alarms)]
    shown = [
        [
            name,
            str(rate.n),
            str(rate.rejected),
            str(rate.contradicted),
            number(rate.share),
            "–" if rate.bounds[0] is None else f"{number(rate.bounds[0])} to {number(rate.bounds[1])}",
            str(rate.failed),
        ]
        for name, rate in rows
    ]
    other = "" if probe.same_judge is not False else "\nThis is not the judge of the run: its model or prompt differs."
    header = ("planted", "asked", "rejected", "contradicted", "rate", "95 % interval", "no verdict")
    return (
        f"Probe of judge {probe.judge.model} (prompt {probe.judge.prompt_hash}), seed {probe.seed}{other}\n\n"
        f"{table(header, shown, right=(1, 2, 3, 4))}\n\n{_verdict(report.overall, report.false_alarms)}"
    )


def _verdict(caught: Rate, alarms: Rate) -> str:
    """What the two rates mean together."""
    if caught.share is None or alarms.share is None:
        return "Too few usable verdicts to say anything."
    told_apart = caught.bounds[0] is not None and alarms.bounds[1] is not None and caught.bounds[0] > alarms.bounds[1]
    if not told_apart:
        return "The judge does not tell planted faults from untouched claims: its average means nothing yet."
    return f"Of planted faults {caught.share:.0%} are not called verified, of untouched claims {alarms.share:.0%}."
