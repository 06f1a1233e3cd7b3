"""A judge of plain rules: does one text support a claim, contradict it, or say nothing of it?"""

from rag_audit.judging.lexical.claim import Finding
from rag_audit.judging.lexical.judge import judge_claim

RULE_FILES = (
    "judging/evidence.py",
    *(f"judging/lexical/{name}.py" for name in ("claim", "facts", "judge", "phrases", "quantities")),
    *(f"judging/lexical/{name}.py" for name in ("stated", "statement", "units")),
    *(f"judging/lexical/{name}.txt" for name in ("opposites", "phrases", "synonyms")),
    *(f"text/{name}" for name in ("identifiers.py", "sentences.py", "words.py", "stop_words.txt")),
)
"""The files whose hash identifies the rules."""

__all__ = ["RULE_FILES", "Finding", "judge_claim"]
