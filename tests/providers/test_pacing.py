import asyncio

import pytest

from rag_audit.providers.pacing import CallFailed, Pacer, retry_after_s
from tests.loopback import FakeClock


def limited(retry_after: float | None = None) -> CallFailed:
    return CallFailed("rate_limit", "HTTP 429", retryable=True, slow_down=True, retry_after_s=retry_after)


async def test_a_rate_limit_halves_the_calls_at_a_time_and_success_lets_them_grow_back() -> None:
    clock = FakeClock()
    pacer = Pacer(at_most=8, retries=3, max_wait_s=60, clock=clock)
    failures = iter([limited(2), limited(2)])

    async def call() -> str:
        failure = next(failures, None)
        if failure:
            raise failure
        return "ok"

    assert await pacer.call(call) == "ok"
    assert pacer.allowed == 2
    for _ in range(2 + 3):
        await pacer.call(call)
    assert pacer.allowed == 4
    for _ in range(4 + 5 + 6 + 7 + 20):
        await pacer.call(call)
    assert pacer.allowed == 8


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    pacer = Pacer(at_most=3, retries=0, max_wait_s=1, clock=FakeClock())
    under_way = highest = 0

    async def call() -> None:
        nonlocal under_way, highest
        under_way += 1
        highest = max(highest, under_way)
        for _ in range(3):
            await asyncio.sleep(0)
        under_way -= 1

    await asyncio.gather(*(pacer.call(call) for _ in range(20)))
    assert highest == 3


async def test_while_a_service_asks_to_wait_nobody_calls_it() -> None:
    clock = FakeClock()
    pacer = Pacer(at_most=8, retries=3, max_wait_s=60, clock=clock)
    called_at: list[float] = []

    async def call(fail_first: bool) -> None:
        called_at.append(clock.now)
        if fail_first and len(called_at) == 1:
            raise limited(30)

    begun = clock.now
    await asyncio.gather(pacer.call(lambda: call(True)), *(pacer.call(lambda: call(False)) for _ in range(3)))
    later = [at for at in called_at if at > begun]
    assert all(at >= begun + 30 for at in later)
    await pacer.call(lambda: call(False))
    assert called_at[-1] >= begun + 30


async def test_a_call_that_waited_for_its_place_does_not_call_a_service_that_asked_to_wait_meanwhile() -> None:
    class SlowClock(FakeClock):
        async def sleep(self, seconds: float) -> None:
            for _ in range(20):
                await asyncio.sleep(0)
            self.now += seconds

    clock = SlowClock()
    pacer = Pacer(at_most=1, retries=1, max_wait_s=60, clock=clock)
    called_at: list[float] = []

    async def call() -> None:
        called_at.append(clock.now)
        await asyncio.sleep(0)  # the other call comes to wait for the place
        if len(called_at) == 1:
            raise limited(30)

    begun = clock.now
    await asyncio.gather(pacer.call(call), pacer.call(call))
    assert called_at[0] == begun
    assert all(at >= begun + 30 for at in called_at[1:])


async def test_a_wait_can_be_cancelled() -> None:
    pacer = Pacer(at_most=1, retries=5, max_wait_s=3600)

    async def call() -> None:
        raise limited(3600)

    task = asyncio.create_task(pacer.call(call))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_may_not_pass_is_not_tried_again() -> None:
    clock = FakeClock()
    pacer = Pacer(at_most=1, retries=5, max_wait_s=60, clock=clock)
    tried = 0

    async def call() -> None:
        nonlocal tried
        tried += 1
        raise CallFailed("bad_request", "HTTP 400")

    with pytest.raises(CallFailed):
        await pacer.call(call)
    assert (tried, clock.waits) == (1, [])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:10 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after_is_seconds_a_date_or_milliseconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=60.0) == seconds
