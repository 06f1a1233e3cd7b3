"""The audit pack: complete enough to recompute, safe to open, the same figures in all three files."""

import csv
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_audit.audit.recording import Act, add_claim, adjudicate, decide_claim, undo
from rag_audit.auditing import draw_sample, open_case
from rag_audit.errors import UsageError
from rag_audit.export.auditpack import write_audit_pack
from rag_audit.history import History
from rag_audit.model import ArchivedRun, Decision, QuestionResult
from rag_audit.summary import SummaryBuilder
from rag_audit.text.visible import visible
from tests.audit.making import at_next_moment, make_result, make_run
from tests.builders import archive
from tests.cli.invoke import rag_audit
from tests.export.recompute import recompute

HOSTILE = '=HYPERLINK("http://x")<script>alert(1)</script>\x1b[31m\u202e'


def _results() -> list[QuestionResult]:
    chance = random.Random(4)
    letters = [chance.choices("vca", (7, 2, 2), k=chance.randint(1, 4)) for _ in range(90)]
    return [make_result(f"q{at:02d}", "".join(verdicts)) for at, verdicts in enumerate(letters)]


def _record(
    history: History,
    question: str,
    claim: str,
    verdict: str,
    reviewer: str = "ann",
    *,
    blind: bool = True,
    reason: str | None = None,
) -> Decision:
    case = open_case(history, history.resolve("r1"), question)
    return history.record(
        decide_claim(case, claim, verdict, Act(reviewer, at_next_moment(), blind=blind, reason=reason))
    )


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> History:
    """An audited run with everything that can happen in it."""
    project = tmp_path_factory.mktemp("project")
    results = _results()
    builder = SummaryBuilder()
    for result in results:
        builder.add(result)
    run = builder.build(make_run(results), duration_s=1.0)
    history = archive(project, (ArchivedRun(run, tuple(builder.rows)), tuple(results)))
    sample, _ = draw_sample(history, run, fraction=0.3, stratify="none")
    chance = random.Random(5)
    by_id = {result.question.id: result for result in results}
    decided: list[Decision] = []
    for question in sample.questions:
        judgment = by_id[question].claim_judgment
        for claim in judgment.claims if judgment else ():
            other = chance.choice(["verified", "contradicted", "absent"])
            verdict = claim.verdict.value if chance.random() < 0.7 else other
            decided.append(_record(history, question, claim.id, verdict, reason=HOSTILE if not decided else None))
    first, second, third = decided[:3]
    _record(history, first.question_id, first.claim_id or "", "absent", blind=False)
    outside = next(name for name in by_id if name not in sample.questions)
    _record(history, outside, "c1", "contradicted", blind=False)
    slip = _record(history, second.question_id, second.claim_id or "", "absent", "bob", blind=False)
    case = open_case(history, run, slip.question_id)
    history.record(undo(slip, case.decisions, Act("bob", at_next_moment())))
    bob = "absent" if third.verdict != "absent" else "contradicted"
    _record(history, third.question_id, third.claim_id or "", bob, "bob", blind=False)
    case = open_case(history, run, third.question_id)
    history.record(adjudicate(case, third.claim_id or "", bob, Act("eve", at_next_moment())))
    case = open_case(history, run, sample.questions[5])
    history.record(add_claim(case, HOSTILE, "contradicted", Act("ann", at_next_moment(), blind=True)))
    return history


