"""A run in every form: nothing lost, nothing run, nothing overwritten by half."""

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from rag_audit.history import History
from rag_audit.model import Decision, QuestionResult
from tests.diff.archive import Shell, archive
from tests.diff.made import result

HOSTILE = "<script>alert(1)</script> | `x` @team \x1b[31m \u202e \ufffe ]]> &amp; =1+1"


NAMES = ("faithfulness", "hit_at_1", "own.loss", "no_fabrication", "claim_precision")


def _complete(found: QuestionResult) -> QuestionResult:
    """As a real run has it: every metric has a value or a reason."""
    scores = {name: found.scores.get(name) for name in NAMES}
    missing = {name: found.missing.get(name, "not_asked") for name, score in scores.items() if score is None}
    return replace(found, scores=scores, missing=missing)


@pytest.fixture
def exported(shell: Shell) -> Shell:
    results = [
        result(
            "q1",
            scores={"faithfulness": 8.0, "hit_at_1": 1.0, "own.loss": -0.25},
            claims=[("The port is 5432.", "verified"), ("It is red.", "contradicted"), ("Maybe.", "unparsed")],
            keywords=["port"],
            reviewed=False,
        ),
        result("q2", scores={"faithfulness": None, "hit_at_1": 0.0}, missing={"faithfulness": "timeout"}),
        result(f"q3 {HOSTILE}", scores={"hit_at_1": 1.0}, answer=HOSTILE, claims=[(HOSTILE, "absent")], text=HOSTILE),
        result("q4", scores={"hit_at_1": 1.0}, claims=[], repeat=1),
        result("q4", scores={"hit_at_1": 0.0}, claims=[("x", "verified")], repeat=2),
        result("=cmd()", scores={"hit_at_1": 1.0}, answer="-1 is the answer"),
    ]
    archive(shell.project, "run", [_complete(found) for found in results])
    return shell


def _export(shell: Shell, form: str) -> str:
    path = shell.project.parent / f"out.{form}"
    shell.run("export", "run", "--format", form, "--output", str(path))
    return path.read_text(encoding="utf-8")


def test_importing_an_exported_run_gives_the_same_run(exported: Shell) -> None:
    _export(exported, "jsonl")
    again = exported.json("import", str(exported.project.parent / "out.jsonl"), "--label", "again")
    assert again["imported"][0]["format"] == "plain"
    first, second = exported.json("show", "run"), exported.json("show", "again")
    assert len(second["questions"]) == len(first["questions"])
    for before, after in zip(first["questions"], second["questions"], strict=True):
        for key in ("id", "repeat", "question", "answer", "reference_answer", "doc_id", "scores", "missing"):
            assert after[key] == before[key], key
        assert [(c["text"], c["verdict"]) for c in after["claims"]] == [
            (c["text"], c["verdict"]) for c in before["claims"]
        ]
        assert after["route"]["corpora"] == before["route"]["corpora"]
        assert [c["doc_id"] for c in after["retrieved"]] == [c["doc_id"] for c in before["retrieved"]]
    assert second["run"]["metrics"] == first["run"]["metrics"]
    assert second["run"]["claims"] == first["run"]["claims"]
    assert second["run"]["by_corpus"] == first["run"]["by_corpus"]
    assert second["run"]["context"]["judges"] == first["run"]["context"]["judges"]


def test_an_exported_run_differs_in_nothing_from_its_origin(exported: Shell) -> None:
    _export(exported, "jsonl")
    exported.run("import", str(exported.project.parent / "out.jsonl"), "--label", "again")
    found = exported.json("diff", "run", "again")
    assert found["questions"]["unchanged"] == 5
    assert found["context_changes"] == []
    assert [found["comparable"][name]["ok"] for name in ("faithfulness", "no_fabrication", "hit_at_1")] == [True] * 3
    assert found["claim_flips"] == []


def test_the_first_line_tells_of_the_run_and_anchors_the_history(exported: Shell) -> None:
    head = orjson.loads(_export(exported, "jsonl").splitlines()[0])["run"]
    assert head["label"] == "run"
    assert head["context"]["judges"] == {"claims": "offline", "scores": "offline"}
    assert head["history_head"] == History(exported.project).head()


def test_csv_runs_no_formula_and_keeps_numbers(exported: Shell) -> None:
    rows = {row["question_id"]: row for row in csv.DictReader(io.StringIO(_export(exported, "csv")))}
    assert rows["'=cmd()"]["answer"] == "'-1 is the answer"
    assert rows["q1"]["own.loss"] == "-0.25"
    assert (rows["q2"]["faithfulness"], rows["q2"]["faithfulness.missing"]) == ("", "timeout")
    assert rows["q1"]["claims.contradicted"] == "1"
    assert rows["q1"]["history_head"] == History(exported.project).head()
    assert not [cell for row in rows.values() for cell in row.values() if cell.startswith(("=", "+", "@", "\t", "\r"))]


def test_a_decision_is_exported_beside_the_judges_verdict(exported: Shell) -> None:
    History(exported.project).record(
        Decision("", "verdict", "run", "q1", "ada", "2026-01-02T00:00:00Z", claim_id="c2", verdict="verified")
    )
    row = next(csv.DictReader(io.StringIO(_export(exported, "csv"))))
    assert (row["claims.contradicted"], row["claims.contradicted.effective"]) == ("1", "0")
    assert row["no_fabrication"] == "0.0"
    assert "contradicted → verified" in _export(exported, "md")


def test_markdown_keeps_hostile_text_in_code_spans(exported: Shell) -> None:
    text = _export(exported, "md")
    line = next(line for line in text.splitlines() if "q3" in line)
    assert line.startswith("| ``q3 <script>")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert line.replace("\\|", "").count("|") == next(line for line in text.splitlines() if "`q1`" in line).count("|")


def test_junit_is_xml_and_counts(exported: Shell) -> None:
    suite = ElementTree.fromstring(_export(exported, "junit")).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "1", "1")
    names = [case.get("name") for case in suite.iter("testcase")]
    assert "q4 #2" in names


def test_html_has_no_script_and_fetches_nothing(exported: Shell) -> None:
    page = _export(exported, "html")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "default-src 'none'" in page
    assert " src=" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "\x1b" not in page
    assert str(History(exported.project).head()) in page


def test_a_file_is_replaced_only_by_a_whole_one(exported: Shell, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("precious")
    exported.run("export", "nothing", "--format", "csv", "--output", str(target), code=2)
    assert target.read_text() == "precious"
    (exported.project / "history" / "runs" / "run.jsonl").write_text("broken")
    exported.run("export", "run", "--format", "csv", "--output", str(target), code=2)
    assert target.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no/such/folder/x.csv", "no folder"),
        (".", "is a folder"),
        ("project/history/eval_history.jsonl", "never rewritten"),
    ],
)
def test_places_that_cannot_be_written(exported: Shell, tmp_path: Path, target: str, says: str) -> None:
    ledger = (exported.project / "history" / "eval_history.jsonl").read_bytes()
    error = exported.run("export", "run", "--format", "csv", "--output", str(tmp_path / target), code=2)
    assert says in error
    assert (exported.project / "history" / "eval_history.jsonl").read_bytes() == ledger
