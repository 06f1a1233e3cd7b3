"""A run under way in a thread with a loop of its own, so that the screen stays quick and stopping is immediate."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from rag_audit.attempt import Progress, Watcher
from rag_audit.model import RunSummary

Start = Callable[[Watcher], Coroutine[Any, Any, RunSummary]]
"""Starts an evaluation that tells a watcher how it goes."""


@dataclass(slots=True)
class Evaluation:
    """What a watcher may ask of a run at any time; only its thread writes."""

    start: Start
    done: int = 0
    total: int = 0
    run_id: str = ""
    note: str = "preparing"
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=200))
    summary: RunSummary | None = None
    error: BaseException | None = None
    stopped: bool = False
    began: float = field(default_factory=monotonic)
    ended: float | None = None
    _done_before: int | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _task: "asyncio.Task[RunSummary] | None" = None
    _thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the run."""
        self._thread = threading.Thread(target=self._work, name="evaluation", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        async def run() -> RunSummary:
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.ensure_future(self.start(self._watch))
            if self.stopped:
                self._task.cancel()
            return await self._task

        try:
            self.summary = asyncio.run(run())
        except asyncio.CancelledError:
            self.stopped = True
        except Exception as error:
            self.error = error
        finally:
            self.ended = monotonic()

    def _watch(self, progress: Progress) -> None:
        if progress.event in ("waiting", "warning"):
            self.note = progress.note
            return
        self.run_id, self.done, self.total, self.note = progress.run_id, progress.done, progress.total, ""
        if self._done_before is None:
            self._done_before = progress.done
        if progress.question_id is not None:
            self.recent.appendleft(progress.question_id)

    @property
    def running(self) -> bool:
        """Whether the run has not ended yet."""
        return self.ended is None

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return (self.ended or monotonic()) - self.began

    @property
    def left_s(self) -> float | None:
        """Seconds left at the pace so far; None before the first question is done."""
        fresh = self.done - (self._done_before or 0)
        return None if fresh <= 0 else self.elapsed_s / fresh * (self.total - self.done)

    def stop(self, *, wait_s: float = 0.0) -> None:
        """Cancel the run; what is finished stays on disk. Waits at most so long for the thread."""
        self.stopped = True
        if self._loop is not None and self._task is not None and self.running:
            self._loop.call_soon_threadsafe(self._task.cancel)
        if wait_s and self._thread is not None:
            self._thread.join(wait_s)
