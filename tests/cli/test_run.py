"""`run`, `runs`, `show`, `flags` and `rejudge` on a small project, offline."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.invoke import rag_audit
from tests.projects import make_project, many_questions

SUMMARY_KEYS = {
    *("id", "label", "status", "origin", "parent", "started_at", "duration_s", "context", "reported_models", "metrics"),
    *("by_corpus", "claims", "flags", "cost", "tokens"),
}
CONTEXT_KEYS = {
    *("generator", "embedder", "reranker", "judges", "chunking", "retriever", "routing", "questions_hash", "corpora"),
    *("seed", "version"),
}
QUESTION_KEYS = {
    *("id", "repeat", "question", "doc_id", "route", "retrieved", "answer", "reference_answer", "scores", "missing"),
    *("claims", "flags", "error"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def test_a_run_is_routed_archived_and_balances(project: Path) -> None:
    outcome = rag_audit(project, "run", "--json", "--label", "first")
    assert outcome.code == 0
    assert outcome.json["diff"] is None
    assert outcome.json["compared_with"] is None
    run = outcome.json["run"]
    assert run.keys() >= SUMMARY_KEYS
    assert run["context"].keys() >= CONTEXT_KEYS
    assert (run["status"], run["origin"], run["label"]) == ("complete", "evaluated", "first")
    for metric in run["metrics"].values():
        assert metric["n"] + sum(metric["missing"].values()) == metric["total"] == 4
    assert run["metrics"]["hit_at_k"]["missing"] == {"unanswerable": 1}
    assert "done OLD-1" in outcome.err.splitlines()


def test_every_question_goes_to_its_own_corpus_and_a_comparison_to_both(project: Path) -> None:
    rag_audit(project, "run")
    questions = {
        question["id"]: question for question in rag_audit(project, "show", "latest", "--json").json["questions"]
    }
    assert questions["OLD-1"].keys() >= QUESTION_KEYS
    assert questions["OLD-1"]["route"] == {
        "corpora": ["older"],
        "rule": "doc_id",
        "home": ["older"],
        "misrouted": False,
    }
    assert questions["NEW-1"]["route"]["corpora"] == ["newer"]
    assert sorted(questions["CMP-1"]["route"]["corpora"]) == ["newer", "older"]
    assert {found["corpus"] for found in questions["CMP-1"]["retrieved"]} == {"newer", "older"}
    assert "12 ms" in questions["OLD-1"]["answer"]
    assert "4 ms" in questions["NEW-1"]["answer"]
    assert list(questions) == ["OLD-1", "NEW-1", "CMP-1", "NA-1"]


def test_without_routing_the_wrong_index_answers_and_the_diff_says_routing(project: Path) -> None:
    rag_audit(project, "run", "--label", "routed")
    outcome = rag_audit(project, "run", "--no-routing", "--set", "routing.default_corpus=older", "--json")
    assert outcome.code == 0
    regressed = {entry["id"]: entry for entry in outcome.json["diff"]["questions"]["regressed"]}
    assert regressed["NEW-1"]["cause"] == "routing"
    assert "OLD-1" not in regressed


def test_one_question_shows_all_that_each_layer_saw(project: Path) -> None:
    rag_audit(project, "run")
    outcome = rag_audit(project, "show", "latest", "--question", "OLD-1", "--json")
    question = outcome.json["questions"][0]
    stored = (project / "documents" / "older" / "evt.md").read_text(encoding="utf-8")
    assert all(found["text"] in stored for found in question["retrieved"])
    assert "The delay of the intake angle on the bus is 12 ms." in question["excerpt"]["reference"]
    assert question["context_parity"] == 1.0
    assert question["generator_prompt"]
    assert question["judge_calls"] == [], "rules were applied, no model was called"


@pytest.mark.parametrize(
    ("judges", "asked", "not_asked"),
    [
        ("none", set(), {"faithfulness", "completeness", "no_fabrication", "claim_precision"}),
        ("claims", {"no_fabrication"}, {"faithfulness", "completeness"}),
        ("scores", {"faithfulness"}, {"no_fabrication", "claim_precision"}),
    ],
)
def test_a_judge_that_was_not_asked_leaves_no_score_and_no_failure(
    project: Path, judges: str, asked: set[str], not_asked: set[str]
) -> None:
    outcome = rag_audit(project, "run", "--judges", judges, "--json")
    metrics = outcome.json["run"]["metrics"]
    assert outcome.code == 0
    assert all(metrics[name]["mean"] is None and metrics[name]["missing"]["not_asked"] >= 3 for name in not_asked)
    assert all("not_asked" not in metrics[name]["missing"] for name in asked)


def test_repeated_judging_keeps_every_judgment_apart(project: Path) -> None:
    run = rag_audit(project, "run", "--repeat-judging", "3", "--json").json["run"]
    assert run["total"] == 12
    questions = rag_audit(project, "show", "latest", "--json").json["questions"]
    assert [question["repeat"] for question in questions if question["id"] == "OLD-1"] == [1, 2, 3]


def test_a_rejudged_run_has_the_same_answers_and_names_its_parent(project: Path) -> None:
    parent = rag_audit(project, "run", "--judges", "scores", "--json").json["run"]
    outcome = rag_audit(project, "rejudge", parent["id"], "--set", "judge.claims=offline", "--json")
    assert outcome.code == 0
    run = outcome.json["run"]
    assert (run["origin"], run["parent"]) == ("rejudged", parent["id"])
    assert run["metrics"]["faithfulness"] == parent["metrics"]["faithfulness"]
    assert run["metrics"]["hit_at_1"] == parent["metrics"]["hit_at_1"]
    assert run["metrics"]["no_fabrication"]["n"] > 0
    before, after = (rag_audit(project, "show", id_, "--json").json["questions"] for id_ in (parent["id"], run["id"]))
    assert [question["answer"] for question in before] == [question["answer"] for question in after]


def test_only_the_named_questions_are_asked(project: Path) -> None:
    outcome = rag_audit(project, "run", "--only", "NEW-1,CMP-1", "--json")
    assert outcome.json["run"]["total"] == 2
    refused = rag_audit(project, "run", "--only", "NEW-9")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: no such question: NEW-9\nhint: ")


def run_process(project: Path, *argv: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rag_audit", "--project", str(project), *argv]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})


def stopped_run(project: Path, signal_number: int) -> tuple[list[str], int]:
    """Start a run, stop it after its fifth question, and return the ids it reported as done and its exit code."""
    process = run_process(project, "run", "--workers", "1")
    assert process.stderr is not None
    done: list[str] = []
    for line in process.stderr:
        if line.startswith("done "):
            done.append(line.split()[1])
            if len(done) == 5:
                process.send_signal(signal_number)
    process.communicate()
    return done, process.returncode


@pytest.mark.parametrize(("signal_number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_stopped_run_keeps_what_it_reported_and_resumes_to_the_same_result(
    tmp_path: Path, signal_number: int, code: int
) -> None:
    project = make_project(tmp_path, many_questions(400))
    done, returned = stopped_run(project, signal_number)
    assert returned == code
    assert 5 <= len(done) < 400
    interrupted = rag_audit(project, "runs", "--json").json["runs"][0]
    assert interrupted["status"] == "interrupted"
    shown = rag_audit(project, "show", interrupted["id"], "--json").json
    assert set(done) <= {question["id"] for question in shown["questions"]}
    assert shown["run"]["metrics"]["hit_at_1"]["total"] == 400
    resumed = rag_audit(project, "run", "--resume", interrupted["id"], "--json")
    assert (resumed.code, resumed.json["run"]["id"]) == (0, interrupted["id"])
    whole = rag_audit(project, "run", "--workers", "1", "--json").json["run"]
    assert _numbers(resumed.json["run"]) == _numbers(whole)
    assert rag_audit(project, "verify", "--json").json["ok"] is True


def _numbers(run: dict[str, Any]) -> dict[str, Any]:
    return {key: run[key] for key in ("metrics", "by_corpus", "claims", "flags", "context")}


def test_a_run_is_not_resumed_where_its_questions_changed(tmp_path: Path) -> None:
    project = make_project(tmp_path, many_questions(400))
    stopped_run(project, signal.SIGKILL)
    run_id = rag_audit(project, "runs", "--json").json["runs"][0]["id"]
    questions = project / "questions.yml"
    questions.write_text(questions.read_text(encoding="utf-8").replace("12 ms", "13 ms"), encoding="utf-8")
    refused = rag_audit(project, "run", "--resume", run_id)
    assert refused.code == 2
    assert "questions_hash" in refused.err or "gold" in refused.err


def test_verbs_that_read_load_neither_textual_nor_numpy_nor_an_sdk(project: Path) -> None:
    rag_audit(project, "run")
    heavy = {"textual", "numpy", "anthropic", "cohere", "wordllama", "apsw", "onnxruntime"}
    program = (
        "import sys; from rag_audit.cli import run_command_line; run_command_line(sys.argv[1:]); "
        f"sys.stderr.write('LOADED ' + ' '.join(sorted({heavy!r} & set(sys.modules))))"
    )
    for argv in (
        ["--help"],
        ["runs"],
        ["show", "latest"],
        ["diff", "--help"],
        ["audit", "--help"],
        ["export", "--help"],
    ):
        finished = subprocess.run(
            [sys.executable, "-c", program, "--project", str(project), *argv],
            capture_output=True,
            text=True,
            check=True,
        )
        assert finished.stderr.endswith("LOADED "), f"{argv}: {finished.stderr}"


def test_json_is_one_document_and_a_person_gets_no_traceback(project: Path) -> None:
    rag_audit(project, "run")
    assert json.loads(rag_audit(project, "runs", "--json").out)["runs"][0]["status"] == "complete"
    for argv in (["show", "nothing"], ["run", "--set", "retriever.topk=3"], ["run", "--judges", "all"], ["unknown"]):
        outcome = rag_audit(project, *argv)
        assert outcome.code == 2
        assert outcome.out == ""
        lines = outcome.err.splitlines()
        assert [line.split(":")[0] for line in lines] == ["error", "hint"], outcome.err


def test_a_reviewers_verdict_is_shown_beside_the_judges(project: Path) -> None:
    rag_audit(project, "run")
    question = rag_audit(project, "show", "latest", "--question", "OLD-1", "--json").json["questions"][0]
    claim = question["claims"][0]
    assert (claim["verdict"], claim["effective_verdict"]) == ("verified", "verified")
    argv = ("audit", "record", "latest", "OLD-1", claim["id"], "contradicted", "--reviewer", "ann")
    assert rag_audit(project, *argv).code == 0
    shown = rag_audit(project, "show", "latest", "--question", "OLD-1", "--json").json["questions"][0]["claims"][0]
    assert (shown["verdict"], shown["effective_verdict"]) == ("verified", "contradicted")
    assert "reviewers: contradicted" in rag_audit(project, "show", "latest", "--question", "OLD-1").out


def test_a_dry_run_tells_routes_calls_and_cost_and_archives_nothing(project: Path) -> None:
    argv = ("run", "--dry-run", "--set", "judge.claims=anthropic:some-model", "--repeat-judging", "2")
    plan = rag_audit(project, *argv, "--json").json
    routes = {route["id"]: route for route in plan["routes"]}
    assert (routes["NEW-1"]["corpora"], routes["NEW-1"]["rule"]) == (["newer"], "doc_id")
    calls = {call["role"]: call for call in plan["calls"]}
    assert (calls["generator"]["calls"], calls["claims"]["calls"]) == (4, 8)
    assert (calls["generator"]["cost_usd"], calls["claims"]["cost_usd"], plan["cost_usd"]) == (0.0, None, None)
    assert "NEW-1" in rag_audit(project, *argv).out
    assert rag_audit(project, "runs", "--json").json == {"runs": []}
    assert not (project / ".rag-audit").exists()


def test_a_dry_run_prices_calls_from_the_project_settings(project: Path) -> None:
    (project / "documents" / "config.yml").write_text(
        "prices:\n  some-model: {input: 2.0, output: 10.0, as_of: 2026-11-01}\n", encoding="utf-8"
    )
    plan = rag_audit(project, "run", "--dry-run", "--set", "judge.scores=anthropic:some-model", "--json").json
    (scores,) = (call for call in plan["calls"] if call["role"] == "scores")
    expected = (scores["input_tokens"] * 2.0 + scores["output_tokens"] * 10.0) / 1_000_000
    assert plan["cost_usd"] == pytest.approx(expected)
    assert expected > 0


def test_a_cost_limit_that_cannot_be_kept_is_refused_before_any_call(project: Path) -> None:
    refused = rag_audit(project, "run", "--max-cost", "1", "--set", "generator=anthropic:some-model")
    assert refused.code == 2
    assert refused.err.startswith(
        "error: --max-cost cannot be kept: the price of anthropic:some-model is unknown\nhint: "
    )


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["run", "--only", ""], "--only names no question"),
        (["run", "--only", " , "], "--only names no question"),
        (["run", "--label", "latest"], "the label latest already means another run"),
        (["rejudge", "first", "--label", "first~1"], "the label first~1 already means another run"),
        (["run", "--dry-run", "--set", "generator=banana"], "generator: no such model 'banana'"),
        (["run", "--dry-run", "--set", "judge.claims=anthropic:"], "judge.claims: no such model 'anthropic:'"),
        (["run", "--max-cost", "nan"], "--max-cost nan is no amount"),
        (["run", "--set", "diff.metrics=no_fabricaton"], "there is no metric no_fabricaton"),
        (["run", "--set", "diff.tolerances={hit_at_1: x}"], "hit_at_1 must be a number"),
        (["rejudge", "first", "--set", "retriever.top_k=3"], "retriever.top_k=3 does not matter to rejudge"),
        (["rejudge", "first", "--set", "judge.claims=none"], "no judge is asked"),
        (["questions"], "Missing command"),
    ],
)
def test_a_command_that_would_quietly_do_something_else_is_refused(
    project: Path, argv: list[str], problem: str
) -> None:
    rag_audit(project, "run", "--label", "first", "--only", "OLD-1")
    outcome = rag_audit(project, *argv)
    assert outcome.code == 2
    assert problem in outcome.err
    assert [line.split(":")[0] for line in outcome.err.splitlines()] == ["error", "hint"]
    assert len(rag_audit(project, "runs", "--json").json["runs"]) == 1


def test_the_diff_of_a_run_follows_its_own_settings(project: Path) -> None:
    rag_audit(project, "run")
    own = rag_audit(project, "run", "--no-routing", "--set", "diff.tolerance=1", "--json").json["diff"]
    usual = rag_audit(project, "diff", own["before"], own["after"], "--json").json
    assert usual["metrics"]["hit_at_1"]["verdict"] == "inconclusive"
    assert own["metrics"]["hit_at_1"]["verdict"] == "unchanged"


def test_a_run_tells_what_is_odd_about_its_questions(project: Path) -> None:
    odd = "\n".join(f"- {{id: X-{n}, question: Delay?, doc_id: older/evt}}" for n in range(9))
    (project / "questions.yml").write_text(odd, encoding="utf-8")
    lines = rag_audit(project, "run", "--judges", "none").err.splitlines()
    warnings = [line for line in lines if line.startswith("warning: ")]
    assert "X-0: no reference_answer: completeness cannot be judged" in warnings[0]
    assert len(warnings) == 6
    assert "rag-audit questions check" in warnings[-1]


def test_a_rejudged_run_names_the_settings_of_its_judges(project: Path) -> None:
    rag_audit(project, "run")
    again = rag_audit(project, "rejudge", "latest", "--repeat-judging", "2", "--set", "judge.max_tokens=99", "--json")
    settings = again.json["run"]["context"]["settings"]
    assert (settings["judge.repeats"], settings["judge.max_tokens"]) == (2, 99)


def test_bytes_that_are_no_text_leave_the_json_whole(project: Path) -> None:
    assert rag_audit(project, "run", "--label", "odd\udcff", "--json").json["run"]["label"] == "odd\ufffd"
    exported = rag_audit(project, "export", "latest", "--format", "csv", "--output", f"{project}/o\udcff.csv", "--json")
    assert exported.json["output"].endswith("o\ufffd.csv")


def test_a_run_without_retrieval_names_no_embedder_but_its_documents(project: Path) -> None:
    context = rag_audit(project, "run", "--set", "retriever.mode=off", "--json").json["run"]["context"]
    assert context["embedder"] == "none"
    corpora = context["corpora"]
    assert sorted(corpora) == ["newer", "older"]
    assert all(corpus["documents"] and corpus["index"] == "none" for corpus in corpora.values())


def test_a_wrong_model_is_refused_before_documents_are_indexed(project: Path) -> None:
    outcome = rag_audit(project, "run", "--set", "judge.scores=banana")
    assert outcome.code == 2
    assert "judge.scores: no such model 'banana'" in outcome.err
    assert not (project / ".rag-audit").exists()
