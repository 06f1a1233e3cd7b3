"""Small results files of every format, written for these tests: a coffee machine's manual and a mail server's."""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ASKED = (
    ("How often is the brew group rinsed?", "Every week, under running water.", "Weekly."),
    ("Which port takes submitted mail?", "Port 587, and port 465 with TLS from the start.", "587."),
    ("Does the grinder need oil?", "No. Oil spoils the beans.", "No."),
)
TEXTS = (
    "Rinse the brew group once a week under running water; no detergent.",
    "Clients submit mail on port 587. Port 465 expects TLS from the first byte.",
    "The grinder runs dry. Never oil it.",
)


@dataclass(frozen=True)
class Sample:
    """One file: its name, its bytes, and the mapping it needs if it is of no known tool."""

    format: str
    name: str
    data: bytes
    mapping: tuple[str, ...] = ()


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def _lines(documents: Sequence[Any]) -> bytes:
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents).encode()


def plain() -> Sample:
    head = {"run": {"label": "coffee", "started_at": "2026-03-01T08:00:00Z", "context": {"generator": "tiny-1"}}}
    verdicts = (["verified", "absent"], ["verified", "contradicted"], [None])
    questions = [
        {
            "id": f"m{at}",
            "question": question,
            "answer": answer,
            "reference_answer": reference,
            "doc_id": f"doc{at}",
            "keywords": ["port"],
            "contexts": [{"text": TEXTS[at], "doc_id": f"doc{at}", "score": 0.5}, {"text": TEXTS[0], "doc_id": "doc0"}],
            "scores": {"faithfulness": 7 + at, "ragas.context_recall": None if at else 0.5},
            "claims": [{"text": f"claim {n}", "verdict": word} for n, word in enumerate(verdicts[at])],
        }
        for at, (question, answer, reference) in enumerate(ASKED)
    ]
    return Sample("plain", "coffee.jsonl", _lines([head, *questions]))


def azure() -> Sample:
    rows = [
        {
            "question": question,
            "truth": reference,
            "answer": answer,
            "context": f"manual.pdf#page={at}: {TEXTS[at]}\n\nmail.md: {TEXTS[1]}",
            "latency": 1.5 if at else -1,
            "gpt_groundedness": 5.0 - at,
            "gpt_relevance": 4.0,
            "answer_length": len(answer),
            "gpt_groundedness_reason": "It is in the manual.",
        }
        for at, (question, answer, reference) in enumerate(ASKED)
    ]
    return Sample("azure", "eval_results.jsonl", _lines(rows))


def ragas() -> Sample:
    import csv

    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["user_input", "retrieved_contexts", "response", "reference", "faithfulness", "my score"])
    for at, (question, answer, reference) in enumerate(ASKED):
        writer.writerow([question, repr([TEXTS[at], "it's"]), answer, reference, at / 2, "" if at else "0,75"])
    return Sample("ragas", "ragas.csv", out.getvalue().encode())


def _log(claims: Sequence[str], words: Sequence[str]) -> str:
    verdicts = [{"verdict": word, "reason": None} for word in words]
    return (
        f"Truths (limit=None):\n{json.dumps(TEXTS)} \n \nClaims:\n{json.dumps(claims)} \n \n"
        f"Verdicts:\n{json.dumps(verdicts)}"
    )


