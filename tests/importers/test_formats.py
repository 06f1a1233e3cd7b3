"""What each format's rows say, with values worked out by hand from the samples."""

from pathlib import Path
from typing import Any

import pytest

from rag_audit.errors import InputError
from rag_audit.importers.formats.azure import split_context
from rag_audit.importers.formats.deepeval import read_claims
from rag_audit.importers.formats.django_explain_errors import winner_side
from rag_audit.importers.formats.inspect_ai import grade_of
from rag_audit.importers.kinds import known_kind
from rag_audit.model import Direction, FlagName
from tests.importers.reading import Read, read_path, read_sample, write_json
from tests.importers.samples import ASKED, SAMPLES, TEXTS


def _one(folder: Path, name: str) -> Read:
    (read,) = read_sample(folder, SAMPLES[name])
    return read


def test_plain_computes_claims_and_hits_and_keeps_given_scores(tmp_path: Path) -> None:
    read = _one(tmp_path, "plain-jsonl")
    assert read.values("faithfulness") == [7, 8, 9]
    assert read.values("ragas.context_recall") == [0.5, None, None]
    assert read.reasons("ragas.context_recall") == [None, "no_score", "no_score"]
    assert read.values("no_fabrication") == [1, 0, None]
    assert read.reasons("no_fabrication") == [None, None, "unparsed"]
    assert read.values("claim_precision") == [0.5, 0.5, None]
    assert read.values("hit_at_1") == [1, 1, 1]
    assert read.run.started_at == "2026-03-01T08:00:00Z"
    assert read.run.context.generator == "tiny-1"
    assert [result.question.id for result in read.results] == ["m0", "m1", "m2"]


def test_azure_leaves_out_what_the_judge_said_of_an_error_text(tmp_path: Path) -> None:
    read = _one(tmp_path, "azure-jsonl")
    assert read.values("azure.gpt_groundedness") == [None, 4, 3]
    assert read.reasons("azure.gpt_groundedness") == ["target_error", None, None]
    failed = read.results[0]
    assert failed.error == ASKED[0][1]
    assert failed.generation is None
    assert failed.retrieved == ()
    assert "azure.gpt_groundedness 5.0" in failed.notes[0]
    assert read.plan.shape.kinds["azure.gpt_groundedness"] == ((1.0, 5.0), Direction.UP)
    assert read.results[1].measurements == {"latency": 1.5, "answer_length": len(ASKED[1][1])}


@pytest.mark.parametrize(
    ("context", "chunks"),
    [
        ("a.md#page=3: one\n\nb.md: two: three", [("a.md", "one"), ("b.md", "two: three")]),
        ("employee handbook.pdf#page=1: text", [("employee handbook.pdf", "text")]),
        ("before\na.txt: one", [(None, "before"), ("a.txt", "one")]),
        ("See the rules in handbook.pdf: none", [(None, "See the rules in handbook.pdf: none")]),
        ("e.g: one", [(None, "e.g: one")]),
        ("no names here\n\nsecond part", [(None, "no names here"), (None, "second part")]),
        ("see http://example.invalid: it works", [(None, "see http://example.invalid: it works")]),
        ('["x", {"content": "y", "source": "s"}]', [(None, "x"), ("s", "y")]),
        ('{"7": {"id": 7, "name": "n"}}', [("7", '{"id": 7, "name": "n"}')]),
        ("", []),
        (None, []),
    ],
)
def test_azure_context_is_cut_into_chunks(context: Any, chunks: list[tuple[str | None, str]]) -> None:
    assert [(chunk.doc_id, chunk.text) for chunk in split_context(context)] == chunks


def test_ragas_reads_lists_and_every_numeric_column(tmp_path: Path) -> None:
    read = _one(tmp_path, "ragas-csv")
    assert read.values("ragas.faithfulness") == [0, 0.5, 1]
    assert read.values("ragas.my_score") == [0.75, None, None]
    assert [chunk.chunk.text for chunk in read.results[1].retrieved] == [TEXTS[1], "it's"]
    assert read.plan.shape.kinds["ragas.faithfulness"][1] is Direction.UP
    assert read.plan.shape.kinds["ragas.my_score"][1] is Direction.NONE
    assert read.verdicts() == [None, None, None]


