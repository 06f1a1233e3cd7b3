"""`probe` on the command line, with the offline judge and with one that sees nothing."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_audit.audit.probe import plan_probe, summarise_probe
from rag_audit.history import History
from rag_audit.model import Claim, ClaimJudgment, Excerpt, JudgeCall, JudgeIdentity, Question, Verdict
from rag_audit.probing import ask_all
from tests.audit.test_probe import RESULTS
from tests.builders import archive, run
from tests.cli.invoke import rag_audit


@pytest.fixture
def project(tmp_path: Path) -> Path:
    archive(tmp_path, run("r1", RESULTS, label="base"))
    return tmp_path


def test_the_offline_judge_catches_planted_faults(project: Path) -> None:
    outcome = rag_audit(project, "probe", "latest", "--n", "20", "--json")
    assert outcome.code == 0
    shape = outcome.json
    assert (shape["run"], shape["judge"]["model"]) == ("r1", "offline")
    assert shape["planted"]["n"] == 20
    # Whatever the heuristic misses, it must tell faults from untouched claims.
    assert shape["planted"]["low"] > shape["false_alarms"]["high"]
    assert set(shape["kinds"]) == {"number", "identifier", "negation", "other_corpus", "parameter"}
    assert len(shape["claims"]) == 40
    assert History(project).decisions() == []


def test_the_text_says_whether_the_judge_can_be_trusted(project: Path) -> None:
    outcome = rag_audit(project, "probe", "latest", "--n", "20")
    assert "Of planted faults" in outcome.out
    assert "done q" in outcome.err


def test_there_must_be_something_to_probe(project: Path) -> None:
    refused = rag_audit(project, "probe", "latest", "--set", "judge.claims=none")
    assert refused.code == 2
    assert "no judge to probe" in refused.err


class BlindJudge:
    """Calls everything verified, and forgets the last claim of every answer."""

    identity = JudgeIdentity("blind", "b1")

    async def judge_claims(
        self, question: Question, answer: str, excerpt: Excerpt, claims: Sequence[Claim] | None = None
    ) -> tuple[ClaimJudgment, tuple[JudgeCall, ...]]:
        verified = tuple(Claim(claim.id, claim.text, Verdict.VERIFIED) for claim in (claims or ())[:-1])
        return ClaimJudgment(excerpt, verified, self.identity), ()

    def notes(self) -> tuple[str, ...]:
        return ()

    async def aclose(self) -> None:
        return


def test_a_blind_judge_is_shown_to_be_blind() -> None:
    plan = plan_probe(RESULTS, 20, 1)
    report = summarise_probe(asyncio.run(ask_all(BlindJudge(), plan, 4, lambda question_id: None)))
    assert report.overall.rejected == 0
    assert report.overall.failed + report.false_alarms.failed == len(plan)
