"""Two versions of one product's documentation: the questions reach their own version, and routing is worth having."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.keda import keda_project
from rag_audit.config import load_settings
from rag_audit.corpus.check import prepare
from rag_audit.corpus.chunking import Chunking, chunk_document
from rag_audit.corpus.documents import scan_documents
from rag_audit.routing import route_question
from tests.cases import CASES
from tests.cli.invoke import rag_audit

pytestmark = pytest.mark.skipif(CASES is None, reason="the reference cases are not here")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert CASES is not None
    return keda_project(CASES, tmp_path_factory.mktemp("keda"))


@pytest.fixture(scope="module")
def cases() -> dict[str, dict[str, Any]]:
    assert CASES is not None
    lines = (CASES / "keda" / "questions.jsonl").read_text("utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.fixture(scope="module")
def routed(project: Path) -> dict[str, Any]:
    return evaluated(project)


@pytest.fixture(scope="module")
def unrouted(project: Path, routed: dict[str, Any]) -> dict[str, Any]:
    return evaluated(project, "--no-routing")


def evaluated(project: Path, *argv: str) -> dict[str, Any]:
    outcome = rag_audit(project, "run", "--judges", "none", *argv, "--json")
    assert outcome.code == 0, outcome.err
    run = outcome.json["run"]
    assert run["status"] == "complete"
    shown: dict[str, Any] = rag_audit(project, "show", run["id"], "--json").json
    return shown


def test_questions_are_in_order(project: Path) -> None:
    assert rag_audit(project, "questions", "check", "--json").json["problems"] == []


def test_every_question_goes_to_its_own_version(routed: dict[str, Any], cases: dict[str, dict[str, Any]]) -> None:
    for question in routed["questions"]:
        case = cases[question["id"]]
        if not case["cross_corpus"]:
            assert question["route"]["corpora"] == [case["corpus"]], question["id"]
            assert question["route"]["rule"] == "doc_id", question["id"]
            assert {chunk["corpus"] for chunk in question["retrieved"]} == {case["corpus"]}, question["id"]


def test_comparisons_reach_both_versions(routed: dict[str, Any], cases: dict[str, dict[str, Any]]) -> None:
    comparisons = [question for question in routed["questions"] if cases[question["id"]]["cross_corpus"]]
    assert len(comparisons) == 8
    for question in comparisons:
        assert set(question["route"]["corpora"]) == {"keda-1.5", "keda-2.17"}
        assert {chunk["corpus"] for chunk in question["retrieved"]} == {"keda-1.5", "keda-2.17"}, question["id"]


def test_comparisons_are_found_without_being_marked(project: Path) -> None:
    prepared = prepare(project, load_settings(project, (), {}))
    for question in prepared.questions:
        route = route_question(replace(question, cross_corpus=None, also_docs=()), prepared.table, prepared.settings)
        assert (len(route.corpora) == 2) == bool(question.cross_corpus), question.id


def test_routing_is_worth_having(routed: dict[str, Any], unrouted: dict[str, Any]) -> None:
    with_routing, without = routed["run"]["metrics"], unrouted["run"]["metrics"]
    for name in ("hit_at_1", "hit_at_k", "mrr", "keyword_recall"):
        assert with_routing[name]["n"] == without[name]["n"] == 56
        assert with_routing[name]["mean"] > without[name]["mean"], name
    assert {tuple(question["route"]["corpora"]) for question in unrouted["questions"]} == {("keda-1.5",)}


def test_every_chunk_is_verbatim_in_its_file(project: Path, routed: dict[str, Any]) -> None:
    seen = 0
    for question in routed["questions"][:12]:
        shown = rag_audit(project, "show", routed["run"]["id"], "--question", question["id"], "--json").json
        for chunk in shown["questions"][0]["retrieved"]:
            text = (project / "documents" / f"{chunk['doc_id']}.md").read_bytes().decode()
            assert chunk["text"] in text
            seen += 1
    assert seen == 60


def test_every_indexed_chunk_is_verbatim_at_its_place(project: Path) -> None:
    settings = load_settings(project, (), {})
    documents = scan_documents(project, settings)
    for document in documents.by_id.values():
        raw = (project / document.path).read_bytes().decode()
        for chunk in chunk_document(document, documents.text(document.doc_id), Chunking.of(settings, document.folder)):
            assert chunk.start is not None
            assert raw[chunk.start : chunk.start + len(chunk.text)] == chunk.text
            assert 0 < len(chunk.text) <= 800
