"""Every reference case: what comes out of the history after an import is what was counted independently."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_audit.history import History
from rag_audit.importers.importing import Imported, ImportOptions, Refused, import_paths
from rag_audit.importers.mapping import FieldMap, parse_field_map
from rag_audit.model import QuestionResult
from tests.cases import CASES

IMPORTS = CASES / "imports" if CASES else None
TOOL = {"django-explain-errors": "django_explain_errors", "generic": ""}
OWN = {"no_fabrication", "claim_precision", "hit_at_1", "hit_at_k", "mrr"}


def _cases() -> list[dict[str, Any]]:
    if IMPORTS is None:
        return []
    cases: list[dict[str, Any]] = json.loads((IMPORTS / "cases.json").read_text(encoding="utf-8"))
    return cases


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    assert IMPORTS is not None
    name = case.get("expect") or f"{case['file']}.expect.json"
    expected: dict[str, Any] = json.loads((IMPORTS / name).read_text(encoding="utf-8"))
    return expected


def _options(path: Path) -> FieldMap | None:
    """The neutral mapping beside a case in the product's own words."""
    described = Path(f"{path}.mapping.json")
    if not described.exists():
        return None
    mapping = json.loads(described.read_text(encoding="utf-8"))
    options = [
        f"{name}={mapping[name]}"
        for name in ("question", "answer", "reference", "id", "doc_id", "error")
        if name in mapping
    ]
    contexts = mapping.get("contexts", {})
    names = {"field": "contexts", "separator": "contexts.separator", "text": "contexts.text", "doc": "contexts.doc_id"}
    options += [f"{names[key]}={value}" for key, value in contexts.items() if key in names]
    options += [f"scores.{name}={column}" for name, column in mapping["scores"].items()]
    if "claims" in mapping:
        claims = mapping["claims"]
        options += [f"claims={claims['field']}", f"claims.text={claims['text']}", f"claims.verdict={claims['verdict']}"]
        options += [f"claims.verdicts.{word}={verdict}" for word, verdict in claims["verdicts"].items()]
    return parse_field_map(options)


@dataclass
class Outcome:
    imported: list[Imported]
    refused: list[Refused]
    results: list[QuestionResult]


def _import(project: Path, path: Path) -> Outcome:
    outcomes = list(import_paths(project, [path], ImportOptions(mapping=_options(path))))
    imported = [outcome for outcome in outcomes if isinstance(outcome, Imported)]
    history = History(project)
    runs = dict.fromkeys(outcome.summary.id for outcome in imported)
    return Outcome(
        imported,
        [outcome for outcome in outcomes if isinstance(outcome, Refused)],
        [result for run_id in runs for result in history.results(run_id)],
    )


def _files(kind: str) -> list[Any]:
    cases = [case for case in _cases() if "file" in case]
    refused = kind == "refused"
    return [pytest.param(case, id=case["file"]) for case in cases if bool(_expected(case)["must_refuse"]) == refused]


@pytest.mark.skipif(IMPORTS is None, reason="the reference cases are not here")
@pytest.mark.parametrize("case", _files("refused"))
def test_what_is_no_run_is_refused_with_a_reason(case: dict[str, Any], tmp_path: Path) -> None:
    assert IMPORTS is not None
    outcome = _import(tmp_path, IMPORTS / case["file"])
    assert outcome.imported == []
    assert len(outcome.refused) == 1
    assert outcome.refused[0].why
    assert outcome.refused[0].hint
    assert not (tmp_path / "history").exists()


@pytest.mark.skipif(IMPORTS is None, reason="the reference cases are not here")
@pytest.mark.parametrize("case", _files("opened"))
def test_a_file_opens_with_the_counts_and_means_of_the_case(case: dict[str, Any], tmp_path: Path) -> None:
    assert IMPORTS is not None
    expected = _expected(case)
    outcome = _import(tmp_path, IMPORTS / case["file"])
    assert outcome.refused == []
    _check(outcome, expected)


