"""The screen, the command line, the table and the page say the same of one audit."""

import csv
from pathlib import Path

from rag_audit.audit.recording import Act, add_claim, adjudicate, decide_claim
from rag_audit.auditing import now, open_case
from rag_audit.history import History
from rag_audit.model import Decision
from tests.builders import archive, draw, result, run
from tests.cli.invoke import rag_audit
from tests.tui.drive import opened, sees, steady

NAMES = [f"Q-{number:02}" for number in range(12)]
DRAWN = NAMES[:6]


def audited(project: Path) -> History:
    """A run with blind decisions, a dispute, an adjudication, a change of mind, an undo and a missed claim."""
    history = archive(project, run("r1", [result(name) for name in NAMES]))
    history.record_sample(draw("r1", DRAWN, len(NAMES)))
    summary = history.resolve("r1")

    def record(name: str, claim: str, verdict: str, who: str, *, blind: bool = True, settle: bool = False) -> Decision:
        make = adjudicate if settle else decide_claim
        return history.record(make(open_case(history, summary, name), claim, verdict, Act(who, now(), blind=blind)))

    for name in DRAWN:
        for claim in ("c1", "c2", "c3"):
            record(name, claim, "verified" if (name, claim) != ("Q-03", "c1") else "absent", "ann")
    record("Q-00", "c2", "contradicted", "bob")
    record("Q-01", "c2", "contradicted", "bob")
    record("Q-01", "c2", "contradicted", "eve", blind=False, settle=True)
    record("Q-02", "c2", "contradicted", "ann", blind=False)
    record("Q-08", "c1", "contradicted", "bob", blind=False)
    act = Act("ann", now())
    history.record(add_claim(open_case(history, summary, "Q-09"), "It has a seal.", "contradicted", act))
    return history


async def test_screen_command_line_table_and_page_agree(tmp_path: Path) -> None:
    project, pack = tmp_path / "engine", tmp_path / "pack"
    audited(project)
    report = rag_audit(project, "audit", "report", "r1", "--json").json
    text = rag_audit(project, "audit", "report", "r1").out
    assert rag_audit(project, "export", "r1", "--audit", "--output", str(pack)).code == 0
    page = (pack / "audit.html").read_text(encoding="utf-8")
    async with opened(project, size=(120, 90), reviewer="ann") as pilot:
        await sees(pilot, "complete")
        await pilot.press("enter")
        await sees(pilot, "Q-00")
        await pilot.press("R")
        await sees(pilot, "each metric three ways")
        screen = await steady(pilot)
    assert report["disputed"] == 1
    assert report["missed"] == 1
    assert "1 disputed claim" in screen
    for name in ("no_fabrication", "claim_precision"):
        metric = report["metrics"][name]
        assert metric["adjusted"] != metric["judge"], "the comparison would be idle"
        figures = [f"{metric[key]:.3f}" for key in ("judge", "adjusted", "corrected_low", "corrected_high")]
        (on_screen,) = [line for line in screen.splitlines() if line.strip().startswith(f"{name} ")]
        (in_text,) = [line for line in text.splitlines() if line.strip().startswith(f"{name} ")]
        (on_page,) = [row for row in page.split("<tr>") if f"<td>{name}</td>" in row]
        for figure in figures:
            assert figure in on_screen
            assert figure in in_text
            assert figure in on_page
    agreement = f"{report['agreement']['raw']:.3f}"
    assert all(agreement in where for where in (screen, text, page))
    shown = rag_audit(project, "show", "r1", "--json").json["questions"]
    effective = {(q["id"], claim["id"]): claim["effective_verdict"] for q in shown for claim in q["claims"]}
    with (pack / "audit.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    judged = [row for row in rows if row["claim_id"].startswith("c")]
    assert {row["effective_verdict"] for row in judged} == {"verified", "contradicted", "absent"}
    assert all(row["effective_verdict"] == effective[row["question_id"], row["claim_id"]] for row in judged)
