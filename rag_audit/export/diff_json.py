"""The JSON shape of a diff that scripts rely on."""

from typing import Any

from rag_audit.diff.several import SeveralRuns
from rag_audit.model import MetricDelta, ModuleDelta, QuestionDelta, RunDiff


def diff_json(diff: RunDiff) -> dict[str, Any]:
    """Everything a diff says, with the gate's verdict that the exit code follows."""
    questions = diff.questions
    return {
        "before": diff.before,
        "after": diff.after,
        "comparable": {
            name: {"ok": found.ok, "reasons": list(found.reasons)} for name, found in diff.comparable.items()
        },
        "context_changes": [
            {"key": change.key, "before": change.before, "after": change.after} for change in diff.context_changes
        ],
        "metrics": {name: _metric(name, delta, diff) for name, delta in diff.metrics.items()},
        "questions": {
            "edited": list(questions.edited),
            "unscored": list(questions.unscored),
            "regressed": [_question(delta) for delta in questions.regressed],
            "improved": [_question(delta) for delta in questions.improved],
            "changed": [{**_question(delta), "mixed": delta.mixed} for delta in questions.changed],
            "unchanged": questions.unchanged,
            "added": list(questions.added),
            "removed": list(questions.removed),
        },
        "claim_flips": [
            {
                "question_id": flip.question_id,
                "before_claim": flip.before_claim,
                "after_claim": flip.after_claim,
                "before": flip.before,
                "after": flip.after,
                "before_id": flip.before_id,
                "after_id": flip.after_id,
            }
            for flip in diff.claim_flips
        ],
        "modules": [_module(module) for module in diff.modules],
        "gate": {
            "tripped": diff.gate.tripped,
            "reasons": [
                {"kind": reason.kind, "metric": reason.metric, "detail": reason.detail} for reason in diff.gate.reasons
            ],
        },
        "noise_floor": dict(diff.noise_floor),
        "still_failing": {name: list(metrics) for name, metrics in diff.still_failing.items()},
        "by_corpus": {
            corpus: {
                name: {"before": before, "after": after, "n_paired": n} for name, (before, after, n) in figures.items()
            }
            for corpus, figures in diff.by_corpus.items()
        },
    }


def _metric(name: str, delta: MetricDelta, diff: RunDiff) -> dict[str, Any]:
    own_before, n_before, own_after, n_after = diff.own_means.get(name, (None, 0, None, 0))
    return {
        "before": delta.before,
        "after": delta.after,
        "delta": delta.delta,
        "n_paired": delta.n_paired,
        "ci_low": delta.ci_low,
        "ci_high": delta.ci_high,
        "p_value": delta.p_value,
        "p_adjusted": delta.p_adjusted,
        "unit": delta.unit,
        "verdict": delta.verdict.value,
        "reason": delta.reason,
        "test": delta.test,
        "own": {"before": own_before, "n_before": n_before, "after": own_after, "n_after": n_after},
    }


def _question(delta: QuestionDelta) -> dict[str, Any]:
    return {
        "id": delta.id,
        "metrics": {name: list(values) for name, values in delta.metrics.items()},
        "causes": {name: cause.value for name, cause in delta.causes.items()},
        "cause": delta.cause.value if delta.cause else None,
    }


def _module(module: ModuleDelta) -> dict[str, Any]:
    return {
        "doc_id": module.doc_id,
        "keyword_coverage": list(module.keyword_coverage),
        "hit_at_1": list(module.hit_at_1),
        "collapse": module.collapse,
        "questions": list(module.questions),
    }


def several_json(followed: SeveralRuns) -> dict[str, Any]:
    """Three or more runs by question."""
    return {
        "runs": list(followed.runs),
        "metrics": {
            name: {
                "means": list(followed.means[name]),
                "questions": [
                    {
                        "id": history.id,
                        "values": list(history.values),
                        "broke_at": history.broke_at,
                        "cause": history.cause.value if history.cause else None,
                        "edited_at": list(history.edited_at),
                    }
                    for history in questions
                ],
            }
            for name, questions in followed.questions.items()
        },
    }
