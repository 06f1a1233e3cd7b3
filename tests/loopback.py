"""A service on the loopback interface that speaks the Anthropic protocol over real HTTP, with scripted faults.

Headers and body go out in one write: two writes would cost a delayed acknowledgement, 40 ms a call.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        return "".join(block["text"] for block in self.body.get("system", []))

    @property
    def is_judge(self) -> bool:
        return "output_config" in self.body


@dataclass(frozen=True, slots=True)
class Response:
    """One response; `fault` says how it goes wrong on the wire."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    fault: str = ""
    """reset (after half of the body) | drip (a byte every 10 ms) | silence (nothing, ever)."""

    def encoded(self) -> bytes:
        headers = {"content-type": "application/json", "content-length": str(len(self.body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} {'OK' if self.status == 200 else 'Fault'}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


Answering = Callable[[Request], Response]


def message(text: str | None = "", **fields: Any) -> Response:
    """A complete reply with this text; `fields` override what the message says."""
    content = [] if text is None else [{"type": "text", "text": text}]
    body: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-as-reported",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }
    return Response(body=orjson.dumps(body | fields))


def claims(*entries: tuple[str, str, str]) -> Response:
    """A claim judge's reply: (claim, verdict, quote) each."""
    listed = [{"claim": text, "verdict": verdict, "quote": quote, "reason": "r"} for text, verdict, quote in entries]
    return message(orjson.dumps({"claims": listed}).decode())


def scores(faithfulness: Any = 9, completeness: Any = 8) -> Response:
    """A score judge's reply."""
    value = {"faithfulness": faithfulness, "completeness": completeness, "justification": "j"}
    return message(orjson.dumps(value).decode())


def failure(status: int, text: str = "no", **headers: str) -> Response:
    """An error reply with the protocol's error body."""
    body = orjson.dumps({"type": "error", "error": {"type": "some_error", "message": text}})
    return Response(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def script(*responses: Response) -> Answering:
    """Answer with each response in turn, then with the last one for ever."""
    turns: Iterator[Response] = iter(responses)
    last = responses[-1]
    return lambda request: next(turns, last)


class Loopback:
    """The service: what it answers, and every request it got."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.times: list[tuple[float, float]] = []
        """Start and end of each call, in seconds of the event loop."""
        self.url = ""
        self._connections: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        started = asyncio.get_running_loop().time()
        request = Request(head[0].split(" ")[1], headers, orjson.loads(body))
        self.requests.append(request)
        response = self.answer(request)
        if response.delay_s:
            await asyncio.sleep(response.delay_s)
        encoded = response.encoded()
        if response.fault == "silence":
            await reader.read()
            return False
        if response.fault == "drip":
            for at in range(len(encoded)):
                writer.write(encoded[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.01)
            return False
        if response.fault == "reset":
            writer.write(encoded[: len(encoded) - len(response.body) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        writer.write(encoded)
        await writer.drain()
        self.times.append((started, asyncio.get_running_loop().time()))
        return True

    async def close(self) -> None:
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


@asynccontextmanager
async def serving(answer: Answering) -> AsyncIterator[Loopback]:
    """A running service on a free port."""
    service = Loopback(answer)
    server = await asyncio.start_server(service.connected, "127.0.0.1", 0, limit=2**20)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield service
    finally:
        server.close()
        await service.close()
        await server.wait_closed()


class FakeClock:
    """Time that passes only when somebody waits; every wait is recorded."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)
