"""Every reference case of the statistics: values made with public packages, recomputed from the plain formulas."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from rag_audit.metrics import hit_at, mean, reciprocal_rank
from rag_audit.model import Chunk, RetrievedChunk
from rag_audit.statistics.agreement import cohen_kappa, count_pairs, gwet_ac1, krippendorff_alpha, wilson
from rag_audit.statistics.corrected import classical_mean, prediction_powered
from rag_audit.statistics.paired import holm, mcnemar_exact, paired_bootstrap
from tests.cases import CASES

Json = dict[str, Any]


def _kappa(given: Json) -> Json:
    found = cohen_kappa(count_pairs(given["rater_a"], given["rater_b"], given["classes"]))
    return {"n": found.n, "kappa": found.value, "se": found.se, "ci_low": found.low, "ci_high": found.high}


def _ac1(given: Json) -> Json:
    found = gwet_ac1(given["ratings"], given["classes"])
    return {
        "n_items": found.n,
        "n_pairable": found.n_pairable,
        "ac1": found.value,
        "agreement": found.agreement,
        "chance": found.chance,
        "se": found.se,
        "ci_low": found.low,
        "ci_high": found.high,
    }


def _alpha(given: Json) -> Json:
    found = krippendorff_alpha(given["ratings"], given["classes"])
    return {"n_pairable_items": found.n_pairable, "alpha": found.value}


def _wilson(given: Json) -> Json:
    if "rater_a" in given:
        pairs = [(a, b) for a, b in zip(given["rater_a"], given["rater_b"], strict=True) if a and b]
        agree, n = sum(a == b for a, b in pairs), len(pairs)
    else:
        agree, n = given["agree"], given["n"]
    low, high = wilson(agree, n)
    return {"agree": agree, "n": n, "agreement": agree / n if n else None, "ci_low": low, "ci_high": high}


def _mcnemar(given: Json) -> Json:
    if "b" in given:
        b, c = given["b"], given["c"]
    else:
        pairs = list(zip(given["run_a_correct"], given["run_b_correct"], strict=True))
        b, c = pairs.count((True, False)), pairs.count((False, True))
    return {"b": b, "c": c, "p_value": mcnemar_exact(b, c)}


def _holm(given: Json) -> Json:
    found = holm(given["p_values"], given["alpha"])
    return {"adjusted": found.adjusted, "reject": found.reject}


def _bootstrap(given: Json) -> Json:
    differences = [
        None if a is None or b is None else a - b for a, b in zip(given["run_a"], given["run_b"], strict=True)
    ]
    found = paired_bootstrap(differences)
    return {"n_pairs": found.n, "mean_diff": found.estimate, "ci_low": found.low, "ci_high": found.high}


def _ppi(given: Json) -> Json:
    judge, human = given["judge"], given["human"]
    labelled = [h for j, h in zip(judge, human, strict=True) if j is not None and h is not None]
    classical = classical_mean(labelled)
    lam1, tuned = (prediction_powered(judge, human, tuned=tuned) for tuned in (False, True))
    return {
        "n_labelled": lam1.n_labelled,
        "n_unlabelled": lam1.n_unlabelled,
        "classical": {"estimate": classical.estimate, "ci_low": classical.low, "ci_high": classical.high},
        "lam1": {"estimate": lam1.estimate, "ci_low": lam1.low, "ci_high": lam1.high},
        "tuned": {"lam": tuned.lam, "estimate": tuned.estimate, "ci_low": tuned.low, "ci_high": tuned.high},
    }


def _retrieval(given: Json) -> Json:
    per_question: dict[str, dict[str, float | None]] = {}
    names = [*(f"hit@{k}" for k in given["k"]), "rr"]
    for question in given["questions"]:
        relevant = question["relevant"]
        ranked = [
            RetrievedChunk(Chunk(doc, "corpus", ""), rank, relevant=doc in relevant)
            for rank, doc in enumerate(question["retrieved"], start=1)
        ]
        values = [*(hit_at(k, ranked) for k in given["k"]), reciprocal_rank(ranked)]
        per_question[question["id"]] = dict(zip(names, values if relevant else [None] * len(names), strict=True))
    scored = [values for values in per_question.values() if values["rr"] is not None]
    return {
        "per_question": per_question,
        "mean": {name: mean(value for v in scored if (value := v[name]) is not None) for name in names},
        "n_scored": len(scored),
        "n_without_relevant": len(per_question) - len(scored),
    }


KINDS: Mapping[str, Callable[[Json], Json]] = {
    "cohen_kappa": _kappa,
    "gwet_ac1": _ac1,
    "krippendorff_alpha": _alpha,
    "raw_agreement_wilson": _wilson,
    "mcnemar_exact": _mcnemar,
    "holm": _holm,
    "paired_bootstrap": _bootstrap,
    "ppi_mean": _ppi,
    "retrieval": _retrieval,
}


def _reference_cases() -> list[Json]:
    if CASES is None:
        return []
    cases: list[Json] = orjson.loads((CASES / "stats" / "given.json").read_bytes())["cases"]
    return cases


def _assert_matches(found: Any, expected: Any, tolerance: Json, key: str = "") -> None:
    if isinstance(expected, dict):
        assert set(found) >= set(expected), f"{key}: keys"
        for name, value in expected.items():
            _assert_matches(found[name], value, tolerance, name)
    elif isinstance(expected, list):
        assert len(found) == len(expected), f"{key}: length"
        for got, value in zip(found, expected, strict=True):
            _assert_matches(got, value, tolerance, key)
    elif expected is None or isinstance(expected, bool):
        assert found is expected, f"{key}: {found!r} is not {expected!r}"
    else:
        kind = "abs_ci" if key in ("ci_low", "ci_high") else "abs_se" if key == "se" else "abs"
        absolute = tolerance.get(kind, tolerance.get("abs", 0.0))
        assert found is not None, f"{key}: None, expected {expected}"
        assert abs(found - expected) <= absolute + tolerance.get("rel", 0.0) * abs(expected), f"{key}: {found}"


@pytest.mark.skipif(CASES is None, reason="the shared reference cases are not here")
@pytest.mark.parametrize("case", _reference_cases(), ids=lambda case: case["id"])
def test_reference_case(case: Json) -> None:
    _assert_matches(KINDS[case["kind"]](case["input"]), case["expected"], case["tolerance"])
