"""One service behind the Anthropic protocol: sends a conversation, returns the reply as it came, names failures."""

import asyncio
import json
import os
import ssl
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from rag_audit.errors import ConfigError, KeyRejected
from rag_audit.model import Usage
from rag_audit.model.settings import Settings
from rag_audit.providers.conversation import KeptReplies, Reply, Turn
from rag_audit.providers.pacing import CallFailed, Clock, Pacer, retry_after_s
from rag_audit.providers.prices import BilledTokens, Price, price_of
from rag_audit.providers.protocols import OnWait
from rag_audit.redact import Redactor
from rag_audit.text.storable import storable

if TYPE_CHECKING:
    import anthropic

KEY_VARIABLE = "ANTHROPIC_API_KEY"
LARGEST_REPLY = 2_000_000
"""Bytes of a reply beyond which it is no reply to the question that was asked."""
_REASONS: Mapping[int, str] = {
    400: "bad_request",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "request_too_large",
    429: "rate_limit",
    529: "overloaded",
}
_REJECTED = frozenset({401, 402, 403})
_RETRYABLE = frozenset({408, 409, 429})
_SHOWN_DETAIL = 300
_OFFLINE: Mapping[str, str] = {
    "generator": "--set generator=offline",
    "judge": "--set judge.claims=offline --set judge.scores=offline",
}
_CALLS_PER_POOL = 8
"""Connections of one pool: a pool looks at all of its idle connections before each call, so large ones are slow."""


class AnthropicService:
    """Sends conversations to one model; holds its connections, its pace and what it knows of its cache."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str,
        max_tokens: int,
        timeout_s: float,
        pacer: Pacer,
        price: Price | None,
        clock: Clock,
        kept: KeptReplies | None = None,
    ) -> None:
        """The client itself is made at the first call: importing the SDK takes a second."""
        self.model = model
        self.base_url = base_url
        self.max_tokens = max_tokens
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._pacer = pacer
        self._price = price
        self._clock = clock
        self._kept = kept
        self._redactor = Redactor({KEY_VARIABLE: api_key})
        self._clients: list[anthropic.AsyncAnthropic] = []
        self._under_way: list[int] = []
        self._tls: ssl.SSLContext | None = None
        self._replies = 0
        self._cache_hits = 0

    async def ask(self, system: str, turns: Sequence[Turn], schema: Mapping[str, Any] | None = None) -> Reply:
        """Send a conversation and return the reply; raises CallFailed, or KeyRejected when the key is refused."""
        request = self._request(system, turns, schema)
        key = self._kept.key({**request, "base_url": self._where()}) if self._kept else ""
        kept = self._kept.get(key) if self._kept else None
        if kept is not None:
            return kept
        try:
            reply = await self._pacer.call(lambda: self._attempt(request))
        except CallFailed as failure:
            if failure.rejected:
                raise KeyRejected(
                    f"{self._where()} refused the key: {failure.detail}",
                    f"Set {KEY_VARIABLE} to a valid key; what was finished is kept, `rag-audit runs` shows it.",
                    reason=failure.reason,
                ) from None
            raise
        if self._kept:
            self._kept.put(key, reply)
        return reply

    def cache_note(self) -> str | None:
        """Why caching of the constant prefix saved nothing although it was asked for; None where it did."""
        if self._replies < 2 or self._cache_hits:
            return None
        return (
            f"{self.model}: prompt caching was asked for and never hit in {self._replies} replies;"
            " the constant prefix is probably below the model's minimum (1,024 tokens or more)"
        )

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.close()
        self._clients, self._under_way = [], []

    def _where(self) -> str:
        return self.base_url or os.environ.get("ANTHROPIC_BASE_URL") or "the Anthropic service"

    @asynccontextmanager
    async def _connection(self) -> "AsyncIterator[anthropic.AsyncAnthropic]":
        """The client that has the fewest calls under way; a new one while all have many."""
        if "anthropic" not in sys.modules:
            await asyncio.to_thread(import_module, "anthropic")  # takes a second, which others may use
        if not self._clients or (min(self._under_way) >= _CALLS_PER_POOL):
            self._clients.append(self._new_client())
            self._under_way.append(0)
        at = self._under_way.index(min(self._under_way))
        self._under_way[at] += 1
        try:
            yield self._clients[at]
        finally:
            self._under_way[at] -= 1

    def _new_client(self) -> "anthropic.AsyncAnthropic":
        import anthropic

        if self._tls is None:
            plain = self._where().startswith("http://")  # reading the machine's certificates takes 50 ms
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else ssl.create_default_context()
        return anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self.base_url,
            max_retries=0,
            timeout=self._timeout_s,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=self._tls),
        )

    def _request(self, system: str, turns: Sequence[Turn], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
        }
        if schema is not None:
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return request

    async def _attempt(self, request: Mapping[str, Any]) -> Reply:
        async with self._connection() as client:
            return await self._exchange(client, request)

    async def _exchange(self, client: "anthropic.AsyncAnthropic", request: Mapping[str, Any]) -> Reply:
        import anthropic
        import httpx2

        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s):
                raw = await client.messages.with_raw_response.create(**request)
                body = await raw.read()
        except (TimeoutError, anthropic.APITimeoutError, httpx2.TimeoutException):
            detail = f"no complete reply within {self._timeout_s:g} s"
            raise CallFailed("timeout", detail, retryable=True, may_cost=True) from None
        except anthropic.APIStatusError as error:
            raise self._status_failure(error) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            raise CallFailed(
                "connection",
                self._plain(f"{type(cause).__name__}: {cause}"),
                retryable=True,
                may_cost=not isinstance(cause, httpx2.ConnectError),
            ) from None
        return self._read(body, time.perf_counter() - started)

    def _status_failure(self, error: "anthropic.APIStatusError") -> CallFailed:
        status = error.status_code
        server = status >= 500
        return CallFailed(
            reason="key_rejected"
            if status in _REJECTED
            else _REASONS.get(status, "server_error" if server else "refused"),
            detail=self._plain(f"HTTP {status}: {error.api_message or error.message}"),
            retryable=server or status in _RETRYABLE,
            slow_down=status in (429, 529),
            retry_after_s=retry_after_s(error.response.headers, self._clock.wall()),
            rejected=status in _REJECTED,
        )

    def _read(self, body: bytes, latency_s: float) -> Reply:
        """The reply in a body, whatever else the body holds."""
        if len(body) > LARGEST_REPLY:
            raise CallFailed("reply_too_large", f"the reply has {len(body):,} bytes", may_cost=True)
        message = _json_object(body)
        content = message.get("content") if message else None
        if message is None or not isinstance(content, list):
            shown = self._plain(body[:_SHOWN_DETAIL].decode("utf-8", "replace"))
            raise CallFailed("invalid_reply", f"not a message: {shown}", retryable=True, may_cost=True)
        usage, billed = _usage(message.get("usage"))
        self._replies += 1
        self._cache_hits += bool(usage.cached_input_tokens)
        return Reply(
            text=storable(_text_of(content)),
            model=_text(message.get("model")),
            stop_reason=_text(message.get("stop_reason")),
            usage=usage,
            cost_usd=self._price.cost(billed) if self._price and billed else None,
            latency_s=latency_s,
        )

    def _plain(self, text: str) -> str:
        """An error's text without the key and not longer than a person reads."""
        return storable(self._redactor.text(text))[:_SHOWN_DETAIL]


