"""The verb as a script sees it: the JSON's keys, the exit code, the errors."""

from dataclasses import replace

import pytest

from rag_audit.history import History
from rag_audit.model import RunStatus
from tests.diff.archive import Shell, archive
from tests.diff.made import result


@pytest.fixture
def two_runs(shell: Shell) -> Shell:
    before = [
        result(f"q{at}", scores={"hit_at_1": 1.0}, chunks=["x"], claims=[("It is so.", "verified")], answer=f"old {at}")
        for at in range(12)
    ]
    after = [
        result(
            f"q{at}",
            scores={"hit_at_1": 0.0 if at else 1.0},
            chunks=["other", "x"],
            claims=[("It is so", "contradicted" if at == 3 else "verified")],
            answer=f"new {at}",
        )
        for at in range(12)
    ]
    archive(shell.project, "before", before)
    archive(shell.project, "after", after, chunking={"docs": {"size": 1200}})
    return shell


def test_the_keys_that_scripts_rely_on(two_runs: Shell) -> None:
    found = two_runs.json("diff", "before", "after")
    assert found.keys() >= {
        "before",
        "after",
        "comparable",
        "context_changes",
        "metrics",
        "questions",
        "claim_flips",
        "modules",
        "gate",
    }
    assert found["metrics"]["hit_at_1"].keys() >= {
        "before",
        "after",
        "delta",
        "n_paired",
        "ci_low",
        "ci_high",
        "p_value",
        "p_adjusted",
        "unit",
        "verdict",
    }
    assert found["questions"].keys() == {
        "edited",
        "unscored",
        "regressed",
        "improved",
        "changed",
        "unchanged",
        "added",
        "removed",
    }
    assert found["context_changes"] == [{"key": "chunking.docs.size", "before": 800, "after": 1200}]
    flip = found["claim_flips"][0]
    assert (flip["question_id"], flip["before"], flip["after"]) == ("q3", "verified", "contradicted")
    worst = found["questions"]["regressed"][0]
    assert (worst["metrics"]["hit_at_1"], worst["causes"]["hit_at_1"], worst["cause"]) == ([1, 0], "system", "system")
    assert "mixed" in found["questions"]["changed"][0]
    assert found["gate"] == {"tripped": False, "reasons": []}


def test_the_exit_code_is_the_printed_verdict(two_runs: Shell) -> None:
    found = two_runs.json("diff", "before", "after", "--fail-on", "regression", code=1)
    assert found["gate"]["tripped"] is True
    assert [(reason["kind"], reason["metric"]) for reason in found["gate"]["reasons"]] == [("regression", "hit_at_1")]
    assert "GATE FAILED" in two_runs.run("diff", "before", "after", "--fail-on", "regression", code=1)
    two_runs.json("diff", "before", "after", "--fail-on", "regression", "--tolerance", "1", code=0)
    two_runs.json("diff", "before", "after", "--fail-on", "regression", "--tolerance", "hit_at_1=1", code=0)
    two_runs.json("diff", "before", "after", "--fail-on", "judge-change", "--fail-on", "incomplete", code=0)
    two_runs.json("diff", "before", "after", "--fail-on", "regression", "--metric", "no_fabrication", code=0)


def test_text_names_the_passage_that_sank(two_runs: Shell) -> None:
    text = two_runs.run("diff", "before", "after")
    assert "Regressed: hit_at_1." in text
    assert "chunking.docs.size: 800 → 1200" in text
    assert "sank: rank 1 → 2  docs/a “x”" in text
    assert "verified → contradicted" in text


def test_an_interval_without_width_says_why(shell: Shell) -> None:
    for name, value in (("before", 1.0), ("after", 0.0)):
        archive(shell.project, name, [result(f"q{at}", scores={"mrr": value}, chunks=[name]) for at in range(3)])
    text = shell.run("diff", "before", "after")
    assert "every shared question moved alike, so the interval has no width" in text


def test_runs_without_scores_say_so(shell: Shell) -> None:
    for name in ("before", "after"):
        archive(shell.project, name, [result("q", answer=name)])
    text = shell.run("diff", "before", "after")
    assert "No score can be compared." in text
    assert "No metric's total moved" not in text


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--metric", "hit_at"], "Did you mean hit_at_"),
        (["--tolerance", "much"], "--tolerance much is not"),
        (["--tolerance", "-1"], "is not a share"),
        (["--tolerance", "nan"], "is not a share"),
        (["--fail-on", "anything"], "regression"),
    ],
)
def test_usage_errors_are_two_lines(two_runs: Shell, argv: list[str], says: str) -> None:
    error = two_runs.run("diff", "before", "after", *argv, code=2)
    assert says in error
    assert len(error.strip().splitlines()) == 2


def test_a_run_that_is_not_there(two_runs: Shell) -> None:
    assert "error:" in two_runs.run("diff", "before", "nothing", code=2)


def test_an_unfinished_run_is_called_so(shell: Shell) -> None:
    archive(shell.project, "full", [result(f"q{at}", scores={"hit_at_1": 1.0}) for at in range(3)])
    header = replace(History(shell.project).resolve("full"), id="part", label="part", status=RunStatus.RUNNING)
    History(shell.project).start(header, [(f"q{at}", None) for at in range(3)]).append(
        result("q0", scores={"hit_at_1": 1.0})
    )
    said = "Run part is running: questions that it has not finished are listed as"
    assert f"{said} removed." in shell.run("diff", "full", "part")
    assert f"{said} added." in shell.run("diff", "part", "full")
