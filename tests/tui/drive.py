"""Driving the application in tests: wait for conditions, read the screen as text."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot
from textual.screen import Screen

from rag_audit.history import History
from rag_audit.model.settings import Settings
from rag_audit.tui.app import ReviewApp
from rag_audit.tui.source import Source

PATIENCE_S = 20


async def wait_until(pilot: Pilot[None], condition: Callable[[], bool], what: str = "the condition") -> None:
    """Let the application work until the condition holds; fail loudly when it never does."""
    deadline = monotonic() + PATIENCE_S
    while not condition():
        if monotonic() > deadline:
            raise AssertionError(f"{what} never came true; the screen was:\n{screen_text(pilot.app.screen)}")
        await asyncio.sleep(0.02)


def screen_lines(screen: "Screen[object]") -> list[str]:
    """The lines that are painted, as text."""
    return ["".join(segment.text for segment in strip) for strip in screen._compositor.render_strips()]


def screen_text(screen: "Screen[object]") -> str:
    """What is painted, as text."""
    return "\n".join(line.rstrip() for line in screen_lines(screen))


@asynccontextmanager
async def opened(
    project: Path, *, size: tuple[int, int] = (80, 24), run: str | None = None, reviewer: str | None = "ada"
) -> AsyncIterator[Pilot[None]]:
    """The application on a project's history, ready for keys."""
    app = ReviewApp(Source(project, Settings(), History(project), reviewer=reviewer), run=run)
    async with app.run_test(size=size) as pilot:
        yield pilot


async def sees(pilot: Pilot[None], text: str) -> None:
    """Wait until a text is on the screen."""
    await wait_until(pilot, lambda: text in screen_text(pilot.app.screen), f"“{text}” on the screen")


async def loses(pilot: Pilot[None], text: str) -> None:
    """Wait until a text is gone from the screen."""
    await wait_until(pilot, lambda: text not in screen_text(pilot.app.screen), f"“{text}” gone from the screen")


async def steady(pilot: Pilot[None]) -> str:
    """Wait until nothing is loading and the screen has stopped changing; returns what is painted."""
    seen: list[str] = []
    began = monotonic()

    def unchanged() -> bool:
        # Looking costs more than waiting: not before the 50 ms are over that a list waits for its cursor to rest.
        if any(not worker.is_finished for worker in pilot.app.workers) or monotonic() < began + 0.06:
            return False
        seen.append(screen_text(pilot.app.screen))
        return len(seen) >= 3 and len(set(seen[-3:])) == 1

    await wait_until(pilot, unchanged, "a steady screen")
    return seen[-1]
