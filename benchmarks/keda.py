"""The reference questions about two versions of one product's documentation, as a project."""

import json
import shutil
from pathlib import Path
from typing import Any


def keda_project(cases: Path, folder: Path) -> Path:
    """Copy the documents of `cases`/keda below `folder` and write its questions as questions.yml (JSON is YAML)."""
    source = cases / "keda"
    shutil.copytree(source / "documents", folder / "documents")
    lines = (source / "questions.jsonl").read_text("utf-8").splitlines()
    entries = [_entry(json.loads(line)) for line in lines]
    (folder / "questions.yml").write_text(json.dumps(entries, ensure_ascii=False, indent=1), "utf-8")
    return folder


def _entry(case: dict[str, Any]) -> dict[str, Any]:
    entry = {
        "id": case["id"],
        "question": case["question"],
        "reference_answer": case["reference"],
        "doc_id": _doc_id(case["doc"]),
        "keywords": case["keywords"],
        "also_docs": [_doc_id(path) for path in case["also_docs"]],
        "gold": [quote for quote in (case["gold_quote"], *case.get("also_quotes", [])) if quote],
        "answerable": case["answerable"],
    }
    return entry | ({"cross_corpus": True} if case["cross_corpus"] else {})


def _doc_id(path: str) -> str:
    return path.removesuffix(".md")