def deepeval() -> Sample:
    logs = (_log(["rinse weekly", "use water"], ["yes", "IDK"]), _log([], []), _log(["no oil"], ["no", "yes"]))
    cases = [
        {
            "name": f"test_case_{at}",
            "input": question,
            "actualOutput": answer,
            "expectedOutput": reference,
            "retrievalContext": [TEXTS[at]],
            "success": True,
            "order": at,
            "metricsData": [
                {
                    "name": "Faithfulness",
                    "threshold": 0.5,
                    "success": True,
                    "score": 1.0,
                    "evaluationModel": "judge-1",
                    "verboseLogs": logs[at],
                },
                {"name": "Hallucination", "threshold": 0.5, "success": False, "error": "timed out"},
            ],
        }
        for at, (question, answer, reference) in enumerate(ASKED)
    ]
    run = {
        "testCases": cases,
        "conversationalTestCases": [],
        "metricsScores": [{"metric": "Faithfulness", "scores": [1, 1, 1], "passes": 3, "fails": 0, "errors": 0}],
        "hyperparameters": {"model": "tiny-1", "temperature": 0},
        "testPassed": 3,
        "testFailed": 0,
        "runDuration": 2.5,
    }
    return Sample("deepeval", ".latest_test_run.json", _json({"testRunData": run}))


def django() -> Sample:
    side_on = {
        "claims": [{"claim": "x is None", "status": "verified"}],
        "identifies_cause": True,
        "fix_would_work": True,
    }
    side_off = {"claims": [{"claim": "x is 3", "status": "Contradicted"}], "no_fabrication": True}
    calls = [
        {
            "fixture": fixture,
            "group": "A",
            "rag_enabled": rag,
            "run_index": 0,
            "explanation": None if fixture == "b" and rag else "x is None",
            "traceback": "Traceback: ...",
            "latency_seconds": 1.0,
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "status_code": 500 if fixture == "b" and rag else 200,
        }
        for fixture in ("a", "b")
        for rag in (False, True)
    ]
    judgments = [
        {"fixture": "a", "run_index": 0, "judge_failure": False, "rag_on_is_a": False, "winner": "B", "a": side_off,
         "b": side_on, "winner_side": "rag_off", "reasoning": "B reads the code."},
        {"fixture": "b", "run_index": 0, "judge_failure": True, "error": "no JSON", "rag_on_is_a": True, "winner": None,
         "a": None, "b": None},
    ]  # fmt: skip
    document = {
        "timestamp": "20260301T080000Z",
        "git_sha": "abc",
        "generator_model": "tiny-1",
        "judge_model": "judge-1",
    }
    return Sample(
        "django-explain-errors", "run.json", _json({**document, "runs": 1, "calls": calls, "judgments": judgments})
    )


