"""Whole runs against a service that fails: nothing is lost, every score is accounted for, the exit code says so."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.invoke import Outcome, rag_audit
from tests.loopback import Request, Response, claims, failure, message, scores, serving
from tests.projects import make_project

KEY = "sk-test-0123456789abcdef"
MODELS = ("generator=anthropic:g", "judge.claims=anthropic:j", "judge.scores=anthropic:j")
HASTE = ("max_wait_s=0", "retries=1", "timeout_s=5", "workers=2")
PRICES = "prices={g: {input: 1, output: 2}, j: {input: 1, output: 2}}"
UNLUCKY = "Compare the default of evt_slew_max"
Answer = Callable[[Request], Response]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path))
    return make_project(tmp_path)


def role_of(request: Request) -> str:
    if not request.is_judge:
        return "generator"
    return "claims" if "claims" in request.body["output_config"]["format"]["schema"]["properties"] else "scores"


def well(request: Request) -> Response:
    """Every call goes well."""
    if role_of(request) == "generator":
        return message("It is stored in `evt_delay_ms` [1].")
    if role_of(request) == "claims":
        return claims(("It is stored in `evt_delay_ms`.", "verified", "It is stored in `evt_delay_ms`."))
    return scores()


def failing(role: str, response: Response) -> Answer:
    """One question fails in one role, always; everything else goes well."""

    def answer(request: Request) -> Response:
        unlucky = UNLUCKY in request.body["messages"][0]["content"]
        return response if unlucky and role_of(request) == role else well(request)

    return answer


async def run(project: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, *arguments: str) -> tuple[Outcome, int]:
    """Run the command line in a thread beside the service; also returns how many requests there were."""
    async with serving(answer) as service:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
        outcome = await asyncio.to_thread(rag_audit, project, *arguments, "--json")
        return outcome, len(service.requests)


def options(*settings: str) -> list[str]:
    return [argument for setting in (*MODELS, *HASTE, *settings) for argument in ("--set", setting)]


def balance(summary: dict[str, Any], metric: str) -> dict[str, int]:
    figures = summary["metrics"][metric]
    assert figures["n"] + sum(figures["missing"].values()) == figures["total"] == 4
    missing: dict[str, int] = figures["missing"]
    return missing


async def test_a_run_without_faults_is_complete(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, requests = await run(project, monkeypatch, well, "run", *options(PRICES))
    assert outcome.code == 0, outcome.err
    summary = outcome.json["run"]
    assert summary["status"] == "complete"
    assert requests == 12
    assert summary["reported_models"]["generator"] == ["model-as-reported"]
    assert summary["tokens"] == {"input": 1200, "cached_input": 0, "output": 120}
    assert summary["cost"]["generation_usd"] == pytest.approx(4 * (100 + 20) / 1e6)
    assert summary["cost"]["judge_usd"] == pytest.approx(8 * (100 + 20) / 1e6)
    assert any("never hit" in note for note in summary.get("notes", []))


@pytest.mark.parametrize(
    ("response", "reason", "unpriced"),
    [
        (failure(429), "rate_limit", 0),
        (failure(529), "overloaded", 0),
        (failure(500), "server_error", 0),
        (Response(body=b"x" * 400, fault="reset"), "connection", 1),
        (Response(body=b'{"content"'), "invalid_reply", 1),
        (Response(body=b"<html>", headers={"content-type": "text/html"}), "invalid_reply", 1),
        (message("x" * 3_000_000), "reply_too_large", 1),
    ],
    ids=["429", "529", "500", "reset", "half-json", "html", "huge"],
)
async def test_a_question_without_an_answer_is_counted_with_its_reason(
    project: Path, monkeypatch: pytest.MonkeyPatch, response: Response, reason: str, unpriced: int
) -> None:
    outcome, _ = await run(project, monkeypatch, failing("generator", response), "run", *options(PRICES))
    assert outcome.code == 3, outcome.err
    summary = outcome.json["run"]
    assert summary["cost"]["unknown_calls"] == unpriced
    assert (summary["cost"]["generation_usd"] is None) == bool(unpriced)
    assert summary["status"] == "incomplete"
    for metric in ("keyword_coverage", "faithfulness", "no_fabrication"):
        assert balance(summary, metric)[reason] == 1
    assert balance(summary, "hit_at_k") == {"unanswerable": 1}  # retrieval had gone well


@pytest.mark.parametrize(
    ("role", "response", "reason", "metric"),
    [
        ("claims", message("Certainly!"), "unparsed", "no_fabrication"),
        ("claims", message('{"claims": [', stop_reason="max_tokens"), "max_tokens", "no_fabrication"),
        ("claims", message("No.", stop_reason="refusal"), "refusal", "claim_precision"),
        ("claims", message('{"claims": []}'), "skipped_lookup", "no_fabrication"),
        ("claims", failure(500), "server_error", "no_fabrication"),
        ("scores", scores(11), "unparsed", "faithfulness"),
        ("scores", message(None), "unparsed", "completeness"),
    ],
)
async def test_a_judgment_that_failed_is_counted_apart(
    project: Path, monkeypatch: pytest.MonkeyPatch, role: str, response: Response, reason: str, metric: str
) -> None:
    outcome, _ = await run(project, monkeypatch, failing(role, response), "run", *options())
    assert outcome.code == 3, outcome.err
    assert balance(outcome.json["run"], metric) == {reason: 1} | (
        {"unanswerable": 1} if metric == "completeness" else {}
    )
    shown = rag_audit(project, "show", "latest", "--question", "CMP-1", "--json").json["questions"][0]
    kept = [call for call in shown["judge_calls"] if call["judge"] == role]
    assert kept
    assert all(call["prompt"] for call in kept)


async def test_answers_that_are_cut_or_refused_are_flagged(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = failing("generator", message("It is `evt", stop_reason="max_tokens"))
    outcome, _ = await run(project, monkeypatch, cut, "run", *options())
    assert outcome.json["run"]["flags"]["truncated"] == 1
    refused = failing("generator", message("", stop_reason="refusal"))
    outcome, _ = await run(project, monkeypatch, refused, "run", *options())
    assert outcome.json["run"]["flags"]["empty_or_refused"] == 1


async def test_a_key_revoked_in_the_middle_stops_the_run_which_can_be_resumed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked = failure(401, f"invalid key {KEY}")
    async with serving(lambda request: well(request) if len(service.requests) <= 7 else revoked) as service:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
        outcome = await asyncio.to_thread(rag_audit, project, "run", *options("workers=1"), "--json")
        assert outcome.code == 3
        assert "refused the key" in outcome.err
        assert outcome.json["run"]["status"] == "interrupted"
        assert balance(outcome.json["run"], "faithfulness") == {"not_finished": 2}
        everything = b"".join(path.read_bytes() for path in project.rglob("*") if path.is_file())
        assert KEY not in outcome.err
        assert KEY.encode() not in everything
        assert f"run --resume {outcome.json['run']['id']}" in outcome.err

        (run_file,) = (project / "history" / "runs").glob("*.jsonl")
        service.answer = well
        service.requests.clear()
        resumed = await asyncio.to_thread(rag_audit, project, "run", "--resume", run_file.stem, "--json")
        assert resumed.code == 0, resumed.err
        assert resumed.json["run"]["id"] == run_file.stem
        assert resumed.json["run"]["status"] == "complete"
        assert len(service.requests) == 12 - 7  # two questions are on disk, and the third's answer was kept


async def test_a_key_that_never_worked_leaves_a_run_that_lacks_everything(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, _ = await run(project, monkeypatch, lambda request: failure(401), "run", *options())
    assert outcome.code == 3
    for metric in ("hit_at_1", "faithfulness", "no_fabrication"):
        assert balance(outcome.json["run"], metric) == {"not_finished": 4}


async def test_judging_again_costs_what_its_judge_costs_and_is_not_resumed_as_an_evaluation(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = "".join(f"{setting.replace('=', ': ', 1)}\n" for setting in (*MODELS, *HASTE, PRICES))
    (project / "documents" / "config.yml").write_text(config, encoding="utf-8")
    outcome, _ = await run(project, monkeypatch, well, "run")
    parent = outcome.json["run"]["id"]
    anew = ("rejudge", parent, "--claims", "extract")
    outcome, requests = await run(project, monkeypatch, well, *anew, "--set", "judge.claims=anthropic:j")
    summary = outcome.json["run"]
    assert requests == 4
    assert summary["tokens"] == {"input": 400, "cached_input": 0, "output": 40}
    assert (summary["cost"]["generation_usd"], summary["cost"]["embedding_usd"]) == (0, 0)
    assert summary["cost"]["judge_usd"] == pytest.approx(4 * (100 + 20) / 1e6)

    replies = iter([well] * 3)
    revoked = failure(401, "revoked")
    outcome, _ = await run(project, monkeypatch, lambda r: next(replies, lambda _: revoked)(r), *anew)
    assert outcome.code == 3
    assert "--resume" not in outcome.err
    outcome, requests = await run(project, monkeypatch, well, "run", "--resume", outcome.json["run"]["id"])
    assert (outcome.code, requests) == (2, 0)
    assert f"judges the answers of {parent} again" in outcome.err


async def test_replies_of_other_runs_are_used_only_on_request(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(well) as service:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
        for arguments, requests in (((), 12), ((), 24), (("--reuse-replies",), 24)):
            outcome = await asyncio.to_thread(rag_audit, project, "run", *options(), *arguments, "--json")
            assert outcome.code == 0, outcome.err
            assert len(service.requests) == requests
