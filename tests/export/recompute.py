"""What an auditor writes: the report's figures from audit.jsonl alone, without the package that made it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

T_26 = 2.055529438642871
"""97.5 % quantile of Student's t with 26 degrees of freedom: 27 checked questions."""


def recompute(path: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = {line["question_id"]: line for line in lines if line["kind"] == "answer"}
    blind = first_blind([line for line in lines if line["kind"] == "decision"], answers)
    judged = {(q, c["id"]): c["judge_verdict"] for q, answer in answers.items() for c in answer["claims"]}
    pairs = [(judged[key], human) for key, human in blind.items()]
    raw = float(np.mean([j == h for j, h in pairs]))
    chance = sum(
        np.mean([j == v for j, _ in pairs]) * np.mean([h == v for _, h in pairs])
        for v in ("verified", "contradicted", "absent")
    )
    found: dict[str, Any] = {"n": len(pairs), "raw": raw, "kappa": (raw - chance) / (1 - chance)}
    for name, score in (
        ("no_fabrication", lambda v: float("contradicted" not in v)),
        ("claim_precision", lambda v: v.count("verified") / len(v)),
    ):
        effective = {q: score([c["effective_verdict"] for c in answer["claims"]]) for q, answer in answers.items()}
        judge = {q: answer["scores"][name] for q, answer in answers.items()}
        human = {
            q: score([blind.get((q, c["id"]), c["effective_verdict"]) for c in answer["claims"]])
            for q, answer in answers.items()
            if answer["drawn"]
        }
        correct = split if name == "no_fabrication" else prediction_powered
        found[name] = {"adjusted": np.mean(list(effective.values())), **correct(judge, human)}
    return found


def first_blind(decisions: list[dict[str, Any]], answers: dict[str, Any]) -> dict[tuple[str, str], str]:
    voided = {i for d in decisions if d["decision"] == "undo" and not d["informed"] for i in d["supersedes"]}
    first: dict[tuple[str, str, str], dict[str, Any]] = {}
    for d in sorted(decisions, key=lambda d: (d["time"], d["id"])):
        if d["decision"] == "verdict" and d["id"] not in voided:
            first.setdefault((d["reviewer"], d["question_id"], d["claim_id"]), d)
    return {
        (question, claim): d["verdict"]
        for (_, question, claim), d in first.items()
        if d["blind"] and not d["informed"] and d["queue"] == "sample" and answers[question]["drawn"]
    }


def split(judge: dict[str, float], human: dict[str, float]) -> dict[str, float]:
    tp, fp, fn, tn = (
        sum(judge[q] == j and h == k for q, h in human.items()) for j, k in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    good, rng = sum(judge.values()), np.random.default_rng(99)
    counts = ((good, len(judge) - good), (tp, fp), (fn, tn))
    q, r1, r0 = (rng.beta(yes + 0.5, no + 0.5, 400_000) for yes, no in counts)
    rate = q * r1 + (1 - q) * r0
    return {"corrected": rate.mean(), "low": float(np.quantile(rate, 0.025)), "high": float(np.quantile(rate, 0.975))}


def prediction_powered(judge: dict[str, float], human: dict[str, float]) -> dict[str, float]:
    gap = [h - judge[q] for q, h in human.items()]
    rest = [value for q, value in judge.items() if q not in human]
    estimate = float(np.mean(rest) + np.mean(gap))
    half = T_26 * float(np.sqrt(np.var(rest, ddof=1) / len(rest) + np.var(gap, ddof=1) / len(gap)))
    return {"corrected": estimate, "low": estimate - half, "high": min(1.0, estimate + half)}