def _check(outcome: Outcome, expected: dict[str, Any]) -> None:
    results = outcome.results
    assert len(results) == sum(run.rows for run in outcome.imported) == expected["questions"]
    assert all(run.rows + run.left_out_rows == run.file_rows for run in outcome.imported)
    assert len({result.question.question for result in results}) == expected["distinct_questions"]
    keys = {(result.question.id, result.repeat, number) for number, result in enumerate(results)}
    assert len(keys) == len(results)
    _check_claims(outcome, expected)
    _check_texts(results, expected)
    _check_scores(results, expected)
    if "unreadable_lines" in expected:
        left = [entry.reason for run in outcome.imported for entry in run.left_out]
        assert sum("JSON" in reason for reason in left) == expected["unreadable_lines"]


def _check_claims(outcome: Outcome, expected: dict[str, Any]) -> None:
    if expected["claims"] is None:
        assert not any(run.has_claims for run in outcome.imported)
        return
    found: Counter[str] = Counter()
    for run in outcome.imported:
        found.update(run.summary.claims)
    assert dict(found) == expected["claims"]


def _check_texts(results: list[QuestionResult], expected: dict[str, Any]) -> None:
    assert sum(bool(result.question.reference_answer) for result in results) == expected["rows_with_reference"]
    assert sum(bool(result.retrieved) for result in results) == expected["rows_with_contexts"]
    assert sum(len(result.retrieved) for result in results) == expected["contexts_total"]
    assert sum(result.error is not None for result in results) == expected["rows_error"]
    answers = [result.generation.answer if result.generation else None for result in results]
    blank = sum(answer is not None and not answer.strip() for answer in answers)
    if expected["format"] == "django-explain-errors":
        # The tool writes null for a call that failed; the case counts that as an empty answer, we as none.
        blank += answers.count(None)
    assert blank == expected["empty_answers"]


def _check_scores(results: list[QuestionResult], expected: dict[str, Any]) -> None:
    """The means of the case; where the tool rated error texts, the honest mean without them."""
    values: dict[str, list[float]] = defaultdict(list)
    for result in results:
        for name, score in result.scores.items():
            values[name] += [] if score is None else [score]
            assert (score is None) == (name in result.missing)
    metrics = expected.get("metrics_without_error_rows", expected["metrics"])
    tool = TOOL.get(expected["format"], expected["format"])
    found = {name.removeprefix(f"{tool}."): listed for name, listed in values.items() if name not in OWN}
    assert {_letters(name) for name in found} == {_letters(name.removeprefix(f"{tool}.")) for name in metrics}
    for name, listed in found.items():
        mean = next(value for key, value in metrics.items() if _letters(key.removeprefix(f"{tool}.")) == _letters(name))
        assert len(listed) == mean["n"], name
        if listed:
            scale = len(listed)
            tolerance = 1e-6 if abs(mean["mean"]) < 1e15 else 1e-9 * abs(mean["mean"])
            assert abs(sum(value / scale for value in listed) - mean["mean"]) <= tolerance
    measured: Counter[str] = Counter(name for result in results for name in result.measurements)
    stated = expected.get("measurements_without_error_rows", expected["measurements"])
    assert dict(measured) == {name: entry["n"] for name, entry in stated.items()}
    if "metrics_without_error_rows" not in expected:
        foreign = [[score for name, score in result.scores.items() if name not in OWN] for result in results]
        unscored = sum(all(score is None for score in scores) for scores in foreign)
        assert unscored == expected["rows_unscored"]
        assert sum(None in scores for scores in foreign) - unscored * bool(metrics) == expected["rows_partly_scored"]


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


@pytest.mark.skipif(IMPORTS is None, reason="the reference cases are not here")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["dir"]) for case in _cases() if "dir" in case])
def test_a_folder_gives_each_run_once_and_says_what_is_no_run(case: dict[str, Any], tmp_path: Path) -> None:
    assert IMPORTS is not None
    expected = _expected(case)
    folder = IMPORTS / case["dir"]
    outcome = _import(tmp_path, folder)
    assert len({run.summary.id for run in outcome.imported}) == expected["distinct_runs"]
    named = {folder / name for run in expected["runs"] for name in run["files"]}
    assert {Path(run.path) for run in outcome.imported} == named
    assert {Path(refusal.path) for refusal in outcome.refused} == {folder / name for name in expected["not_runs"]}
    _check(Outcome(outcome.imported[:1], [], outcome.results), expected["runs"][0]["expect"])