def test_azure_rows_in_a_list_are_read_like_lines(tmp_path: Path) -> None:
    row = {"question": "q", "truth": "t", "answer": "a", "context": "a.md: one", "latency": 1, "gpt_relevance": 3}
    (read,) = read_path(write_json(tmp_path / "eval_results.json", [row]))
    assert read.run.format == "azure"
    assert read.values("azure.gpt_relevance") == [3]
    assert [chunk.chunk.doc_id for chunk in read.results[0].retrieved] == ["a.md"]


@pytest.mark.parametrize(
    ("metric", "range_", "direction"),
    [
        ("azure.violence_score", (0, 7), Direction.DOWN),
        ("azure.f1_score", (0, 1), Direction.UP),
        ("azure.anxiety_score", (None, None), Direction.NONE),
        ("deepeval.bias", (0, 1), Direction.DOWN),
        ("deepeval.pii_leakage", (0, 1), Direction.UP),
        ("deepeval.role_violation", (0, 1), Direction.UP),
        ("deepeval.non_advice", (0, 1), Direction.UP),
        ("ragas.noise_sensitivity_mode_relevant", (0, 1), Direction.DOWN),
        ("ragchecker.self_knowledge", (0, 1), Direction.NONE),
    ],
)
def test_kinds_are_those_that_the_tools_document(
    metric: str, range_: tuple[float | None, float | None], direction: Direction
) -> None:
    assert known_kind(metric) == (range_, direction)


def test_a_score_that_is_a_word_is_unparsed_and_said(tmp_path: Path) -> None:
    table = "user_input,response,faithfulness,answer_relevancy\nq1,a,0.5,50%\nq2,b,Timeout,80%\nq3,c,,90%\n"
    path = tmp_path / "results.csv"
    path.write_text(table, encoding="utf-8")
    (read,) = read_path(path)
    assert read.values("ragas.faithfulness") == [0.5, None, None]
    assert read.reasons("ragas.faithfulness") == [None, "unparsed", "no_score"]
    assert "column faithfulness: 1 cell is no number and no score" in read.run.warnings
    assert "column answer_relevancy holds texts and was not read as a metric" in read.run.warnings
    rows = [
        {"question": "q", "answer": "a", "truth": "t", "latency": 1, "gpt_relevance": word} for word in (3, "none?")
    ]
    (azure,) = read_path(write_json(tmp_path / "eval_results.jsonl", *rows))
    assert azure.values("azure.gpt_relevance") == [3, None]
    assert azure.reasons("azure.gpt_relevance") == [None, "unparsed"]


