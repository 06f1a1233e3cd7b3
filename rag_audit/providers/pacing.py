"""Calls to a service at the pace it allows: waits that are shown, capped and cancellable, and fewer calls at a time.

A rate limit or an overload halves the number of calls under way and makes every caller wait; success lets it grow back.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

from rag_audit.providers.protocols import OnWait

T = TypeVar("T")
_FIRST_WAIT_S = 1.0
_GROWTH = 2.0


class Clock(Protocol):
    """Where time comes from, so that tests need not wait."""

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        ...

    def wall(self) -> float:
        """Seconds since 1970."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; can be cancelled."""
        ...


class SystemClock:
    """The machine's own time."""

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait; can be cancelled."""
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class CallFailed(Exception):
    """One attempt failed; `reason` is the word that a missing score gives."""

    reason: str
    detail: str
    retryable: bool = False
    slow_down: bool = False
    """Whether the service asked for fewer calls."""
    retry_after_s: float | None = None
    rejected: bool = False
    """Whether the key was refused: no other call can succeed either."""
    may_cost: bool = False
    """Whether the service may have done (and charged) the work all the same."""


class Pacer:
    """The pace of one service: how many calls at a time, and until when nobody calls."""

    def __init__(
        self,
        *,
        at_most: int,
        retries: int,
        max_wait_s: float,
        on_wait: OnWait | None = None,
        clock: Clock | None = None,
        seed: int = 0,
    ) -> None:
        """At most so many calls under way, `retries` attempts after the first, and no single wait over `max_wait_s`."""
        self._at_most = at_most
        self._allowed = at_most
        self._under_way = 0
        self._retries = retries
        self._max_wait_s = max_wait_s
        self._on_wait = on_wait or (lambda note: None)
        self._clock = clock or SystemClock()
        self._closed_until = 0.0
        self._good_since = 0
        self._change = asyncio.Condition()
        self._random = random.Random(seed)

    @property
    def allowed(self) -> int:
        """How many calls may be under way at the moment."""
        return self._allowed

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Make a call, again after failures that may pass; raises the last CallFailed."""
        for tried in range(self._retries + 1):
            try:
                async with self._place():
                    await self._until_open()  # only now: it may close while a call waits for its place
                    result = await attempt()
            except CallFailed as failure:
                if not failure.retryable or tried == self._retries:
                    raise
                await self._wait_after(failure, tried)
            else:
                self._succeeded()
                return result
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _wait_after(self, failure: CallFailed, tried: int) -> None:
        backoff = _FIRST_WAIT_S * _GROWTH**tried * self._random.uniform(0.75, 1.0)
        asked = failure.retry_after_s if failure.retry_after_s is not None else backoff
        wait_s = min(max(asked, 0.0), self._max_wait_s)
        self._on_wait(f"waiting {wait_s:.0f} s, {failure.reason.replace('_', ' ')}")
        if failure.slow_down:
            self._allowed = max(self._allowed // 2, 1)
            self._good_since = 0
            self._closed_until = max(self._closed_until, self._clock.monotonic() + wait_s)
            await self._until_open()
        else:
            await self._clock.sleep(wait_s)

    async def _until_open(self) -> None:
        while (left := self._closed_until - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)

    def _succeeded(self) -> None:
        if self._allowed < self._at_most:
            self._good_since += 1
            if self._good_since >= self._allowed:
                self._good_since = 0
                self._allowed += 1

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        async with self._change:
            await self._change.wait_for(lambda: self._under_way < self._allowed)
            self._under_way += 1
        try:
            yield
        finally:
            async with self._change:
                self._under_way -= 1
                self._change.notify_all()


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds a reply asks to wait: `retry-after-ms`, or `retry-after` as seconds or a date; None where it does not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after")
    if stated is None:
        return None
    seconds = _number(stated)
    if seconds is not None:
        return seconds
    try:
        return max(parsedate_to_datetime(stated).timestamp() - now, 0.0)
    except (TypeError, ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None
