"""The offline score judge: faithfulness and completeness by counting supported sentences and covered facts."""

from collections.abc import Sequence

from rag_audit.judging.lexical import judge_claim
from rag_audit.judging.prompts import hash_of_files
from rag_audit.model import JudgeCall, JudgeIdentity, Question, RetrievedChunk, ScoreJudgment, Verdict
from rag_audit.providers.offline.claim_judge import RULES, extract_claims
from rag_audit.text.sentences import split_sentences
from rag_audit.text.words import content_stems


class OfflineScoreJudge:
    """Counts; it understands nothing, and its justification says what was counted."""

    def __init__(self) -> None:
        self.identity = JudgeIdentity("offline", hash_of_files(*RULES, "providers/offline/score_judge.py"))

    async def judge_scores(
        self, question: Question, answer: str, retrieved: Sequence[RetrievedChunk]
    ) -> tuple[ScoreJudgment, tuple[JudgeCall, ...]]:
        """Score the answer; an answer that claims nothing has no faithfulness, and says nothing complete."""
        faithfulness, supported = _faithfulness(answer, retrieved)
        completeness, covered = _completeness(answer, question.reference_answer)
        missing = None
        if faithfulness is None:
            missing = "no_claims"
        elif completeness is None:
            missing = "not_asked"
        judgment = ScoreJudgment(
            faithfulness=faithfulness,
            completeness=completeness,
            justification=f"{supported} {covered}",
            identity=self.identity,
            reported_model="offline",
            error=missing,
        )
        return judgment, ()

    def notes(self) -> tuple[str, ...]:
        """Nothing to report."""
        return ()

    async def aclose(self) -> None:
        """Nothing to release."""


def _faithfulness(answer: str, retrieved: Sequence[RetrievedChunk]) -> tuple[int | None, str]:
    """Ten times the share of the answer's sentences that one chunk supports, a contradicted one counting twice."""
    claims = extract_claims(answer)
    if not claims:
        return None, "The answer states nothing that could be checked."
    verdicts = [_best_verdict(claim.text, retrieved) for claim in claims]
    supported = verdicts.count(Verdict.VERIFIED)
    contradicted = verdicts.count(Verdict.CONTRADICTED)
    share = max(supported - contradicted, 0) / len(claims)
    said = f"{supported} of {len(claims)} sentences are in the retrieved text"
    return round(10 * share), f"{said}, {contradicted} contradict it." if contradicted else f"{said}."


def _best_verdict(claim: str, retrieved: Sequence[RetrievedChunk]) -> Verdict:
    verdicts = {judge_claim(claim, item.chunk.text).verdict for item in retrieved}
    for verdict in (Verdict.VERIFIED, Verdict.CONTRADICTED):
        if verdict in verdicts:
            return verdict
    return Verdict.ABSENT


def _completeness(answer: str, reference: str | None) -> tuple[int | None, str]:
    """Ten times the share of the reference's content words in the answer, averaged over its sentences."""
    facts = [stems for sentence in split_sentences(reference or "") if (stems := content_stems(sentence.text))]
    if not facts:
        return None, "There is no reference answer to compare with."
    said = content_stems(answer)
    share = sum(len(fact & said) / len(fact) for fact in facts) / len(facts)
    return round(10 * share), f"The answer has {share:.0%} of what the reference says."
