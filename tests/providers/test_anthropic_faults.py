"""Every fault of a service, over real HTTP: what it costs, what is recorded, and that nothing else breaks."""

from typing import Any

import orjson
import pytest

from rag_audit.errors import ConfigError, KeyRejected, ProviderError
from rag_audit.model import Chunk, Excerpt, Generation, Passage, Question, RetrievedChunk
from rag_audit.model.settings import Settings
from rag_audit.providers.open import open_claim_judge, open_generator
from tests.loopback import Answering, FakeClock, Loopback, Response, failure, message, script, serving

KEY = "sk-test-0123456789abcdef"
QUESTION = Question("q", "What is the default?")
CHUNK = RetrievedChunk(Chunk("a/doc", "a", "The default is 5."), 1)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


class Asked:
    """One generated answer (or failure) and everything around it."""

    def __init__(self, service: Loopback, clock: FakeClock, notes: list[str]) -> None:
        self.service = service
        self.clock = clock
        self.notes = notes
        self.generation: Generation | None = None
        self.error: ProviderError | None = None


async def ask(answer: Answering, **settings: Any) -> Asked:
    async with serving(answer) as service:
        asked = Asked(service, FakeClock(), [])
        values = {**Settings().values, "generator": "anthropic:model-x", "generator.base_url": service.url, **settings}
        generator = open_generator(Settings(values), asked.notes.append, clock=asked.clock)
        try:
            asked.generation = await generator.generate(QUESTION, [CHUNK])
        except ProviderError as error:
            asked.error = error
        finally:
            await generator.aclose()
        return asked


async def test_an_answer_with_the_prompt_as_sent_and_the_model_that_the_reply_names() -> None:
    asked = await ask(script(message("It is 5 [1].", usage={"input_tokens": 7, "output_tokens": 3})))
    generation = asked.generation
    assert generation is not None
    assert generation.answer == "It is 5 [1]."
    assert (generation.model, generation.reported_model) == ("anthropic:model-x", "model-as-reported")
    assert generation.prompt is not None
    (request,) = asked.service.requests
    assert request.system in generation.prompt
    assert request.body["messages"][0]["content"] in generation.prompt
    assert "The default is 5." in generation.prompt
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "temperature" not in request.body
    assert generation.cost_usd is None  # no price is known
    assert asked.clock.waits == []


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"retry_after": "12"}, 12.0),
        ({"retry_after": "Mon, 12 Jan 1970 13:46:55 GMT"}, 15.0),  # the clock starts 13:46:40
        ({"retry_after_ms": "2500"}, 2.5),
        ({"retry_after": "100000"}, 120.0),  # capped
    ],
)
async def test_429_waits_as_long_as_the_service_asks_and_says_so(headers: dict[str, str], waited: float) -> None:
    asked = await ask(script(failure(429, **headers), message("ok")))
    assert asked.generation is not None
    assert asked.clock.waits == [pytest.approx(waited)]
    assert asked.notes == [f"waiting {waited:.0f} s, rate limit"]
    assert asked.generation.latency_s is not None
    assert asked.generation.latency_s < 2


@pytest.mark.parametrize(("status", "reason"), [(429, "rate_limit"), (529, "overloaded"), (500, "server_error")])
async def test_without_retry_after_the_waits_grow(status: int, reason: str) -> None:
    asked = await ask(script(failure(status), failure(status), failure(status), message("ok")))
    assert asked.generation is not None
    first, second, third = asked.clock.waits
    assert 0.75 <= first <= 1 < second * 1.34
    assert first < second < third <= 4
    assert len(asked.notes) == 3
    assert reason.replace("_", " ") in asked.notes[0]


async def test_a_question_that_keeps_failing_is_given_up_with_the_reason() -> None:
    asked = await ask(script(failure(429)), retries=2)
    assert asked.error is not None
    assert asked.error.reason == "rate_limit"
    assert len(asked.service.requests) == 3


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Response(body=b'{"content": [{"type": "te' + b"x" * 4000, fault="reset"), "connection"),
        (Response(fault="silence"), "timeout"),
        (Response(body=b"x" * 2000, fault="drip"), "timeout"),
        (Response(body=b'{"content": ['), "invalid_reply"),
        (Response(body=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}), "invalid_reply"),
        (Response(body=b"[]"), "invalid_reply"),
        (Response(body=b""), "invalid_reply"),
    ],
    ids=["reset", "silence", "drip", "half-json", "html", "no-message", "nothing"],
)
async def test_broken_replies_are_asked_again_and_then_named(broken: Response, reason: str) -> None:
    patience = {"timeout_s": 1.0} if reason == "timeout" else {}
    healed = await ask(script(broken, message("ok")), **patience)
    assert healed.generation is not None
    assert healed.generation.answer == "ok"
    given_up = await ask(script(broken), retries=1, **({"timeout_s": 0.1} if patience else {}))
    assert given_up.error is not None
    assert given_up.error.reason == reason
    assert len(given_up.clock.waits) == 1


