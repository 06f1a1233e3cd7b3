"""Three or more runs: the table by question and the run at which each broke."""

import pytest

from tests.diff.archive import Shell, archive
from tests.diff.made import result


@pytest.fixture
def four(shell: Shell) -> Shell:
    values = {
        "steady": (1, 1, 1, 1),
        "broke": (1, 1, 0, 0),
        "recovered": (1, 0, 1, 1),
        "twice": (1, 0, 1, 0),
        "late": (0, 1, 1, 0),
    }
    for at, name in enumerate(("one", "two", "three", "four")):
        made = [
            result(question, scores={"hit_at_1": float(found[at])}, chunks=[f"{question}{found[at]}"])
            for question, found in values.items()
        ]
        edited = result("edited", scores={"hit_at_1": float(at < 2)}, chunks=[name], text="new?" if at == 2 else "old?")
        archive(shell.project, name, [*made, edited])
    return shell


def test_the_run_at_which_each_question_broke(four: Shell) -> None:
    found = four.json("diff", "one", "two", "three", "four")
    assert found["runs"] == ["one", "two", "three", "four"]
    questions = {question["id"]: question for question in found["metrics"]["hit_at_1"]["questions"]}
    assert {name: question["broke_at"] for name, question in questions.items()} == {
        "broke": "three",
        "late": "four",
        "twice": "four",
        "recovered": None,
        "steady": None,
        "edited": None,
    }
    assert questions["broke"]["cause"] == "system"
    assert questions["broke"]["values"] == [1, 1, 0, 0]
    assert questions["edited"]["edited_at"] == ["three", "four"]
    assert next(iter(questions)) == "broke"


def test_the_table_counts_what_stayed_the_same(four: Shell) -> None:
    text = four.run("diff", "one", "two", "three", "four")
    assert "1 of 6 questions have one value in all runs that scored them." in text
    line = next(line for line in text.splitlines() if line.startswith("broke "))
    assert line.split() == ["broke", "1", "1", "0", "0", "[3]", "system"]


def test_gates_take_two_runs(four: Shell) -> None:
    assert "take two runs" in four.run("diff", "one", "two", "three", "--fail-on", "regression", code=2)
