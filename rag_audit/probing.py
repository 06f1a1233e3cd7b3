"""Runs the judge probe: opens the run's judge and asks it about planted and untouched claims together."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_audit.audit.probe import Answered, Asking, ProbeReport, plan_probe, summarise_probe
from rag_audit.errors import ConfigError, UsageError
from rag_audit.history import History
from rag_audit.model import UNKNOWN, JudgeIdentity, RunSummary
from rag_audit.model.settings import Settings
from rag_audit.providers.open import open_claim_judge
from rag_audit.providers.protocols import ClaimJudge, OnWait


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe that was made: who was asked, with which seed, and how it did."""

    judge: JudgeIdentity
    same_judge: bool | None
    """Whether this is the judge of the run, prompt included; None: the run does not say."""
    seed: int
    report: ProbeReport


def judge_setting(run: RunSummary, overrides: Sequence[str]) -> tuple[str, ...]:
    """The settings that open the run's own claim judge, unless another one is asked for."""
    if any(text.startswith("judge.claims=") for text in overrides):
        return tuple(overrides)
    name = run.context.judges.get("claims", UNKNOWN)
    if name in (UNKNOWN, "none"):
        raise UsageError(f"run {run.id} does not say which judge it had", "Name one: --set judge.claims=offline")
    return (*overrides, f"judge.claims={name}")


def probe_run(
    history: History,
    run: RunSummary,
    settings: Settings,
    *,
    n: int,
    seed: int,
    on_done: Callable[[str], None] = lambda question_id: None,
    on_wait: OnWait | None = None,
) -> Probe:
    """Probe the judge that the settings name with up to n faults planted into verified claims of a run.

    UsageError where the run has no verified claim with an excerpt to judge by.
    """
    askings = plan_probe(list(history.results(run.id)), n, seed)
    if not askings:
        raise UsageError(f"run {run.id} has no verified claim with an excerpt", "Probe a run whose claims were judged.")
    judge = open_claim_judge(settings, on_wait)
    if judge is None:
        raise ConfigError("judge.claims is none: there is no judge to probe", "Name one: --set judge.claims=offline")
    answers = asyncio.run(ask_all(judge, askings, settings.integer("workers"), on_done))
    prompt = run.context.prompts.get("claims")
    same = (
        None
        if prompt is None
        else (judge.identity.model, judge.identity.prompt_hash)
        == (
            run.context.judges.get("claims"),
            prompt,
        )
    )
    return Probe(judge.identity, same, seed, summarise_probe(answers))


async def ask_all(
    judge: ClaimJudge, askings: Sequence[Asking], workers: int, on_done: Callable[[str], None]
) -> list[Answered]:
    """Ask about every answer, so many at a time; closes the judge; a rejected key ends it."""
    free = asyncio.Semaphore(workers)

    async def ask(asking: Asking) -> list[Answered]:
        async with free:
            answered = await _ask(judge, asking)
        on_done(asking.result.question.id)
        return answered

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(asking)) for asking in askings]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    finally:
        await judge.aclose()
    return [answered for task in tasks for answered in task.result()]


async def _ask(judge: ClaimJudge, asking: Asking) -> list[Answered]:
    """Ask about the claims of one answer; they are matched by id, never by position."""
    assert asking.result.claim_judgment is not None
    judgment, _ = await judge.judge_claims(
        asking.result.question,
        asking.answer,
        asking.result.claim_judgment.excerpt,
        [planted.claim for planted in asking.claims],
    )
    said = {claim.id: claim.verdict for claim in judgment.claims}
    return [Answered(planted, said.get(planted.claim.id)) for planted in asking.claims]
