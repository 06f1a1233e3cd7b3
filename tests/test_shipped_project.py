"""The shipped project: every question can be checked in the documents it names."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((ROOT / "questions.yml").read_text(encoding="utf-8"))
DOCUMENTS = {
    path.relative_to(ROOT / "documents").with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "documents").glob("*/*.md"))
}
MODULES = {"can", "diagnostics", "evt", "idle", "ignition", "knock", "lambda", "throttle"}


def _documents_of(entry: dict[str, Any]) -> list[str]:
    return [DOCUMENTS[doc_id] for doc_id in (entry["doc_id"], *entry.get("also_docs", []))]


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_two_corpora_describe_the_same_eight_modules() -> None:
    assert set(DOCUMENTS) == {f"{corpus}/{module}" for corpus in ("ecu-a4", "ecu-b7") for module in MODULES}
    assert all(6_000 < len(text.encode()) < 14_000 for text in DOCUMENTS.values())


def test_question_ids_are_unique_and_counted() -> None:
    ids = [entry["id"] for entry in QUESTIONS]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert len(ids) == 69
    assert sum(entry.get("answerable") is False for entry in QUESTIONS) == 5
    assert sum(bool(entry.get("also_docs")) for entry in QUESTIONS) == 6
    assert Counter(entry["doc_id"].split("/")[0] for entry in QUESTIONS) == {"ecu-a4": 38, "ecu-b7": 31}
    per_module = Counter(entry["doc_id"] for entry in QUESTIONS)
    assert set(per_module) == set(DOCUMENTS)
    assert min(per_module.values()) >= 3


@pytest.mark.parametrize("entry", QUESTIONS, ids=lambda entry: entry["id"])
def test_question_is_answered_by_its_documents(entry: dict[str, Any]) -> None:
    texts = _documents_of(entry)
    together = "\n".join(texts).casefold()
    assert entry["question"]
    assert entry["reference_answer"]
    if entry.get("answerable") is False:
        assert not entry.get("keywords")
        assert not entry.get("gold")
        return
    assert entry["keywords"]
    assert entry["gold"]
    for keyword in entry["keywords"]:
        assert isinstance(keyword, str), f"{keyword!r} needs quotation marks"
        assert keyword.casefold() in together
    for gold in _listed(entry["gold"]):
        assert any(gold in text for text in texts), f"not verbatim in a document: {gold}"
    for text in texts:
        assert any(gold in text for gold in _listed(entry["gold"])), "a document of the question holds no gold"


def test_same_names_carry_other_facts_in_the_other_corpus() -> None:
    def defaults(corpus: str) -> dict[str, str]:
        rows = (
            line.split("|")
            for doc_id, text in DOCUMENTS.items()
            if doc_id.startswith(corpus)
            for line in text.splitlines()
            if line.startswith("| `") and line.count("|") == 5
        )
        return {cells[1].strip(): cells[2].strip() for cells in rows}

    older, newer = defaults("ecu-a4/"), defaults("ecu-b7/")
    shared = older.keys() & newer.keys()
    conflicting = {name for name in shared if older[name].replace(",", "") != newer[name]}
    assert len(shared) > 60
    assert len(conflicting) > 60