def open_service(
    settings: Settings,
    role: str,
    model: str,
    *,
    on_wait: OnWait | None,
    clock: Clock,
    kept: KeptReplies | None = None,
) -> AnthropicService:
    """The service of one role (generator | judge); ConfigError without a key, before any request."""
    api_key = os.environ.get(KEY_VARIABLE, "").strip()
    if not api_key:
        raise ConfigError(
            f"anthropic:{model} needs a key, and {KEY_VARIABLE} is not set",
            f"Set {KEY_VARIABLE} in the environment, or use the offline models: {_OFFLINE[role]}.",
        )
    if not model:
        raise ConfigError("anthropic: names no model", "Write anthropic:MODEL, such as anthropic:claude-sonnet-5-5.")
    return AnthropicService(
        model,
        base_url=settings.optional(f"{role}.base_url"),
        api_key=api_key,
        max_tokens=settings.integer(f"{role}.max_tokens"),
        timeout_s=settings.number("timeout_s"),
        pacer=Pacer(
            at_most=settings.integer("workers"),
            retries=settings.integer("retries"),
            max_wait_s=settings.number("max_wait_s"),
            on_wait=on_wait,
            clock=clock,
            seed=settings.integer("seed"),
        ),
        price=price_of(settings.mapping("prices"), f"anthropic:{model}", model),
        clock=clock,
        kept=kept,
    )


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(body.decode("utf-8", "replace"))  # takes lone surrogates, which orjson refuses
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _text_of(content: Sequence[Any]) -> str:
    """The text blocks of a reply; where there are none, the JSON that a service forced through a tool gives it."""
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    if "".join(texts).strip():
        return "".join(texts)
    inputs = [block["input"] for block in blocks if block.get("type") == "tool_use" and "input" in block]
    return json.dumps(inputs[0], ensure_ascii=False) if len(inputs) == 1 else ""


def _usage(stated: Any) -> tuple[Usage, BilledTokens | None]:
    """Tokens as reported: fresh input includes what was written to the cache, and never what was read from it."""
    if not isinstance(stated, Mapping):
        return Usage(), None
    fresh, output = _count(stated.get("input_tokens")), _count(stated.get("output_tokens"))
    written = _count(stated.get("cache_creation_input_tokens")) or 0
    read = _count(stated.get("cache_read_input_tokens"))
    usage = Usage(
        input_tokens=None if fresh is None else fresh + written, cached_input_tokens=read, output_tokens=output
    )
    if fresh is None or output is None:
        return usage, None
    return usage, BilledTokens(fresh, written, read or 0, output)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) else None
