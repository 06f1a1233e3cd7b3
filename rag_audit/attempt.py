"""One attempt at finishing a run: workers take questions, and a result is on disk before it counts as done."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from rag_audit.history import History, RunWriter
from rag_audit.model import QuestionResult, RunSummary
from rag_audit.summary import MetricKind, SummaryBuilder

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher of a run is told.

    `warning` (about questions or documents), `started`, `done` (on disk), `waiting` (for a service), `closed`.
    """

    event: str
    run_id: str = ""
    done: int = 0
    total: int = 0
    question_id: str | None = None
    note: str = ""


Watcher = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Nobody watches."""


class Attempt:
    """Appends results to a run, adds them up, and closes the run; knows how much was spent."""

    def __init__(
        self,
        history: History,
        writer: RunWriter,
        watch: Watcher,
        declared: Mapping[str, MetricKind] | None = None,
    ) -> None:
        self._writer = writer
        self._watch = watch
        self._builder = SummaryBuilder(declared)
        self._done = 0
        if writer.finished:
            for result in history.results(writer.header.id):
                self._count(result)
        self._tell("started")

    @property
    def spent_usd(self) -> float:
        """Known cost of all calls of the run so far, earlier attempts included."""
        return self._builder.known_usd

    async def work(
        self,
        items: Iterable[Item],
        evaluate: Callable[[Item], Awaitable[list[QuestionResult]]],
        workers: int,
    ) -> None:
        """Let so many workers take items until none is left; the first error stops them all."""
        waiting = iter(items)

        async def worker() -> None:
            for item in waiting:
                for result in await evaluate(item):
                    await self._keep(result)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(worker())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _keep(self, result: QuestionResult) -> None:
        """Put a result on disk, in a thread: a sync takes milliseconds that calls under way need."""
        if (result.question.id, result.repeat) in self._writer.finished:
            return
        writing = asyncio.ensure_future(asyncio.to_thread(self._writer.append, result))
        try:
            stored = await asyncio.shield(writing)
        except asyncio.CancelledError:
            await writing  # what was answered stays, also when the run is stopped at this moment
            raise
        self._count(stored)
        self._tell("done", stored.question.id)

    def _count(self, result: QuestionResult) -> None:
        self._builder.add(result)
        self._done += 1

    def _tell(self, event: str, question_id: str | None = None) -> None:
        header = self._writer.header
        self._watch(Progress(event, header.id, self._done, header.questions, question_id))

    def close(self, notes: Sequence[str] = ()) -> RunSummary:
        """Archive the run with what a person should know of it: its closing line first, then the ledger line."""
        self._builder.order_by(self._writer.planned)
        summary = self._builder.build(self._writer.header, duration_s=self._writer.elapsed_s)
        summary = replace(summary, notes=(*summary.notes, *notes))
        self._writer.close(summary, self._builder.rows)
        self._tell("closed")
        return summary
