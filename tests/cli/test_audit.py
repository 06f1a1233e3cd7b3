"""`audit …` on the command line: what is recorded, what is refused, what the report says."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.auditing import find_reviewer
from rag_audit.errors import UsageError
from rag_audit.history import History
from rag_audit.model import ArchivedRun, Claim, ClaimJudgment, Excerpt, Passage, QuestionResult
from rag_audit.summary import SummaryBuilder
from tests.audit.making import JUDGE, make_result, make_run
from tests.builders import archive
from tests.cli.invoke import rag_audit

RESULTS = [
    *(make_result(f"q{at:02d}", "vc" if at % 3 else "v", corpus="new" if at % 2 else "old") for at in range(40)),
    *(make_result("twice", "v", repeat=repeat) for repeat in (1, 2)),
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RAG_AUDIT_REVIEWER", raising=False)
    builder = SummaryBuilder()
    for result in RESULTS:
        builder.add(result)
    summary = builder.build(make_run(RESULTS), duration_s=1.0)
    archive(tmp_path, (ArchivedRun(summary, tuple(builder.rows)), tuple(RESULTS)))
    return tmp_path


def test_a_draw_is_recorded_once_and_grows(project: Path) -> None:
    first = rag_audit(project, "audit", "sample", "latest", "--json").json
    assert len(first["questions"]) == 5, "a tenth of 41 questions, rounded up"
    assert first["sample"]["population"] == 41
    assert rag_audit(project, "audit", "sample", "latest", "--json").json == first
    larger = rag_audit(project, "audit", "sample", "latest", "--fraction", "0.3", "--json").json
    assert set(first["questions"]) < set(larger["questions"])
    assert larger["sample"]["supersedes"] == first["sample"]["id"]
    assert larger["sample"]["seed"] == first["sample"]["seed"]
    assert len(History(project).samples("r1")) == 2


def test_a_draw_that_is_being_audited_cannot_be_exchanged(project: Path) -> None:
    drawn = rag_audit(project, "audit", "sample", "latest", "--seed", "1", "--json").json["questions"]
    assert rag_audit(project, "audit", "sample", "latest", "--seed", "2").code == 0
    drawn = rag_audit(project, "audit", "sample", "latest", "--seed", "3", "--json").json["questions"]
    repeat = ("--repeat", "1") if drawn[0] == "twice" else ()
    assert rag_audit(project, "audit", "record", "r1", drawn[0], "c1", "absent", "--reviewer", "ann", *repeat).code == 0
    refused = rag_audit(project, "audit", "sample", "latest", "--seed", "4")
    assert refused.code == 2
    assert "is being audited" in refused.err
    assert rag_audit(project, "audit", "sample", "latest", "--seed", "3", "--fraction", "0.2").code == 0


def test_recording_blind_gives_nothing_of_the_judge_away(project: Path) -> None:
    drawn = rag_audit(project, "audit", "sample", "latest", "--json").json["questions"]
    inside = next(name for name in drawn if name != "twice")
    outside = next(name for name in ("q00", "q01", "q02", "q03", "q04", "q05") if name not in drawn)
    blind = rag_audit(
        project, "audit", "record", "r1", inside, "c1", "verified", "--reviewer", "ann", "--blind", "--json"
    )
    assert blind.json["queue"] == "sample"
    assert blind.json["blind"] is True
    assert "judge_verdict" not in blind.json
    seen = rag_audit(project, "audit", "record", "r1", outside, "c1", "absent", "--reviewer", "ann", "--json").json
    assert (seen["queue"], seen["blind"], seen["informed"]) == ("other", False, True)
    again = rag_audit(project, "audit", "record", "r1", outside, "c1", "verified", "--reviewer", "ann", "--blind")
    assert "recorded as not blind" in again.err
    report = rag_audit(project, "audit", "report", "latest", "--json").json
    assert report["agreement"]["n"] == 1
    assert report["unblinded"]["n"] == 1


def test_effective_verdicts_reach_show_and_the_adjusted_values(project: Path) -> None:
    recorded = rag_audit(project, "audit", "record", "r1", "q01", "c2", "verified", "--reviewer", "ann", "--json").json
    shown = rag_audit(project, "show", "r1", "--question", "q01", "--json").json["questions"][0]["claims"]
    assert [(claim["verdict"], claim["effective_verdict"]) for claim in shown] == [
        ("verified", "verified"),
        ("contradicted", "verified"),
    ]
    before = rag_audit(project, "audit", "report", "r1", "--json").json["metrics"]["no_fabrication"]
    assert before["adjusted"] == pytest.approx(before["judge"] + 1 / 42)
    assert rag_audit(project, "audit", "undo", recorded["id"][:10], "--reviewer", "bob").code == 2
    assert rag_audit(project, "audit", "undo", recorded["id"][:10], "--reviewer", "ann").code == 0
    after = rag_audit(project, "audit", "report", "r1", "--json").json["metrics"]["no_fabrication"]
    assert after["adjusted"] == after["judge"]
    assert rag_audit(project, "audit", "undo", recorded["id"], "--reviewer", "ann").code == 2


def test_the_id_stands_alone_on_stdout(project: Path) -> None:
    recorded = rag_audit(project, "audit", "record", "r1", "q01", "c2", "verified", "--reviewer", "ann")
    assert recorded.out.strip() == History(project).decisions("r1")[0].id
    assert rag_audit(project, "audit", "undo", recorded.out.strip(), "--reviewer", "ann").code == 0


def test_a_dispute_is_settled_by_an_adjudication(project: Path) -> None:
    for reviewer, verdict in (("ann", "absent"), ("bob", "contradicted")):
        rag_audit(project, "audit", "record", "r1", "q00", "c1", verdict, "--reviewer", reviewer)
    report = rag_audit(project, "audit", "report", "r1", "--json").json
    assert report["disputed"] == 1
    assert report["disputes"][0]["said"] == {"ann": "absent", "bob": "contradicted"}
    assert report["metrics"]["no_fabrication"]["adjusted"] == report["metrics"]["no_fabrication"]["judge"]
    assert rag_audit(project, "audit", "adjudicate", "r1", "q00", "c1", "contradicted", "--reviewer", "eve").code == 0
    settled = rag_audit(project, "audit", "report", "r1", "--json").json
    assert settled["disputed"] == 0
    assert settled["metrics"]["no_fabrication"]["adjusted"] < report["metrics"]["no_fabrication"]["adjusted"]


def test_decisions_are_carried_where_claim_and_excerpt_are_the_same(project: Path) -> None:
    other_source = ClaimJudgment(Excerpt(reference=(Passage("Rewritten."),)), _claims(RESULTS[1]), JUDGE)
    later = [RESULTS[0], replace(RESULTS[1], claim_judgment=other_source), *RESULTS[2:]]
    builder = SummaryBuilder()
    for result in later:
        builder.add(result)
    summary = builder.build(make_run(later, "r2"), duration_s=1.0)
    archive(project, (ArchivedRun(summary, tuple(builder.rows)), tuple(later)))
    for question in ("q00", "q01", "q02"):
        rag_audit(project, "audit", "record", "r1", question, "c1", "absent", "--reviewer", "ann")
    rag_audit(project, "audit", "record", "r2", "q02", "c1", "verified", "--reviewer", "ann")
    carried = rag_audit(project, "audit", "carry", "r2", "r1", "--reviewer", "ann", "--json").json
    assert [(decision["question_id"], decision["verdict"]) for decision in carried["recorded"]] == [("q00", "absent")]
    assert (carried["recorded"][0]["blind"], carried["recorded"][0]["queue"], carried["stale"]) == (False, "other", 1)
    assert rag_audit(project, "audit", "report", "r2", "--json").json["carried"] == 1
    assert rag_audit(project, "audit", "carry", "r2", "r1", "--reviewer", "bob", "--json").json["recorded"] == []
    rag_audit(project, "audit", "undo", carried["recorded"][0]["id"], "--reviewer", "ann")
    rag_audit(project, "audit", "sample", "r2", "--fraction", "1")
    assert rag_audit(project, "audit", "carry", "r2", "r1", "--reviewer", "ann", "--json").json["recorded"] == []


def _claims(result: QuestionResult) -> tuple[Claim, ...]:
    assert result.claim_judgment
    return result.claim_judgment.claims


def test_a_missed_claim_is_added_and_reported(project: Path) -> None:
    added = rag_audit(
        project, "audit", "add-claim", "r1", "q00", "It opens at 9 V.", "contradicted", "--reviewer", "ann", "--json"
    ).json
    assert added["claim_id"] == "m1"
    report = rag_audit(project, "audit", "report", "r1", "--json").json
    assert report["missed"] == 1
    assert report["metrics"]["no_fabrication"]["adjusted"] < report["metrics"]["no_fabrication"]["judge"]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("record", "r1", "nowhere", "c1", "verified"), "nowhere"),
        (("record", "r1", "q00", "c7", "verified"), "no claim 'c7'"),
        (("record", "r1", "twice", "c1", "verified"), "repeats 1, 2"),
        (("record", "r1", "twice", "c1", "verified", "--repeat", "3"), "no repeat 3"),
        (("record", "absent-run", "q00", "c1", "verified"), "absent-run"),
        (("record", "r1", "q00", "c1", "perhaps"), "perhaps"),
        (("score", "r1", "q00", "no_such_metric", "4"), "no_such_metric"),
        (("score", "r1", "q00", "faithfulness", "nan"), "not a number"),
        (("undo", "ffff"), "no decision 'ffff'"),
        (("sample", "r1", "--fraction", "0"), "--fraction"),
        (("sample", "r1", "--target", "everything"), "no such target"),
    ],
)
def test_what_does_not_exist_is_refused_in_two_lines(project: Path, argv: tuple[str, ...], why: str) -> None:
    reviewer = () if argv[0] == "sample" else ("--reviewer", "ann")
    outcome = rag_audit(project, "audit", *argv, *reviewer)
    assert outcome.code == 2
    assert why in outcome.err
    assert outcome.err.startswith("error: ")
    assert "\nhint: " in outcome.err
    assert not History(project).decisions()


def test_one_repeat_is_decided_by_its_number(project: Path) -> None:
    recorded = rag_audit(
        project, "audit", "record", "r1", "twice", "c1", "absent", "--reviewer", "a", "--repeat", "2", "--json"
    )
    assert recorded.json["repeat"] == 2


def test_the_report_reads_as_text(project: Path) -> None:
    drawn = rag_audit(project, "audit", "sample", "latest", "--fraction", "1", "--json").json["questions"]
    judged = {result.question.id: result for result in RESULTS if result.repeat is None}
    for name in [name for name in drawn if name in judged][:6]:
        judgment = judged[name].claim_judgment
        for claim in judgment.claims if judgment else ():
            argv = ("audit", "record", "r1", name, claim.id, claim.verdict.value, "--reviewer", "ann", "--blind")
            assert rag_audit(project, *argv).code == 0
    outcome = rag_audit(project, "audit", "report", "latest")
    assert outcome.code == 0
    assert "Provisional, 6 of 41 drawn questions decided" in outcome.out
    assert "kappa" in outcome.out


def test_the_reviewer_is_found_in_the_order_of_nearness(project: Path) -> None:
    assert find_reviewer(project, " Ann  Lee ", {"RAG_AUDIT_REVIEWER": "env"}) == "Ann Lee"
    assert find_reviewer(project, None, {"RAG_AUDIT_REVIEWER": "env"}) == "env"
    with pytest.raises(UsageError, match="name is empty"):
        find_reviewer(project, " ", {"RAG_AUDIT_REVIEWER": "env"})
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    subprocess.run(["git", "-C", str(project), "config", "user.name", "Git Name"], check=True)
    assert find_reviewer(project, None, {}) == "Git Name"
    (project / "documents").mkdir()
    (project / "documents" / "config.yml").write_text("audit:\n  reviewer: configured\n", encoding="utf-8")
    assert find_reviewer(project, None, {}) == "configured"


@pytest.mark.parametrize("seed", ["-5", str(2**63)])
def test_a_seed_that_the_estimates_could_not_use_is_refused(project: Path, seed: str) -> None:
    refused = rag_audit(project, "audit", "sample", "latest", "--seed", seed)
    assert refused.code == 2
    assert "--seed" in refused.err
    assert rag_audit(project, "audit", "sample", "latest", "--seed", str(2**63 - 1)).code == 0
    assert rag_audit(project, "audit", "report", "latest").code == 0


def test_the_reviewer_of_the_environment_decides(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_AUDIT_REVIEWER", "eve")
    recorded = rag_audit(project, "audit", "record", "r1", "q01", "c2", "verified")
    assert recorded.code == 0, recorded.err
    assert History(project).decisions("r1")[0].reviewer == "eve"