@pytest.mark.parametrize(("status", "reason"), [(400, "bad_request"), (404, "not_found"), (413, "request_too_large")])
async def test_a_wrong_request_is_not_repeated(status: int, reason: str) -> None:
    asked = await ask(script(failure(status, "model: model-x")))
    assert asked.error is not None
    assert asked.error.reason == reason
    assert "model: model-x" in str(asked.error)
    assert len(asked.service.requests) == 1


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_refused_key_stops_everything_and_is_never_shown(status: int) -> None:
    asked = await ask(script(failure(status, f"invalid x-api-key {KEY}")))
    assert isinstance(asked.error, KeyRejected)
    assert KEY not in str(asked.error) + asked.error.hint
    assert len(asked.service.requests) == 1


async def test_empty_content_and_refusals_are_answers() -> None:
    empty = (await ask(script(message(None)))).generation
    assert empty is not None
    assert empty.answer == ""
    refused = (await ask(script(message("No.", stop_reason="refusal")))).generation
    assert refused is not None
    assert refused.stop_reason == "refusal"
    cut = (await ask(script(message("It is", stop_reason="max_tokens")))).generation
    assert cut is not None
    assert cut.stop_reason == "max_tokens"


async def test_extra_fields_control_characters_and_lone_surrogates_do_no_harm() -> None:
    body = orjson.loads(message("x").body)
    body["content"] = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A", "more": [1]}, "odd"]
    body["novelty"] = {"a": None}
    raw = orjson.dumps(body).replace(b'"text":"A"', b'"text":"\\u001b[31m\\u0000 \\ud800 \\ud83d\\ude00 \\u202e"')
    generation = (await ask(script(Response(body=raw)))).generation
    assert generation is not None
    assert generation.answer == "\x1b[31m\x00 \ufffd \U0001f600 \u202e"
    orjson.dumps(generation.answer)


async def test_a_reply_of_ten_megabytes_is_refused_by_name() -> None:
    asked = await ask(script(message("x" * 10_000_000)))
    assert asked.error is not None
    assert asked.error.reason == "reply_too_large"


async def test_tokens_are_counted_once_and_priced_by_what_they_are() -> None:
    usage = {
        "input_tokens": 1000,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 5000,
        "output_tokens": 100,
    }
    prices = {"model-x": {"input": 10.0, "cached_input": 1.0, "output": 50.0, "as_of": "2026-11-01"}}
    generation = (await ask(script(message("ok", usage=usage)), prices=prices)).generation
    assert generation is not None
    assert generation.usage.input_tokens == 1200
    assert generation.usage.cached_input_tokens == 5000
    assert generation.usage.output_tokens == 100
    assert generation.cost_usd == pytest.approx((1000 * 10 + 200 * 12.5 + 5000 * 1 + 100 * 50) / 1e6)


async def test_missing_usage_makes_the_cost_unknown() -> None:
    prices = {"anthropic:model-x": {"input": 1, "output": 1}}
    generation = (await ask(script(message("ok", usage=None)), prices=prices)).generation
    assert generation is not None
    assert generation.cost_usd is None
    assert generation.usage.input_tokens is None


def test_a_missing_key_is_an_error_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        open_generator(Settings({**Settings().values, "generator": "anthropic:model-x"}))


def test_an_unusable_price_is_an_error_before_any_request() -> None:
    values = {**Settings().values, "generator": "anthropic:model-x", "prices": {"model-x": {"input": "cheap"}}}
    with pytest.raises(ConfigError, match="model-x"):
        open_generator(Settings(values))


async def test_generator_and_judge_may_be_different_services(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(script(message("It is 5."))) as one, serving(script(message('{"claims": []}'))) as other:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", one.url)
        values = {
            **Settings().values, "generator": "anthropic:g", "judge.claims": "anthropic:j", "judge.base_url": other.url,
        }  # fmt: skip
        generator = open_generator(Settings(values))
        judge = open_claim_judge(Settings(values))
        assert judge is not None
        await generator.generate(QUESTION, [CHUNK])
        await judge.judge_claims(QUESTION, "Well.", Excerpt(reference=(Passage("x"),)))
        await generator.aclose()
        await judge.aclose()
        assert [request.body["model"] for request in one.requests] == ["g"]
        assert [request.body["model"] for request in other.requests] == ["j"]