def test_objects_around_samples_and_scores_are_no_part_of_their_names(tmp_path: Path) -> None:
    rows = [{"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "scores": {"faithfulness": 0.5}}]
    for document in ({"samples": rows}, {"meta": {"k": 5}, "data": {"run": {"samples": rows}}}):
        (read,) = read_path(write_json(tmp_path / "run.json", document))
        assert read.values("ragas.faithfulness") == [0.5]


def test_ragas_points_out_a_mean_that_was_copied_into_the_rows(tmp_path: Path) -> None:
    rows = [
        {"user_input": f"q{at}", "response": "a", "faithfulness": 0.6842, "answer_relevancy": 1.0} for at in range(4)
    ]
    (read,) = read_path(write_json(tmp_path / "flat.jsonl", *rows))
    assert read.plan.shape.repeated == {"ragas.faithfulness": 0.6842}
    assert read.flagged(FlagName.SCORES_REPEAT_MEAN) == [True] * 4
    assert any("ragas.faithfulness is 0.6842 in every row" in warning for warning in read.plan.warnings)


def test_deepeval_takes_claims_from_the_log_and_flags_silent_passes(tmp_path: Path) -> None:
    read = _one(tmp_path, "deepeval-json")
    assert read.verdicts() == [["verified", "absent"], [], ["unparsed"]]
    assert read.values("deepeval.faithfulness") == [1, 1, 1]
    assert read.flagged(FlagName.SKIPPED_LOOKUP) == [False, True, False]
    assert read.reasons("no_fabrication") == [None, "no_claims", "unparsed"]
    assert read.reasons("deepeval.hallucination") == ["judge_error"] * 3
    assert read.plan.shape.kinds["deepeval.hallucination"][1] is Direction.DOWN
    assert read.run.context.judges == {"claims": "judge-1", "scores": "judge-1"}
    assert read.run.context.generator == "tiny-1"
    assert read.results[0].error == "Hallucination: timed out"
    assert read.results[2].notes == ("1 claims but 2 verdicts: they cannot be aligned",)


def test_deepeval_learns_the_direction_of_an_unknown_metric_from_its_threshold(tmp_path: Path) -> None:
    metrics = [
        {"name": "Politeness", "threshold": 0.5, "score": 0.9, "success": True},
        {"name": "Rudeness", "threshold": 0.5, "score": 0.9, "success": False},
    ]
    run = {"testCases": [{"input": "q", "actualOutput": "a", "metricsData": metrics}], "metricsScores": [{}]}
    (read,) = read_path(write_json(tmp_path / "run.json", run))
    assert read.plan.shape.kinds["deepeval.politeness"] == ((0.0, 1.0), Direction.UP)
    assert read.plan.shape.kinds["deepeval.rudeness"] == ((0.0, 1.0), Direction.DOWN)


@pytest.mark.parametrize(
    ("log", "verdicts", "note"),
    [
        (None, None, None),
        ("Statements:\n[]\n \nVerdicts:\n[]", None, None),
        ('Claims:\n["a"] \n \nVerdicts:\n[{"verdict": "YES"}]', ["verified"], None),
        ('Claims:\n["a", "Verdicts:"] \n \nVerdicts:\n[{"verdict": "no"}, "odd"]', ["contradicted", "unparsed"], None),
        ('Claims:\n["a"', None, "the claims in the log are unreadable"),
        ('Claims:\n["a"] \n \nVerdicts:\n[{"ver', ["unparsed"], "the verdicts in the log are unreadable"),
    ],
)
def test_deepeval_log(log: Any, verdicts: list[str] | None, note: str | None) -> None:
    claims, said = read_claims(log)
    assert (None if claims is None else [claim.verdict.value for claim in claims]) == verdicts
    assert said == note


def test_django_unblinds_the_arms(tmp_path: Path) -> None:
    on, off = read_sample(tmp_path, SAMPLES["django-explain-errors-json"])
    assert (on.run.system, off.run.system) == ("rag_on", "rag_off")
    assert on.verdicts() == [["verified"], None]
    assert off.verdicts() == [["contradicted"], None]
    assert on.values("django_explain_errors.no_fabrication") == [1, None]
    assert off.values("django_explain_errors.no_fabrication") == [0, None]
    assert on.reasons("django_explain_errors.identifies_cause") == [None, "judge_error"]
    assert on.reasons("no_fabrication") == [None, "judge_error"]
    assert off.reasons("django_explain_errors.identifies_cause") == ["no_score", "judge_error"]
    assert [result.error for result in on.results] == [None, "the call failed with status 500"]
    assert "stored no_fabrication True contradicts the claims; False counts" in off.results[0].notes
    assert any("no tally" in warning for warning in on.run.warnings)
    assert on.results[0].question.context == "Traceback: ..."
    assert on.results[0].retrieved == ()


@pytest.mark.parametrize(
    ("winner", "on_is_a", "side"),
    [("A", True, "rag_on"), ("A", False, "rag_off"), ("B", True, "rag_off"), ("B", False, "rag_on"),
     ("tie", True, "tie"), (None, True, None), ("A", None, None)],
)  # fmt: skip
def test_django_winner(winner: str | None, on_is_a: bool | None, side: str | None) -> None:
    assert winner_side({"winner": winner, "rag_on_is_a": on_is_a}) == side


def test_ragchecker_takes_verdicts_from_the_chunks(tmp_path: Path) -> None:
    read = _one(tmp_path, "ragchecker-json")
    assert read.verdicts() == [["verified", "absent"], ["verified", "absent"], ["unparsed", "unparsed"]]
    assert read.flagged(FlagName.CONFLICTING_EVIDENCE) == [True, True, False]
    judgment = read.results[0].claim_judgment
    assert judgment is not None
    assert judgment.claims[0].text == "it is rinsed"
    assert judgment.claims[0].evidence == TEXTS[0]
    assert judgment.claims[0].support == "context"
    assert read.plan.shape.kinds["ragchecker.hallucination"][1] is Direction.DOWN
    assert read.results[0].retrieved[1].chunk.doc_id == "b"


def test_promptfoo_is_one_run_a_provider_and_prompt(tmp_path: Path) -> None:
    first, second = read_sample(tmp_path, SAMPLES["promptfoo-json"])
    assert (first.run.system, second.run.system) == ("vendor:model-0", "vendor:model-1")
    assert [result.question.id for result in first.results] == ["0", "1", "2"]
    assert first.plan.planned == second.plan.planned
    assert first.values("promptfoo.score") == [0.5, 0.5, 0.5]
    assert second.values("promptfoo.score") == [0.5, 0.5, None]
    assert second.reasons("promptfoo.score") == [None, None, "target_error"]
    assert first.reasons("promptfoo.tone") == ["not_asked", None, None]
    assert [result.error for result in second.results] == [None, None, "refused"]
    answer = first.results[0].generation
    assert answer is not None
    assert answer.answer == '{"text": "Every week, under running water."}'
    assert answer.latency_s == 0.12
    assert [call.reply for call in first.results[0].judge_calls] == ["grounded"]


def test_promptfoo_repeats_share_the_id(tmp_path: Path) -> None:
    rows = [{"testIdx": 0, "promptIdx": 0, "vars": {"question": "q"}, "provider": "p", "score": score, "success": True}
            for score in (0.25, 0.75)]  # fmt: skip
    results = {"version": 3, "prompts": [], "results": rows}
    (read,) = read_path(write_json(tmp_path / "eval.json", {"evalId": "e", "results": results}))
    assert read.plan.planned == [("0", 1), ("0", 2)]


@pytest.mark.parametrize("name", ["inspect-json", "inspect-eval"])
def test_inspect_reads_samples_and_their_scores(name: str, tmp_path: Path) -> None:
    read = _one(tmp_path, name)
    assert [result.question.question for result in read.results] == [question for question, _, _ in ASKED]
    assert [result.generation.answer for result in read.results if result.generation] == [a for _, a, _ in ASKED]
    assert read.values("inspect.match") == [1, None, None]
    assert read.reasons("inspect.match") == [None, "not_asked", "unparsed"]
    assert read.values("inspect.match_tone") == [None, 0.5, None]
    assert read.values("inspect.match_facts") == [None, 1, None]
    assert read.run.duration_s == 60
    assert read.run.context.generator == "vendor/tiny"
    assert read.run.unfinished is None


def test_inspect_epochs_share_the_id_and_a_cancelled_log_is_unfinished(tmp_path: Path) -> None:
    samples = [{"id": "s", "epoch": epoch, "input": "q", "scores": {"m": {"value": "C"}}} for epoch in (1, 2)]
    log = {"status": "cancelled", "eval": {"model": "m"}, "results": {"total_samples": 4}, "samples": samples}
    (read,) = read_path(write_json(tmp_path / "log.json", log))
    assert read.plan.planned == [("s", 1), ("s", 2)]
    assert read.run.unfinished == "Inspect says cancelled: 2 of 4 samples"


@pytest.mark.parametrize(
    ("value", "grade"),
    [("C", 1), ("p", 0.5), ("I", 0), ("N", 0), ("yes", 1), ("NO", 0), (True, 1), ("0.25", 0.25), (3, 3),
     ("maybe", None), (None, None), (float("nan"), None), ([1], None), (10**400, None)],
)  # fmt: skip
def test_inspect_grades(value: Any, grade: float | None) -> None:
    assert grade_of(value) == grade


@pytest.mark.parametrize(
    ("error", "told"),
    [({"message": "down"}, "down"), ({"code": 500}, '{"code": 500}'), ("down", "down"), (None, None), ({}, None)],
)
def test_inspect_keeps_every_error_of_a_sample(error: Any, told: str | None, tmp_path: Path) -> None:
    scored = {"id": 1, "input": "q", "scores": {"match": {"value": "C"}}}
    log = {"eval": {}, "status": "success", "samples": [scored, {"id": 2, "input": "q", "error": error}]}
    (read,) = read_path(write_json(tmp_path / "log.json", log))
    assert read.results[1].error == told
    assert read.reasons("inspect.match")[1] == ("no_score" if told is None else "target_error")


def test_trulens_never_says_contradicted(tmp_path: Path) -> None:
    read = _one(tmp_path, "trulens-csv")
    assert read.verdicts() == [["absent"], ["unparsed"], ["verified"]]
    assert read.values("trulens.groundedness") == [0, 0.5, 1]
    judgment = read.results[1].claim_judgment
    assert judgment is not None
    assert judgment.claims[0].reason == "score 0.5"
    assert judgment.claims[0].evidence == TEXTS[1]


def test_trulens_apps_in_one_table_are_runs_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text(
        "app_name,app_version,record_id,input,output,Groundedness\nbot,v1,r1,q,a,1\nbot,v2,r2,q,a,0\n", encoding="utf-8"
    )
    first, second = read_path(path)
    assert (first.run.system, second.run.system) == ("bot v1", "bot v2")
    assert (first.values("trulens.groundedness"), second.values("trulens.groundedness")) == ([1], [0])


def test_a_table_with_an_app_name_is_not_yet_of_trulens(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("app_name,question,answer,quality\nx,q,a,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="not the file of a known tool"):
        read_path(path)
    path.write_text("Question,response,groundedness,groundedness_reason\nq,the answer,1,[]\n", encoding="utf-8")
    (read,) = read_path(path)
    assert read.run.format == "trulens"
    generation = read.results[0].generation
    assert generation is not None
    assert generation.answer == "the answer"


@pytest.mark.parametrize("claims", ["It is. It was.", '[{"text": "cut', {"a claim": "verified"}, 3])
def test_claims_that_cannot_be_read_are_missing_and_not_none(claims: Any, tmp_path: Path) -> None:
    rows = [{"q": "q1", "a": "a", "c": claims}, {"q": "q2", "a": "a", "c": [{"text": "t", "verdict": "verified"}]}]
    (read,) = read_path(write_json(tmp_path / "rows.jsonl", *rows), ("question=q", "answer=a", "claims=c"))
    assert read.values("no_fabrication") == [None, 1]
    assert read.reasons("no_fabrication") == ["unparsed", None]
    assert read.results[0].notes == ("the claims are no list, or the list is cut off",)


def test_a_mapping_may_say_what_booleans_and_numbers_mean(tmp_path: Path) -> None:
    claims = [{"text": "t", "verdict": word} for word in (True, False, 1, 0, None, "TRUE")]
    rows = [{"q": "q", "c": claims, "e": error} for error in (False, 0, "False", "timeout", True)]
    words = ("claims.verdicts.true=verified", "claims.verdicts.false=contradicted", "claims.verdicts.1=absent")
    (read,) = read_path(write_json(tmp_path / "rows.jsonl", *rows), ("question=q", "claims=c", "error=e", *words))
    assert read.verdicts()[0] == ["verified", "contradicted", "absent", "unparsed", "unparsed", "verified"]
    assert [result.error for result in read.results] == [None, None, None, "timeout", "true"]


def test_plain_rows_say_why_a_score_is_missing(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"question": "q", "answer": "a"}
    rows = [
        {**asked, "scores": {"mrr": 1, "no_fabrication": 1}, "claims": [{"text": "t", "verdict": "verified"}]},
        {**asked, "scores": {"mrr": "bad"}, "claims": "no list"},
        {**asked, "scores": {"mrr": None}},
        {**asked, "scores": {}},
        {"question": "q", "error": "down", "scores": {}},
    ]
    (read,) = read_path(write_json(tmp_path / "plain.jsonl", *rows))
    assert read.reasons("mrr") == [None, "unparsed", "no_score", "not_asked", "error"]
    assert read.reasons("no_fabrication") == [None, "unparsed", "not_asked", "not_asked", "error"]


@pytest.mark.parametrize(
    ("stated", "range_", "warning"),
    [
        ([0, None], (None, None), "mine has values from -1 to 3, outside its range 0 to any"),
        ([None, 2], (None, None), "mine has values from -1 to 3, outside its range any to 2"),
        ([-5, None], (-5, None), None),
        ([5, -5], (None, None), None),
        (["low", "high"], (None, None), None),
    ],
)
def test_plain_ranges_may_be_open_and_directions_unreadable(
    stated: list[Any], range_: Any, warning: str | None, tmp_path: Path
) -> None:
    rows = [{"question": "q", "answer": "a", "scores": {"mine": value}} for value in (-1, 3)]
    metrics = {"mine": {"range": stated, "direction": ["up"]}}
    head = {"run": {"started_at": "2026-03-01T08:00:00Z", "metrics": metrics}}
    (read,) = read_path(write_json(tmp_path / "plain.jsonl", head, *rows))
    assert read.plan.shape.kinds["mine"] == (range_, Direction.NONE)
    assert read.plan.warnings == ([warning] if warning else [])


def test_plain_takes_an_empty_run_line_and_repeats_as_text(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"id": "a", "question": "q", "answer": "a", "repeat": repeat} for repeat in (1, "2", 3.0, 0, True)
    ]
    (read,) = read_path(write_json(tmp_path / "plain.jsonl", {"run": {}}, *rows))
    assert read.plan.planned == [("a", 1), ("a", 2), ("a", 3), ("a", None), ("a-2", None)]
    assert read.plan.file_rows == 5


def test_generic_table_in_latin_1_with_decimal_commas(tmp_path: Path) -> None:
    read = _one(tmp_path, "generic-csv")
    assert read.values("Güte") == [0.05, 0.15, 0.25]
    assert [chunk.chunk.text for chunk in read.results[0].retrieved] == list(TEXTS[:2])


def test_generic_lines_follow_paths_and_verdict_words(tmp_path: Path) -> None:
    read = _one(tmp_path, "generic-jsonl")
    assert read.verdicts() == [["verified", "unparsed"]] * 3
    assert [result.question.id for result in read.results] == ["k0", "k1", "k2"]
    assert read.results[0].retrieved[0].chunk.doc_id == "manual"
    assert read.results[0].retrieved[0].chunk.text == TEXTS[0]
    assert read.values("good") == [0, 1, 2]


def test_a_question_answered_wholly_from_other_documents_is_misrouted(tmp_path: Path) -> None:
    rows = [
        {"id": "hit", "question": "q", "answer": "a", "doc_id": "new", "contexts": [{"text": "t", "doc_id": "new"}]},
        {"id": "late", "question": "q", "answer": "a", "doc_id": "new",
         "contexts": [{"text": "t", "doc_id": "old"}, {"text": "t", "doc_id": "new"}]},
        {"id": "wrong", "question": "q", "answer": "a", "doc_id": "new", "contexts": [{"text": "t", "doc_id": "old"}]},
        {"id": "none", "question": "q", "answer": "a", "doc_id": "new", "contexts": []},
        {"id": "unknown", "question": "q", "answer": "a", "contexts": [{"text": "t", "doc_id": "old"}]},
    ]  # fmt: skip
    (read,) = read_path(write_json(tmp_path / "routed.jsonl", *rows))
    assert read.values("hit_at_1") == [1, 0, 0, 0, None]
    assert read.values("hit_at_k") == [1, 1, 0, 0, None]
    assert read.values("mrr") == [1, 0.5, 0, 0, None]
    assert read.reasons("mrr")[4] == "no_relevant"
    assert read.flagged(FlagName.MISROUTED) == [False, False, True, False, False]


def test_the_same_question_twice_is_numbered(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("question,answer,faithfulness\nq,a,1\nq,b,0\nother,c,0\n", encoding="utf-8")
    (read,) = read_path(path)
    first, second, third = (question_id for question_id, _ in read.plan.planned)
    assert second == f"{first}-2"
    assert third not in (first, second)


@pytest.mark.parametrize(("values", "warned"), [((0.5, 1.0), True), ((0.5, 7.0), False), ((0.0, 1.0), False)])
def test_an_own_name_for_values_of_another_scale_is_pointed_out(
    values: tuple[float, float], warned: bool, tmp_path: Path
) -> None:
    rows = [{"q": "q", "f": value} for value in values]
    (read,) = read_path(write_json(tmp_path / "rows.jsonl", *rows), ("question=q", "faithfulness=f"))
    assert any("no value is above 1" in warning for warning in read.plan.warnings) is warned
    stated = ("question=q", "scores.faithfulness=f", "scores.faithfulness.range=0..1")
    if max(values) <= 1:
        (read,) = read_path(tmp_path / "rows.jsonl", stated)
        assert read.plan.warnings == []


def test_a_range_that_the_values_leave_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "percent.csv"
    path.write_text("question,answer,faithfulness\nq,a,87\nr,b,12\n", encoding="utf-8")
    (read,) = read_path(path)
    assert read.plan.shape.kinds["ragas.faithfulness"][0] == (None, None)
    assert "outside its range 0 to 1" in read.plan.warnings[0]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.csv", "metric,score\nfaithfulness,0.5\n", "aggregates only: no question column (columns: metric, score)"),
        ("a.json", '{"faithfulness": 0.5, "judge": "x"}', "aggregates only: a map of metric to number, no rows"),
        ("a.csv", "question,expected_answer\nq,a\n", "a question set: no answers and no scores"),
        ("a.jsonl", '{"run": {}}\n{"question": "q"}\n', "a question set: no answers and no scores"),
        ("a.csv", "user_input,response,faithfulness\n", "header only, no rows"),
        ("a.json", '{"testRunLink": "https://example.invalid"}', "holds only testRunLink"),
        ("a.json", '{"test_cases_lookup_map": {}}', "DeepEval's cache, not a run"),
        ("a.json", '{"prompts": [], "providers": []}', "no results.results list"),
        ("a.json", '{"results": [], "metrics": {"overall": {}}}', "aggregates only: metrics without results"),
        ("a.json", '{"eval": {}, "status": "started"}', "the log (status started) holds no samples"),
        ("a.json", '{"generator_model": "g", "judge_model": "j", "calls": []}', "no calls and no judgments"),
        ("a.csv", "app_name,app_version,Groundedness\nb,v1,0.5\n", "aggregates only (a leaderboard)"),
        ("a.json", '{"gpt_relevance": {"mean_rating": 4.5}}', "aggregates only: a summary"),
        ("a.json", '{"testCases": [', "not readable as JSON (it ends in the middle)"),
        ("a.json", "[" * 5000, "JSON nested too deeply"),
        ("a.eval", "not a zip", "not a zip archive although named .eval"),
        ("a.bin", "\x00\x01\x02" * 99, "not text"),
        ("a.csv", "\ufeff\n\n", "empty file"),
    ],
)
def test_what_is_no_run_is_refused(name: str, text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_path(path)
    assert why in refused.value.message
    assert refused.value.hint
