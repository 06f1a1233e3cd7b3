"""The offline claim judge: a lexical heuristic of readable rules, which says `absent` wherever it cannot tell."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag_audit.judging.answers import refusal_of, states_specifics, without_citations
from rag_audit.judging.evidence import support_of
from rag_audit.judging.lexical import RULE_FILES, Finding, judge_claim
from rag_audit.judging.prompts import hash_of_files
from rag_audit.model import (
    Claim,
    ClaimJudgment,
    Excerpt,
    JudgeCall,
    JudgeIdentity,
    Question,
    Span,
    Verdict,
)
from rag_audit.text.sentences import split_sentences

RULES = (*RULE_FILES, "judging/answers.py", "providers/offline/claim_judge.py")
"""The files whose hash is the judge's prompt hash."""
_PARTS = ("reference", "context")


class OfflineClaimJudge:
    """Judges each sentence of an answer by rules; never an LLM's equal, and its measured agreement is published."""

    def __init__(self) -> None:
        self.identity = JudgeIdentity("offline", hash_of_files(*RULES))

    async def judge_claims(
        self, question: Question, answer: str, excerpt: Excerpt, claims: Sequence[Claim] | None = None
    ) -> tuple[ClaimJudgment, tuple[JudgeCall, ...]]:
        """Judge the answer's sentences, or exactly the given claims; makes no call, so there is none to keep."""
        asked = list(claims) if claims is not None else extract_claims(answer)
        judged = tuple(judge_against_excerpt(claim, excerpt) for claim in asked)
        skipped = not judged and bool(states_specifics(answer))
        judgment = ClaimJudgment(
            excerpt=excerpt,
            claims=judged,
            identity=self.identity,
            reported_model="offline",
            error="skipped_lookup" if skipped else None,
        )
        return judgment, ()

    def notes(self) -> tuple[str, ...]:
        """Nothing to report."""
        return ()

    async def aclose(self) -> None:
        """Nothing to release."""


def extract_claims(answer: str) -> list[Claim]:
    """The checkable sentences of an answer in their order, identical ones counted once; none in a refusal."""
    if refusal_of(answer):
        return []
    counts: dict[str, int] = {}
    for sentence in split_sentences(without_citations(answer)):
        text = sentence.text.strip()
        if sentence.kind not in ("heading", "header") and any(character.isalnum() for character in text):
            counts[text] = counts.get(text, 0) + 1
    return [
        Claim(f"c{number}", text, Verdict.UNPARSED, count=count)
        for number, (text, count) in enumerate(counts.items(), start=1)
    ]


def judge_against_excerpt(claim: Claim, excerpt: Excerpt) -> Claim:
    """Judge one claim against both parts of the excerpt."""
    found = {part: judge_claim(claim.text, excerpt.text(part)) for part in _PARTS}
    verdict = _joint_verdict(found, excerpt)
    spans = tuple(
        Span(part, finding.start, finding.end)
        for part, finding in found.items()
        if finding.verdict is verdict and finding.end > finding.start
    )
    deciding = next((part for part in _PARTS if found[part].verdict is verdict), "reference")
    finding = found[deciding]
    quote = excerpt.text(deciding)[finding.start : finding.end] or None
    return replace(
        claim,
        verdict=verdict,
        evidence=quote,
        evidence_spans=spans,
        support=support_of(spans),
        reason=finding.reason or None,
    )


def _joint_verdict(found: Mapping[str, Finding], excerpt: Excerpt) -> Verdict:
    """The reference decides where it says anything, unless another passage of the same document supports the claim.

    A chunk of any other document cannot verify what the question's own documents contradict.
    """
    reference, context = found["reference"], found["context"]
    if reference.verdict is Verdict.ABSENT:
        return context.verdict
    if reference.verdict is Verdict.CONTRADICTED and context.verdict is Verdict.VERIFIED:
        own = {passage.doc_id for passage in excerpt.reference}
        quote = excerpt.text("context")[context.start : context.end]
        if any(quote in passage.text and passage.doc_id in own for passage in excerpt.context):
            return Verdict.VERIFIED
    return reference.verdict
