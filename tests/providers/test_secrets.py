"""No key reaches a file or the screen, wherever it turns up: in replies, errors, answers, reasons, labels."""

from pathlib import Path

import pytest

from rag_audit.redact import REDACTED
from tests.cli.invoke import Outcome, rag_audit
from tests.loopback import Request, Response, claims, failure, message, scores
from tests.projects import make_project
from tests.providers.test_run_faults import options, role_of, run

KEY = "sk-ant-recognisable-0123456789"
SERIAL = "SN-20261129"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("CO_API_KEY", KEY[::-1])
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = make_project(tmp_path / "project")
    (project / "documents/config.yml").write_text('redact: ["SN-[0-9]{8}"]\n', encoding="utf-8")
    return project


def leaky(request: Request) -> Response:
    """A service that repeats the key it was called with in everything it says, and the reranker's too."""
    if role_of(request) == "generator":
        if "Compare the default" in request.body["messages"][0]["content"]:
            return failure(400, f"the key {KEY} may not do this")
        return message(f"It is stored in `evt_delay_ms` [1]. My key is {KEY}, my serial number {SERIAL}.")
    if role_of(request) == "claims":
        return claims((f"The key is {KEY[::-1]} or {KEY}.", "verified", "It is stored in `evt_delay_ms`."))
    return scores()


async def test_nothing_written_or_printed_holds_a_key(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, _ = await run(project, monkeypatch, leaky, "run", "--label", f"my {KEY}", *options())
    assert ran.code in (0, 3), ran.err
    outcomes: list[Outcome] = [ran]
    shown = rag_audit(project, "show", "latest", "--json")
    judged = next(question for question in shown.json["questions"] if question["claims"])
    assert REDACTED in judged["answer"]
    claim = (judged["id"], judged["claims"][0]["id"])
    decided = ("verified", "--reviewer", "ada", "--reason", f"see {KEY} on {SERIAL}")
    outcomes += [
        shown,
        rag_audit(project, "show", "latest", "--question", judged["id"], "--json"),
        rag_audit(project, "audit", "sample", "latest", "--fraction", "1"),
        rag_audit(project, "audit", "record", "latest", *claim, *decided),
        *(
            rag_audit(project, "export", "latest", "--format", form, "--output", str(tmp_path / f"out.{form}"))
            for form in ("csv", "html", "jsonl", "md", "junit")
        ),
        rag_audit(project, "export", "latest", "--audit", "--output", str(tmp_path / "pack")),
        rag_audit(project, "runs"),
        rag_audit(project, "doctor"),
        rag_audit(project, "verify"),
    ]
    assert [outcome.code for outcome in outcomes[1:]] == [0] * len(outcomes[1:]), [one.err for one in outcomes]
    written = {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written["what was printed"] = "".join(outcome.out + outcome.err for outcome in outcomes).encode()
    for secret in (KEY, KEY[::-1], SERIAL):
        assert [name for name, content in written.items() if secret.encode() in content] == [], secret
