"""`rag-audit import` on the command line: what it prints, what it archives, what it refuses."""

import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from rag_audit.cli.import_ import FORMAT_NAMES
from rag_audit.history import History
from rag_audit.importers.mapping import FIELDS, parse_field_map
from rag_audit.importers.registry import FORMATS
from tests.cli.invoke import Outcome, rag_audit
from tests.importers.samples import SAMPLES, Sample

SYSTEMS = {"django-explain-errors": 2, "promptfoo": 2}


def _write(folder: Path, sample: Sample, name: str | None = None) -> Path:
    path = folder / (name or sample.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sample.data)
    return path


def _import(project: Path, path: Path, sample: Sample, *more: str) -> Outcome:
    options = [part for option in sample.mapping for part in ("--map", option)]
    return rag_audit(project, "import", str(path), *options, *more)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_becomes_runs_that_balance_and_can_be_shown(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    outcome = _import(tmp_path, _write(tmp_path / "files", sample), sample, "--json")
    assert outcome.code == 0, outcome.err
    imported: list[dict[str, Any]] = outcome.json["imported"]
    assert outcome.json["refused"] == []
    assert len(imported) == SYSTEMS.get(sample.format, 1)
    for run in imported:
        assert run["format"] == sample.format
        assert run["rows"] + run["left_out_rows"] == run["file_rows"]
        shown = rag_audit(tmp_path, "show", run["run_id"], "--json").json
        assert shown["run"]["origin"] == "imported"
        assert len(shown["questions"]) == run["rows"]
        assert len({question["id"] for question in shown["questions"]}) == run["questions"]
        for metric, summary in shown["run"]["metrics"].items():
            assert summary["n"] + sum(summary["missing"].values()) == summary["total"] == run["rows"], metric
        if run["claims"] is not None:
            listed = [claim["verdict"] for question in shown["questions"] for claim in question["claims"]]
            assert {word: listed.count(word) for word in run["claims"]} == run["claims"] == shown["run"]["claims"]
    assert rag_audit(tmp_path, "verify", "--json").json["ok"] is True


def test_the_same_content_is_one_run(tmp_path: Path) -> None:
    sample = SAMPLES["deepeval-json"]
    wrapped = _write(tmp_path / "files", sample)
    bare = tmp_path / "files" / "bare.json"
    bare.write_text(json.dumps(json.loads(sample.data)["testRunData"], indent=4), encoding="utf-8")
    first = rag_audit(tmp_path, "import", str(wrapped), "--json").json["imported"][0]
    again = rag_audit(tmp_path, "import", str(wrapped), str(bare), "--json").json["imported"]
    assert [run["run_id"] for run in again] == [first["run_id"]] * 2
    assert all(first["run_id"] in run["warnings"][0] for run in again)
    assert len(rag_audit(tmp_path, "runs", "--json").json["runs"]) == 1


def test_another_score_is_another_run(tmp_path: Path) -> None:
    sample = SAMPLES["ragas-csv"]
    path = _write(tmp_path / "files", sample)
    first = rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]
    path.write_bytes(sample.data.replace(b",0.5,", b",0.25,"))
    second = rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]
    assert second["run_id"] != first["run_id"]
    assert second["warnings"] == first["warnings"]


def test_what_cannot_be_read_is_refused_and_the_rest_imported(tmp_path: Path) -> None:
    good = _write(tmp_path / "files", SAMPLES["plain-jsonl"])
    empty = tmp_path / "files" / "empty.csv"
    empty.write_bytes(b"")
    both = rag_audit(tmp_path, "import", str(empty), str(good), str(tmp_path / "nowhere.json"), "--json")
    assert both.code == 0
    assert len(both.json["imported"]) == 1
    assert [(Path(entry["path"]).name, entry["why"]) for entry in both.json["refused"]] == [
        ("empty.csv", "empty file"),
        ("nowhere.json", "cannot be read: No such file or directory"),
    ]
    none = rag_audit(tmp_path, "import", str(empty))
    assert none.code == 2
    assert none.out == ""
    assert none.err.splitlines()[0] == f"error: {empty}: empty file"
    assert none.err.splitlines()[1].startswith("hint: ")


