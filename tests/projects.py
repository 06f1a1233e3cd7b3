"""A small project that tests evaluate: two corpora with the same names and conflicting facts."""

import json
from pathlib import Path

OLDER = """# Valve timing

The delay of the intake angle on the bus is 12 ms. It is stored in `evt_delay_ms`.

## Limits

| Parameter | Default | Unit |
|---|---|---|
| `evt_slew_max` | 120 | deg/s |
| `evt_dead_band` | 1.5 | deg |
"""

NEWER = """# Valve timing

The delay of the intake angle on the bus is 4 ms. It is stored in `evt_delay_ms`.

## Limits

| Parameter | Default | Unit |
|---|---|---|
| `evt_slew_max` | 300 | deg/s |
| `evt_dead_band` | 0.5 | deg |
"""

QUESTIONS: list[dict[str, object]] = [
    {
        "id": "OLD-1",
        "question": "How long is the delay of the intake angle on the bus?",
        "reference_answer": "12 ms, stored in evt_delay_ms.",
        "doc_id": "older/evt",
        "keywords": ["12 ms"],
        "gold": "The delay of the intake angle on the bus is 12 ms.",
    },
    {
        "id": "NEW-1",
        "question": "How long is the delay of the intake angle on the bus?",
        "reference_answer": "4 ms, stored in evt_delay_ms.",
        "doc_id": "newer/evt",
        "keywords": ["4 ms"],
        "gold": "The delay of the intake angle on the bus is 4 ms.",
    },
    {
        "id": "CMP-1",
        "question": "Compare the default of evt_slew_max in both units.",
        "reference_answer": "120 deg/s in the older, 300 deg/s in the newer unit.",
        "doc_id": "older/evt",
        "also_docs": ["newer/evt"],
        "keywords": ["120", "300"],
        "cross_corpus": True,
    },
    {
        "id": "NA-1",
        "question": "Which colour has the housing?",
        "reference_answer": "The documents do not say.",
        "doc_id": "older/evt",
        "answerable": False,
    },
]


def make_project(folder: Path, questions: list[dict[str, object]] | None = None) -> Path:
    """Write the project into a folder, with these questions instead of its own where given."""
    for corpus, text in (("older", OLDER), ("newer", NEWER)):
        (folder / "documents" / corpus).mkdir(parents=True)
        (folder / "documents" / corpus / "evt.md").write_text(text, encoding="utf-8")
    # JSON is YAML, and writes out what two questions share instead of anchoring it.
    (folder / "questions.yml").write_text(
        json.dumps(QUESTIONS if questions is None else questions, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    return folder


def many_questions(count: int) -> list[dict[str, object]]:
    """So many questions that a run of them can be stopped in the middle."""
    return [{**QUESTIONS[at % 2], "id": f"Q-{at:04}"} for at in range(count)]
