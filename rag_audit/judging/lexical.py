"""A judge of plain rules: does one text support a claim, contradict it, or say nothing of it?"""

from dataclasses import dataclass

from rag_audit.model import Verdict
from rag_audit.text.identifiers import find_identifiers, occurrences
from rag_audit.text.sentences import split_sentences
from rag_audit.text.words import content_stems

_ENOUGH = 0.75


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with the sentence it rests on, as characters [start, end) of the judged text, and the rule."""

    verdict: Verdict
    start: int = 0
    end: int = 0
    reason: str = ""


def judge_claim(claim: str, text: str) -> Finding:
    """Judge one claim against one text; `absent` wherever no rule decides."""
    wanted = content_stems(claim)
    names = [identifier.text for identifier in find_identifiers(claim)]
    best: Finding | None = None
    best_share = 0.0
    for sentence in split_sentences(text):
        share = len(wanted & content_stems(sentence.text)) / len(wanted) if wanted else 0.0
        if share > best_share and all(occurrences(name, sentence.text) for name in names):
            best_share = share
            best = Finding(Verdict.VERIFIED, sentence.start, sentence.end, f"{share:.0%} of its words")
    return best if best and best_share >= _ENOUGH else Finding(Verdict.ABSENT, reason="no sentence says it")