def test_a_guess_is_refused_with_the_mapping_to_use(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("q,a,quality\nOil?,No.,0.5\n", encoding="utf-8")
    refused = rag_audit(tmp_path, "import", str(path), "--json")
    assert refused.code == 2
    hint = refused.json["refused"][0]["hint"]
    options = hint.partition("with: ")[2].split()
    assert options == ["--map", "question=q", "--map", "answer=a", "--map", "scores.quality=quality"]
    imported = rag_audit(tmp_path, "import", str(path), *options, "--json")
    assert imported.code == 0
    run = rag_audit(tmp_path, "show", imported.json["imported"][0]["run_id"], "--json").json["run"]
    assert run["metrics"]["quality"]["mean"] == 0.5
    assert run["metrics"]["quality"]["direction"] == "none"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("question",), "is not FIELD=COLUMN"),
        (("answer=a",), "names no question"),
        (("questoin=q",), "knows no field questoin"),
        (("question=q", "scores.x=a", "scores.x.direction=sideways"), "none of up, down, none"),
        (("question=q", "claims=c", "claims.verdicts.ok=fine"), "none of verified, contradicted, absent"),
        (("question=q", "scores.x=a", "scores.x.range=5"), "is not LOW..HIGH"),
    ],
)
def test_a_wrong_mapping_is_said_before_anything_is_read(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    arguments = [part for option in options for part in ("--map", option)]
    outcome = rag_audit(tmp_path, "import", str(tmp_path / "nowhere.csv"), *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    outcome = rag_audit(tmp_path, "import", str(tmp_path / "nowhere.csv"), *arguments, "--json")
    assert outcome.code == 2
    assert message in outcome.json["refused"][0]["why"]


def test_other_spellings_of_a_field_mean_the_same() -> None:
    said = ("question=q", "context=c", "metric.Güte=g", "claims=k", "claims.label=l", "verdict.OK=verified")
    meant = ("question=q", "contexts=c", "scores.Güte=g", "claims=k", "claims.verdict=l", "claims.verdicts.ok=verified")
    assert parse_field_map(said) == parse_field_map(meant)
    own = parse_field_map(("question=q", "faithfulness=f"))
    assert own is not None
    assert own.kind("faithfulness")[0] == (0.0, 10.0)


def test_a_mapped_column_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("frage,antwort\nOil?,No.\n", encoding="utf-8")
    refused = rag_audit(tmp_path, "import", str(path), "--map", "question=fragen", "--json").json["refused"][0]
    assert "fragen (for question)" in refused["why"]
    assert "Did you mean frage?" in refused["hint"]


def test_every_format_and_field_is_documented(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text(encoding="utf-8")
    shown = rag_audit(tmp_path, "import", "--help").out
    assert set(FORMAT_NAMES) == {"auto", "generic", *FORMATS}
    for name in (*FORMAT_NAMES[1:], *FIELDS):
        assert f"`{name}`" in page, name
        assert name in shown


def test_without_a_label_a_run_is_called_by_its_file(tmp_path: Path) -> None:
    for name, labels in (("ragas-csv", ["ragas"]), ("azure-jsonl", ["night"]), ("plain-jsonl", ["coffee"])):
        project = tmp_path / name
        project.mkdir()
        rag_audit(project, "import", str(_write(tmp_path / "night", SAMPLES[name])))
        assert [run["label"] for run in rag_audit(project, "runs", "--json").json["runs"]] == labels
    arms = rag_audit(
        tmp_path, "import", str(_write(tmp_path / "night", SAMPLES["django-explain-errors-json"])), "--json"
    )
    assert [run["system"] for run in arms.json["imported"]] == ["rag_on", "rag_off"]
    assert rag_audit(tmp_path, "show", "run [rag_off]", "--json").json["run"]["label"] == "run [rag_off]"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("said", "code"), [("y\n", 0), ("n\n", 2)])
def test_on_a_terminal_a_guess_is_asked_about(
    said: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("q,a,quality\nOil?,No.,0.5\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", _Terminal(said))
    outcome = rag_audit(tmp_path, "import", str(path))
    assert outcome.code == code
    assert "--map question=q" in outcome.out


def test_label_judge_and_generator_are_taken_where_the_file_is_silent(tmp_path: Path) -> None:
    ragas = _write(tmp_path / "files", SAMPLES["ragas-csv"])
    told = ("--label", "night", "--judge", "judge-9", "--generator", "tiny-9")
    rag_audit(tmp_path, "import", str(ragas), *told)
    context = rag_audit(tmp_path, "show", "night", "--json").json["run"]["context"]
    assert context["judges"] == {"claims": "judge-9", "scores": "judge-9"}
    assert context["generator"] == "tiny-9"
    judged = [result.score_judgment for result in History(tmp_path).results(History(tmp_path).resolve("night").id)]
    assert [judgment.identity.model for judgment in judged if judgment and judgment.identity] == ["judge-9"] * 3
    deepeval = _write(tmp_path / "files", SAMPLES["deepeval-json"])
    rag_audit(tmp_path, "import", str(deepeval), *told)
    context = rag_audit(tmp_path, "show", "night", "--json").json["run"]["context"]
    assert context["judges"]["claims"] == "judge-1"
    assert context["generator"] == "tiny-1"


def test_a_judge_that_is_named_later_makes_a_run_of_its_own(tmp_path: Path) -> None:
    ragas = _write(tmp_path / "files", SAMPLES["ragas-csv"])
    told = (str(ragas), "--judge", "judge-9")
    ids = [
        rag_audit(tmp_path, "import", *arguments, "--json").json["imported"][0]["run_id"]
        for arguments in ((str(ragas),), told, told, (str(ragas),))
    ]
    assert ids[0] != ids[1]
    assert ids[2:] == [ids[1], ids[0]]


def test_what_a_mapping_says_of_a_metric_is_part_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("q,a,s\nOil?,No.,1\n", encoding="utf-8")
    mapped = ("import", str(path), "--map", "question=q", "--map", "answer=a", "--map", "scores.s=s", "--json")
    first = rag_audit(tmp_path, *mapped).json["imported"][0]["run_id"]
    second = rag_audit(tmp_path, *mapped, "--map", "scores.s.direction=up").json["imported"][0]["run_id"]
    assert first != second
    shown = rag_audit(tmp_path, "show", second, "--json").json["run"]
    assert shown["metrics"]["s"]["direction"] == "up"


def test_another_reason_of_the_judge_is_another_run(tmp_path: Path) -> None:
    sample = SAMPLES["azure-jsonl"]
    path = _write(tmp_path / "files", sample)
    first = rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]["run_id"]
    path.write_bytes(sample.data.replace(b"It is in the manual.", b"The manual says so."))
    assert rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]["run_id"] != first


def test_a_file_that_lost_questions_is_an_incomplete_run(tmp_path: Path) -> None:
    whole = SAMPLES["azure-jsonl"].data.replace(b'"latency": -1', b'"latency": 1')
    log = json.loads(SAMPLES["inspect-json"].data)
    log = {**log, "status": "success", "results": {**log.get("results", {}), "total_samples": len(log["samples"]) + 1}}
    files = {
        "whole.jsonl": (whole, "complete", ""),
        "cut.jsonl": (whole[:-40], "incomplete", "1 of 3 entries cannot be read: the run lacks them"),
        "list.jsonl": (whole + b"[1]\n", "complete", "line 4 left out: not a JSON object"),
        "log.json": (json.dumps(log).encode(), "incomplete", f"samples, it holds {len(log['samples'])}"),
    }
    for name, (data, status, said) in files.items():
        path = tmp_path / name
        path.write_bytes(data)
        imported = rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]
        assert said in " ".join(imported["warnings"])
        shown = rag_audit(tmp_path, "show", imported["run_id"], "--json").json["run"]
        assert shown["status"] == status, name


