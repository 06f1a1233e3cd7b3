"""What is documented about other tools' metrics: their range, and which way is better."""

import re

from rag_audit.importers.record import UNKNOWN_KIND, MetricKind
from rag_audit.metrics import METRICS
from rag_audit.model import Direction

UNIT_UP: MetricKind = ((0.0, 1.0), Direction.UP)
UNIT_DOWN: MetricKind = ((0.0, 1.0), Direction.DOWN)
UNIT: MetricKind = ((0.0, 1.0), Direction.NONE)
RATING: MetricKind = ((1.0, 5.0), Direction.UP)
SEVERITY: MetricKind = ((0.0, 7.0), Direction.DOWN)

_RULES: tuple[tuple[re.Pattern[str], MetricKind], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (
            r"azure\.(gpt_\w+|groundedness|relevance|coherence|fluency|similarity|retrieval|response_completeness"
            r"|intent_resolution|task_adherence)",
            RATING,
        ),
        (r"azure\.(citations?_match(ed)?|any_citation|has_citation|(f1|bleu|gleu|meteor|rouge_f1)_score)", UNIT_UP),
        (r"azure\.(violence|sexual|self_harm|hate_(un)?fairness)_score", SEVERITY),
        (r"(ragas|ragchecker)\.(\w+_)?noise_sensitivity\w*", UNIT_DOWN),
        (r"(ragas|ragchecker|deepeval)\.(\w+_)?hallucination", UNIT_DOWN),
        (r"deepeval\.(bias|toxicity|misuse)", UNIT_DOWN),
        # Named after the fault, yet 1 is an answer without it.
        (r"deepeval\.(non_advice|role_violation|pii_leakage)", UNIT_UP),
        (
            r"ragas\.(\w+_)?(faithfulness|(answer|response)_(relevancy|relevance|correctness|similarity|accuracy)"
            r"|answer_faithfulness|context_(precision|recall|relevancy|relevance|entity_recall|utilization)"
            r"|llm_context_precision\w*|nv_\w+|factual_correctness\w*|semantic_similarity|summary_score"
            r"|non_llm_string_similarity|bleu_score|rouge_score\w*|chrf_score|exact_match|string_present"
            r"|aspect_critic\w*|topic_adherence\w*|tool_call_accuracy|agent_goal_accuracy\w*|groundedness)",
            UNIT_UP,
        ),
        (r"ragchecker\.self_knowledge", UNIT),
        (
            r"ragchecker\.(precision|recall|f1|claim_recall|context_precision|context_utilization|faithfulness)",
            UNIT_UP,
        ),
        (
            r"deepeval\.(faithfulness|answer_relevancy|contextual_\w+|summarization|correctness|\w+_geval|\w+_dag"
            r"|json_correctness|tool_correctness|task_completion|prompt_alignment|argument_correctness)",
            UNIT_UP,
        ),
        (r"promptfoo\.(pass|score)", UNIT_UP),
        (r"inspect\.(match|includes|exact|pattern|answer|choice|f1|model_graded_(qa|fact))", UNIT_UP),
        (r"trulens\.(\w*groundedness\w*|\w*relevance\w*|\w*correctness\w*|coherence)", UNIT_UP),
        (r"django_explain_errors\.\w+", UNIT_UP),
    )
)


def known_kind(metric: str) -> MetricKind:
    """Range and direction of a metric by its full name; unknown ones never count as better or worse."""
    own = METRICS.get(metric)
    if own is not None:
        return own.range, own.direction
    return next((kind for pattern, kind in _RULES if pattern.fullmatch(metric)), UNKNOWN_KIND)
