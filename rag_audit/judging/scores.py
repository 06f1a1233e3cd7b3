"""The score judge's request and reply: faithfulness and completeness, whole numbers from 0 to 10."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rag_audit.judging.prompts import fenced, fenced_chunks, fenced_context, load_prompt
from rag_audit.judging.replies import UnusableReply, json_object
from rag_audit.model import Question, RetrievedChunk

SCALES = ("faithfulness", "completeness")
_HIGHEST = 10


class Scores(NamedTuple):
    """What the judge gave."""

    faithfulness: int
    completeness: int
    justification: str


def scores_request(question: Question, answer: str, retrieved: Sequence[RetrievedChunk]) -> str:
    """The judge's request: question, reference answer, chunks and answer."""
    parts = {
        "question": fenced(question.question),
        "context": fenced_context(question.context),
        "reference_answer": fenced(question.reference_answer or "(none)"),
        "passages": fenced_chunks(retrieved),
        "answer": fenced(answer),
    }
    return load_prompt("judge_scores").filled(parts)


def scores_schema() -> Mapping[str, Any]:
    """The JSON schema of the reply; services take no bounds, so the code checks them."""
    return {
        "type": "object",
        "properties": {**{name: {"type": "integer"} for name in SCALES}, "justification": {"type": "string"}},
        "required": [*SCALES, "justification"],
        "additionalProperties": False,
    }


def read_scores(reply: str, stop_reason: str | None) -> Scores:
    """Both scores; UnusableReply where one is missing, not a whole number, or out of range."""
    value = json_object(reply, stop_reason)
    for name in SCALES:
        score = value.get(name)
        if not isinstance(score, int) or isinstance(score, bool):
            raise UnusableReply("missing_score", f"“{name}” is not a whole number")
        if not 0 <= score <= _HIGHEST:
            raise UnusableReply("out_of_range", f"“{name}” is {score}, not from 0 to {_HIGHEST}")
    justification = value.get("justification")
    return Scores(value["faithfulness"], value["completeness"], justification if isinstance(justification, str) else "")