def test_a_format_that_somebody_names_is_doubted_where_the_content_is_another(tmp_path: Path) -> None:
    path = _write(tmp_path / "files", SAMPLES["ragchecker-json"])
    told = rag_audit(tmp_path, "import", str(path), "--format", "trulens", "--json").json["imported"][0]
    assert told["warnings"][0].startswith("this does not look like a file of TruLens")
    right = rag_audit(tmp_path, "import", str(path), "--format", "ragchecker", "--json").json["imported"][0]
    assert not any("does not look like" in warning for warning in right["warnings"])


def test_hostile_names_and_texts_reach_the_terminal_inert(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred\u202e.csv"
    path.write_text("question,answer,faith\x1b]0;title\x07fulness\nOil?,\x1b[2J,0.5\n", encoding="utf-8")
    mapping = ("--map", "question=question", "--map", "scores.\x1b[1mx=faith\x1b]0;title\x07fulness")
    outcome = rag_audit(tmp_path, "import", str(path), *mapping)
    assert outcome.code == 0
    assert "\x1b" not in outcome.out + outcome.err
    assert "\u202e" not in outcome.out + outcome.err
    refused = rag_audit(tmp_path, "import", str(path))
    assert refused.code == 2
    assert "\x1b" not in refused.err


def test_a_file_name_that_is_no_text_is_imported(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    Path(os.fsdecode(path)).write_bytes(SAMPLES["ragas-csv"].data)
    outcome = rag_audit(tmp_path, "import", os.fsdecode(path), "--json")
    assert outcome.code == 0
    assert outcome.json["imported"][0]["path"].endswith("caf\ufffd.csv")


def test_a_folder_is_read_with_its_dot_folders_and_without_loops(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    _write(folder, SAMPLES["deepeval-json"], ".deepeval/.latest_test_run.json")
    _write(folder, SAMPLES["azure-jsonl"], "azure/eval_results.jsonl")
    (folder / "azure" / "summary.json").write_text('{"gpt_relevance": {"mean_rating": 4}}', encoding="utf-8")
    (folder / "notes.json").write_text('{"nothing": "here"}', encoding="utf-8")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    outcome = rag_audit(tmp_path, "import", str(folder), "--json")
    assert outcome.code == 0
    assert sorted(run["format"] for run in outcome.json["imported"]) == ["azure", "deepeval"]
    assert outcome.json["refused"] == []


def test_a_folder_without_results_says_what_is_wrong_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    empty = rag_audit(tmp_path, "import", str(folder), "--json")
    assert empty.code == 2
    assert empty.json["refused"][0]["why"] == "no results in this folder"
    (folder / "notes.json").write_text('{"nothing": "here"}', encoding="utf-8")
    refused = rag_audit(tmp_path, "import", str(folder), "--json").json["refused"]
    assert refused[0]["path"] == str(folder / "notes.json")


def test_the_projects_own_history_is_never_imported(tmp_path: Path) -> None:
    _write(tmp_path, SAMPLES["plain-jsonl"])
    assert len(rag_audit(tmp_path, "import", str(tmp_path), "--json").json["imported"]) == 1
    again = rag_audit(tmp_path, "import", str(tmp_path), "--json").json
    assert len(again["imported"]) == 1
    assert again["refused"] == []


def test_an_import_that_fails_on_the_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path / "files", SAMPLES["plain-jsonl"])
    monkeypatch.setattr("rag_audit.summary.SummaryBuilder.add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    assert rag_audit(tmp_path, "import", str(path)).code == 130
    assert History(tmp_path).summaries() == []
    assert History(tmp_path).unclosed() == []


def test_exported_lines_give_the_same_run_again(tmp_path: Path) -> None:
    for name in ("plain-jsonl", "deepeval-json", "azure-jsonl", "ragchecker-json"):
        there, back = tmp_path / name / "there", tmp_path / name / "back"
        there.mkdir(parents=True)
        back.mkdir()
        _import(there, _write(tmp_path / "files", SAMPLES[name]), SAMPLES[name])
        lines = tmp_path / f"{name}.jsonl"
        assert rag_audit(there, "export", "latest", "--format", "jsonl", "--output", str(lines)).code == 0
        assert rag_audit(back, "import", str(lines)).code == 0
        before, after = (rag_audit(project, "show", "latest", "--json").json for project in (there, back))
        assert [_kept(question) for question in after["questions"]] == [
            _kept(question) for question in before["questions"]
        ]
        assert after["run"]["metrics"] == before["run"]["metrics"]
        assert after["run"]["claims"] == before["run"]["claims"]
        assert after["run"]["started_at"] == before["run"]["started_at"]
        assert after["run"]["context"] == before["run"]["context"]


def test_an_evaluated_run_comes_back_with_what_its_judge_saw_and_its_flags(tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    shutil.copytree(Path(__file__).parents[2] / "history", there / "history")
    back.mkdir()
    lines = tmp_path / "run.jsonl"
    assert rag_audit(there, "export", "no-routing", "--format", "jsonl", "--output", str(lines)).code == 0
    assert rag_audit(back, "import", str(lines)).code == 0
    before, after = (rag_audit(project, "show", "no-routing", "--json").json for project in (there, back))
    assert {key: after["run"][key] for key in ("flags", "metrics", "by_corpus", "claims")} == {
        key: before["run"][key] for key in ("flags", "metrics", "by_corpus", "claims")
    }
    same = ("retrieved", "claims", "flags", "scores", "missing")
    kept, returned = (
        {question["id"]: [question[key] for key in same] for question in shown["questions"]}
        for shown in (before, after)
    )
    assert returned == kept


def test_what_the_judge_saw_beside_the_excerpt_is_kept_where_it_is_not_the_contexts(tmp_path: Path) -> None:
    line = {"id": "a", "question": "q", "answer": "a", "contexts": [{"text": "one", "doc_id": "d"}, "two"]}
    claims = [{"text": "t", "verdict": "verified", "evidence": "three"}]
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({**line, "claims": claims, "judged_contexts": ["three", "one"]}), encoding="utf-8")
    for _ in range(2):
        run = rag_audit(tmp_path, "import", str(path), "--json").json["imported"][0]["run_id"]
        (shown,) = rag_audit(tmp_path, "show", run, "--question", "a", "--json").json["questions"]
        assert shown["excerpt"]["context"] == "three\n\none"
        assert shown["claims"][0]["evidence_found"] is True
        assert rag_audit(tmp_path, "export", run, "--format", "jsonl", "--output", str(path)).code == 0


def test_judging_again_says_where_there_is_nothing_to_judge_against(tmp_path: Path) -> None:
    line = {"question": "What is evt_max?", "answer": "evt_max is 5.", "reference_answer": "evt_max is 5."}
    claims = [{"text": "evt_max is 5.", "verdict": "contradicted"}]
    rows = (
        {**line, "id": "contexts", "contexts": ["The default of evt_max is 5."]},
        {**line, "id": "excerpt", "excerpt": "The default of evt_max is 5."},
        {**line, "id": "nothing", "claims": claims},
    )
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert rag_audit(tmp_path, "import", str(path)).code == 0
    judged = rag_audit(tmp_path, "rejudge", "latest", "--json")
    assert judged.code == 3
    shown = rag_audit(tmp_path, "show", judged.json["run"]["id"], "--json").json["questions"]
    questions = {question["id"]: question for question in shown}
    assert questions["contexts"]["scores"]["no_fabrication"] == questions["excerpt"]["scores"]["no_fabrication"] == 1
    assert questions["excerpt"]["missing"] == {"faithfulness": "no_context"}
    assert questions["nothing"]["claims"] == []
    assert questions["nothing"]["missing"] == {
        "no_fabrication": "no_excerpt",
        "claim_precision": "no_excerpt",
        "faithfulness": "no_context",
    }


@pytest.mark.parametrize("form", ["md", "html"])
def test_an_export_says_that_no_claims_were_judged(form: str, tmp_path: Path) -> None:
    assert rag_audit(tmp_path, "import", str(_write(tmp_path / "files", SAMPLES["ragas-csv"]))).code == 0
    out = tmp_path / f"run.{form}"
    assert rag_audit(tmp_path, "export", "latest", "--format", form, "--output", str(out)).code == 0
    text = out.read_text(encoding="utf-8")
    assert "none were judged" in text
    assert "0 verified" not in text


def _kept(question: dict[str, Any]) -> dict[str, Any]:
    claims = [{key: claim[key] for key in ("text", "verdict", "evidence", "reason")} for claim in question["claims"]]
    same = ("id", "repeat", "question", "answer", "reference_answer", "doc_id", "retrieved", "scores", "missing")
    return {**{key: question[key] for key in (*same, "error", "measurements")}, "claims": claims}


def test_ids_beyond_64_bits_stay_apart_and_as_written(tmp_path: Path) -> None:
    ids = ("12345678901234567890123", "12345678901234567890124")
    path = tmp_path / "run.jsonl"
    lines = [f'{{"id": {id_}, "question": "q", "answer": "say \\"id\\": {id_}, twice"}}' for id_ in ids]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert rag_audit(tmp_path, "import", str(path)).code == 0
    shown = rag_audit(tmp_path, "show", "latest", "--json").json["questions"]
    assert [question["id"] for question in shown] == list(ids)
    assert [question["answer"] for question in shown] == [f'say "id": {id_}, twice' for id_ in ids]