@pytest.fixture(scope="module")
def pack(audited: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "pack"
    write_audit_pack(audited, "latest", folder)
    return folder


def test_a_third_party_recomputes_the_report_from_the_lines_alone(pack: Path, audited: History) -> None:
    report = rag_audit(audited.project, "audit", "report", "latest", "--json").json
    found = recompute(pack / "audit.jsonl")
    assert (
        found["n"]
        == report["agreement"]["n"]
        == sum(sum(row.values()) for row in report["agreement"]["table"].values())
    )
    assert found["raw"] == pytest.approx(report["agreement"]["raw"])
    assert found["kappa"] == pytest.approx(report["agreement"]["kappa"])
    for name, accuracy in (("no_fabrication", 0.003), ("claim_precision", 1e-9)):
        printed = report["metrics"][name]
        assert printed["n_labelled"] == report["sample"]["questions"] == 27
        assert found[name]["adjusted"] == pytest.approx(printed["adjusted"])
        assert found[name]["corrected"] == pytest.approx(printed["corrected"], abs=accuracy)
        assert found[name]["low"] == pytest.approx(printed["corrected_low"], abs=3 * accuracy)
        assert found[name]["high"] == pytest.approx(printed["corrected_high"], abs=3 * accuracy)


def test_the_report_in_the_pack_is_the_one_of_the_command_line(pack: Path, audited: History) -> None:
    lines = [json.loads(line) for line in (pack / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    printed = rag_audit(audited.project, "audit", "report", "latest", "--json").json
    assert {key: value for key, value in lines[-1].items() if key != "kind"} == printed
    assert lines[0]["history_head"] == audited.head()
    assert sum(line["kind"] == "decision" for line in lines) == len(audited.decisions("r1"))


def test_every_decision_is_in_all_three_files(pack: Path, audited: History) -> None:
    ids = {decision.id for decision in audited.decisions("r1")}
    rows = _rows(pack / "audit.csv")
    page = (pack / "audit.html").read_text(encoding="utf-8")
    assert {row["decision_id"] for row in rows} == ids
    assert all(decision_id in page for decision_id in ids)
    shown = rag_audit(audited.project, "show", "latest", "--json").json["questions"]
    effective = {(q["id"], claim["id"]): claim["effective_verdict"] for q in shown for claim in q["claims"]}
    for row in rows:
        if row["claim_id"].startswith("c"):
            assert row["effective_verdict"] == effective[row["question_id"], row["claim_id"]]


def _rows(path: Path) -> Sequence[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as source:
        return list(csv.DictReader(source))


def test_the_page_shows_the_figures_of_the_report(pack: Path, audited: History) -> None:
    page = (pack / "audit.html").read_text(encoding="utf-8")
    metric = rag_audit(audited.project, "audit", "report", "latest", "--json").json["metrics"]["no_fabrication"]
    for key in ("judge", "adjusted", "corrected"):
        assert f'<td class="n">{metric[key]:.3f}</td>' in page
    assert f"{metric['corrected_low']:.3f} to {metric['corrected_high']:.3f}" in page


def test_hostile_text_does_nothing(pack: Path) -> None:
    page = (pack / "audit.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    reasons = [row["reason"] for row in _rows(pack / "audit.csv") if row["reason"]]
    assert reasons == [f"'{visible(HOSTILE)}"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in _rows(pack / "audit.csv") for cell in row.values())


def test_the_byte_order_mark_comes_on_request(audited: History, tmp_path: Path, pack: Path) -> None:
    write_audit_pack(audited, "latest", tmp_path, bom=True)
    assert (tmp_path / "audit.csv").read_bytes().startswith(b"\xef\xbb\xbfrun,")
    assert (pack / "audit.csv").read_bytes().startswith(b"run,")


def test_the_history_is_no_place_for_a_pack(audited: History) -> None:
    with pytest.raises(UsageError, match="inside the history"):
        write_audit_pack(audited, "latest", audited.project / "history" / "pack")


def test_a_run_nobody_audited_gives_a_pack_that_says_so(tmp_path: Path) -> None:
    results = [replace(make_result(f"q{at}", "vc")) for at in range(5)]
    builder = SummaryBuilder()
    for result in results:
        builder.add(result)
    run = builder.build(make_run(results), duration_s=1.0)
    history = archive(tmp_path / "project", (ArchivedRun(run, tuple(builder.rows)), tuple(results)))
    write_audit_pack(history, "r1", tmp_path / "pack")
    assert "none drawn: nothing is estimated" in (tmp_path / "pack" / "audit.html").read_text(encoding="utf-8")
    assert _rows(tmp_path / "pack" / "audit.csv") == []


def test_the_verb_writes_the_pack(audited: History, tmp_path: Path) -> None:
    outcome = rag_audit(
        audited.project, "export", "latest", "--audit", "--bom", "--output", str(tmp_path / "p"), "--json"
    )
    assert outcome.code == 0
    assert [Path(name).name for name in outcome.json["files"]] == ["audit.csv", "audit.jsonl", "audit.html"]
    assert (tmp_path / "p" / "audit.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    for argv in (("--audit", "--format", "csv"), ()):
        refused = rag_audit(audited.project, "export", "latest", *argv, "--output", str(tmp_path / "q"))
        assert refused.code == 2
    assert not (tmp_path / "q").exists()