def ragchecker() -> Sample:
    results = [
        {
            "query_id": f"q{at}",
            "query": question,
            "gt_answer": reference,
            "response": answer,
            "retrieved_context": [{"doc_id": "a", "text": TEXTS[at]}, {"doc_id": "b", "text": TEXTS[0]}],
            "response_claims": [["it", "is", "rinsed"], "or not"],
            "answer2response": ["Entailment", "Neutral"],
            "retrieved2response": [["Entailment", "Contradiction"], ["Neutral", "Neutral"]][: 2 - at // 2],
            "metrics": {"faithfulness": 0.5, "hallucination": 0.0},
        }
        for at, (question, answer, reference) in enumerate(ASKED)
    ]
    return Sample("ragchecker", "checked.json", _json({"results": results, "metrics": {"overall": {"f1": 50.0}}}))


def promptfoo() -> Sample:
    rows = [
        {
            "testIdx": at,
            "promptIdx": prompt,
            "vars": {"question": question, "context": TEXTS[at]},
            "prompt": {"raw": f"Answer: {question}", "label": "p"},
            "provider": {"id": f"vendor:model-{prompt}"},
            "response": {"output": answer if at else {"text": answer}, "tokenUsage": {"prompt": 3, "completion": 4}},
            "gradingResult": {"pass": True, "score": 1, "componentResults": [
                {"pass": True, "score": 1, "reason": "grounded", "assertion": {"type": "llm-rubric", "value": "x"}}]},
            "success": True,
            "score": 0.5,
            "failureReason": 2 if at == 2 and prompt else 0,
            "error": "refused",
            "latencyMs": 120,
            "namedScores": {"Tone": 0.25} if at else {},
        }
        for at, (question, answer, _) in enumerate(ASKED)
        for prompt in (0, 1)
    ]  # fmt: skip
    results = {
        "version": 3,
        "timestamp": "2026-03-01T08:00:00.000Z",
        "prompts": [{"raw": "Answer: {{q}}"}],
        "results": rows,
    }
    return Sample(
        "promptfoo", "eval.json", _json({"evalId": "e1", "results": results, "config": {"description": "mail"}})
    )


def _inspect_samples() -> list[dict[str, Any]]:
    values: tuple[Any, ...] = ("C", {"tone": 0.5, "facts": True}, "maybe")
    return [
        {
            "id": at + 1,
            "epoch": 1,
            "input": question if at else [{"role": "system", "content": "s"}, {"role": "user", "content": question}],
            "target": [reference],
            "output": {"model": "tiny", "choices": [{"message": {"content": [{"type": "text", "text": answer}]}}]},
            "scores": {"match": {"value": values[at], "explanation": "because"}},
        }
        for at, (question, answer, reference) in enumerate(ASKED)
    ]


_INSPECT_HEAD = {
    "version": 2,
    "status": "success",
    "eval": {"task": "mail", "model": "vendor/tiny", "created": "2026-03-01T08:00:00+00:00", "config": {"epochs": 1}},
    "results": {"total_samples": 3},
    "stats": {"started_at": "2026-03-01T08:00:00+00:00", "completed_at": "2026-03-01T08:01:00+00:00"},
}


def inspect_json() -> Sample:
    return Sample("inspect", "log.json", _json({**_INSPECT_HEAD, "samples": _inspect_samples()}))


def inspect_eval() -> Sample:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", _json(_INSPECT_HEAD))
        for sample in _inspect_samples():
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", _json(sample))
    return Sample("inspect", "log.eval", out.getvalue())


def trulens() -> Sample:
    import csv

    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Question", "Groundedness", "Groundedness_Reason", "Answer_Relevance"])
    for at, (question, _, _) in enumerate(ASKED):
        reasons = [{"criteria": "a claim", "supporting_evidence": f"Supporting Evidence: {TEXTS[at]}", "score": at / 2}]
        writer.writerow([question, at / 2, repr(reasons), "nan" if at else 1])
    return Sample("trulens", "records.csv", out.getvalue().encode())


def generic_table() -> Sample:
    rows = ["Frage;Antwort;Quellen;Güte"]
    rows += [
        f'{question};{answer};"{TEXTS[0]} || {TEXTS[1]}";0,{at}5' for at, (question, answer, _) in enumerate(ASKED)
    ]
    mapping = ("question=Frage", "answer=Antwort", "contexts=Quellen", "contexts.separator= || ", "scores.Güte=Güte")
    return Sample("generic", "table.csv", "\r\n".join(rows).encode("latin-1"), mapping)


def generic_lines() -> Sample:
    rows = [
        {
            "item": {"key": f"k{at}", "q": question},
            "out": {"text": answer, "found": [{"body": TEXTS[at], "from": "manual"}]},
            "judged": {"good": at, "statements": [{"s": "one", "v": "TRUE"}, {"s": "two", "v": "unclear"}]},
        }
        for at, (question, answer, _) in enumerate(ASKED)
    ]
    mapping = (
        *("question=item.q", "id=item.key", "answer=out.text", "contexts=out.found", "contexts.text=body"),
        *("contexts.doc_id=from", "scores.good=judged.good", "claims=judged.statements", "claims.text=s"),
        *("claims.verdict=v", "claims.verdicts.true=verified"),
    )
    return Sample("generic", "nested.jsonl", _lines(rows), mapping)


SAMPLES = {
    f"{sample.format}-{sample.name.rpartition('.')[2]}": sample
    for sample in (
        *(plain(), azure(), ragas(), deepeval(), django(), ragchecker(), promptfoo()),
        *(inspect_json(), inspect_eval(), trulens(), generic_table(), generic_lines()),
    )
}
