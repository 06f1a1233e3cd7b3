"""Run an evaluation from the questions to the archived run, and judge archived answers again.

load questions -> route -> retrieve -> generate -> judge -> score -> archive
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rag_audit import __version__
from rag_audit.attempt import Attempt, Progress, Watcher, unwatched
from rag_audit.config import load_settings
from rag_audit.context import flatten, judging_settings, run_context
from rag_audit.corpus.check import Prepared, chosen_questions, prepare
from rag_audit.corpus.retrieve import open_retriever
from rag_audit.errors import ConfigError, UsageError
from rag_audit.estimate import unpriced_models
from rag_audit.evaluation import Evaluator, Judges, judge_again
from rag_audit.history import History, RunWriter, check_label, new_run_id
from rag_audit.model import Origin, Question, QuestionResult, RunContext, RunStatus, RunSummary
from rag_audit.model.settings import Settings
from rag_audit.providers.conversation import KeptReplies
from rag_audit.providers.open import open_claim_judge, open_generator, open_score_judge
from rag_audit.redact import Redactor
from rag_audit.routing import route_question

Planned = Sequence[tuple[str, int | None]]


async def run_evaluation(
    project: Path,
    *,
    overrides: Sequence[str] = (),
    label: str | None = None,
    only: Sequence[str] = (),
    resume: str | None = None,
    max_cost_usd: float | None = None,
    reuse_replies: bool = False,
    watch: Watcher = unwatched,
) -> RunSummary:
    """Evaluate the project's questions and archive the run; returns its summary.

    `overrides` are `key=value` settings for this run; `only` limits it to question ids; `resume` finishes an
    interrupted run under its own id and settings, with the replies that were kept; `reuse_replies` takes those of other
    runs as well. Cancelling keeps every finished question. Raises ConfigError before any call to a model when
    questions, documents or settings are wrong, and KeyRejected when a key is refused.
    """
    check_label(label)
    interrupted = History(project).resolve(resume) if resume else None
    if interrupted and interrupted.origin is Origin.REJUDGED:
        raise UsageError(
            f"{interrupted.id} judges the answers of {interrupted.parent} again: that cannot be resumed",
            f"`rag-audit rejudge {interrupted.parent}` with the same options judges them anew.",
        )
    settings = load_settings(project, interrupted.overrides if interrupted else overrides)
    if max_cost_usd is not None and (unpriced := unpriced_models(settings)):
        raise ConfigError(
            f"--max-cost cannot be kept: the price of {', '.join(unpriced)} is unknown",
            "State it under `prices` in documents/config.yml, or leave --max-cost away.",
        )
    history = History(project, redact=settings.items("redact"))
    writer = history.resume(interrupted.id) if interrupted else None
    try:
        prepared = prepare(project, settings)
        for warning in prepared.warnings:
            watch(Progress("warning", note=warning))
        questions = chosen_questions(prepared.questions, [id_ for id_, _ in writer.planned] if writer else only)
        redactor = Redactor(os.environ, settings.items("redact"))
        kept = KeptReplies(project, of_other_runs=reuse_replies, redact=redactor.text)
        async with open_evaluator(project, prepared, watch, kept) as evaluator:
            context = _context_of(prepared, questions, evaluator)
            if writer:
                _refuse_changes(writer.header.context, context)
            else:
                planned = _planned([(question.id, None) for question in questions], evaluator.judges.repeats)
                writer = history.start(_header(label, context, planned, overrides=tuple(overrides)), planned)
            kept.begin(writer.header.id)
            attempt = Attempt(history, writer, watch)

            async def evaluate(question: Question) -> list[QuestionResult]:
                route = route_question(question, prepared.table, prepared.settings)
                if max_cost_usd is not None and attempt.spent_usd >= max_cost_usd:
                    return evaluator.unjudged(QuestionResult(question, route, error="max_cost"))
                return await evaluator.evaluate(question, route)

            await attempt.work(_unfinished(questions, writer), evaluate, settings.integer("workers"))
            return attempt.close(evaluator.notes())
    except BaseException:
        # Whatever stops the run (a refused key, ctrl-c, a full disk): what is finished stays and can be resumed.
        if writer:
            writer.abandon()
        raise


async def rejudge(
    history: History,
    run_id: str,
    settings: Settings,
    roles: frozenset[str],
    *,
    keep_claims: bool = True,
    label: str | None = None,
    watch: Watcher = unwatched,
) -> RunSummary:
    """Judge the archived answers of a run again in the given roles (claims, scores), as a new run with a parent.

    Answers, contexts and excerpts are the archived ones, so that every difference is the judge's. With `keep_claims`
    the archived claims are judged again where there are any, else the judge lists them anew.
    """
    check_label(label)
    parent = history.archived(run_id)
    judges = open_judges(settings, watch, roles)
    if not judges.roles:
        raise UsageError("no judge is asked", "Name one: --set judge.claims=… or --set judge.scores=….")
    known = parent.summary.context.settings
    judging = {key: value for key, value in judging_settings(settings).items() if key in known}
    context = replace(
        parent.summary.context,
        judges={**parent.summary.context.judges, **judges.models()},
        prompts={**parent.summary.context.prompts, **judges.prompts()},
        settings={**known, **judging},
        version=__version__,
    )
    planned = _planned([(row.id, row.repeat) for row in parent.rows], judges.repeats)
    header = _header(label, context, planned, origin=Origin.REJUDGED, parent=run_id, source=parent.summary.source)
    writer = history.start(header, planned)
    try:
        declared = {name: (metric.range, metric.direction) for name, metric in parent.summary.metrics.items()}
        attempt = Attempt(history, writer, watch, declared)

        async def evaluate(archived: QuestionResult) -> list[QuestionResult]:
            return await judge_again(archived, judges, keep_claims=keep_claims)

        await attempt.work(history.results(run_id), evaluate, settings.integer("workers"))
        return attempt.close(judges.notes())
    except BaseException:
        writer.abandon()
        raise
    finally:
        await judges.aclose()


@asynccontextmanager
async def open_evaluator(
    project: Path, prepared: Prepared, watch: Watcher, kept: KeptReplies | None = None
) -> AsyncIterator[Evaluator]:
    """Open the index, the generator and the judges of a run; their connections close at its end."""
    settings, documents = prepared.settings, prepared.documents
    tell = _waiting(watch)
    async with AsyncExitStack() as opened:
        generator = open_generator(settings, on_wait=tell, kept=kept)
        opened.push_async_callback(generator.aclose)
        judges = open_judges(settings, watch, kept=kept)
        opened.push_async_callback(judges.aclose)
        # Last, because embedding the documents may cost money: a wrong model or a missing key comes first.
        retriever = await asyncio.to_thread(open_retriever, project, documents, settings, progress=tell)
        opened.callback(retriever.close)
        yield Evaluator(
            retriever=retriever,
            generator=generator,
            judges=judges,
            source_text=lambda doc_id: documents.text(doc_id) if documents.get(doc_id) else None,
            reference_chars=settings.integer("judge.reference_chars"),
            context_chars=settings.integer("judge.context_chars"),
        )


def open_judges(
    settings: Settings,
    watch: Watcher,
    roles: frozenset[str] = frozenset({"claims", "scores"}),
    kept: KeptReplies | None = None,
) -> Judges:
    """The judges that the settings ask for, in the given roles."""
    tell = _waiting(watch)
    return Judges(
        open_claim_judge(settings, on_wait=tell, kept=kept) if "claims" in roles else None,
        open_score_judge(settings, on_wait=tell, kept=kept) if "scores" in roles else None,
        settings.integer("judge.repeats"),
    )


def _waiting(watch: Watcher) -> Callable[[str], None]:
    return lambda note: watch(Progress("waiting", note=note))


def _planned(items: Planned, repeats: int) -> Planned:
    """Every result the run will have: each question once per repeat of its judging."""
    numbered = range(1, repeats + 1) if repeats > 1 else (None,)
    return [(id_, number) for id_, own in items for number in ((own,) if own is not None else numbered)]


def _context_of(prepared: Prepared, questions: Sequence[Question], evaluator: Evaluator) -> RunContext:
    default = prepared.settings.optional("routing.default_corpus") or min(prepared.documents.corpora, default=None)
    return run_context(
        prepared.settings,
        questions,
        retrieval=evaluator.retriever.context(),
        default_corpus=default,
        routing_table=prepared.table.fingerprint(),
        prompts={"generator": evaluator.generator.prompt_hash, **evaluator.judges.prompts()},
    )


def _header(
    label: str | None,
    context: RunContext,
    planned: Planned,
    *,
    overrides: tuple[str, ...] = (),
    origin: Origin = Origin.EVALUATED,
    parent: str | None = None,
    source: str | None = None,
) -> RunSummary:
    now = datetime.now(UTC)
    return RunSummary(
        id=new_run_id(now),
        label=label,
        status=RunStatus.RUNNING,
        origin=origin,
        started_at=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        context=context,
        parent=parent,
        questions=len(planned),
        source=source,
        overrides=overrides,
    )


def _refuse_changes(archived: RunContext, now: RunContext) -> None:
    """A run is finished under the context it was started with, or not at all."""
    before, after = flatten(archived), flatten(now)
    differing = [
        f"{key}: {before.get(key)!r} is now {after.get(key)!r}"
        for key in sorted(before.keys() | after.keys())
        if key != "workers" and _plain(before.get(key)) != _plain(after.get(key))
    ]
    if differing:
        raise ConfigError(
            f"the run cannot be resumed, its context differs: {'; '.join(differing)}",
            "Undo the change, or start a new run.",
        )


def _plain(value: object) -> object:
    """A value as it comes back from disk, where tuples are lists."""
    return list(value) if isinstance(value, tuple) else value


def _unfinished(questions: Sequence[Question], writer: RunWriter) -> list[Question]:
    planned: dict[str, int] = {}
    for id_, _ in writer.planned:
        planned[id_] = planned.get(id_, 0) + 1
    for id_, _ in writer.finished:
        planned[id_] -= 1
    return [question for question in questions if planned[question.id] > 0]
