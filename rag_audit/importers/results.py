"""One imported row as a QuestionResult: what the file says, and what follows from its claims and chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_audit.flags import flag_result
from rag_audit.importers.record import ImportedChunk, ImportedClaim, ImportedRow, MetricKind
from rag_audit.judging.evidence import locate_quote, support_of
from rag_audit.metrics import claim_precision_of, hit_at, no_fabrication_of, reciprocal_rank
from rag_audit.model import (
    UNKNOWN,
    Chunk,
    Claim,
    ClaimJudgment,
    Excerpt,
    Flag,
    FlagName,
    Generation,
    JudgeIdentity,
    Passage,
    Question,
    QuestionResult,
    RetrievedChunk,
    Route,
    ScoreJudgment,
)

RETRIEVAL = ("hit_at_1", "hit_at_k", "mrr")
"""The own metrics of the retrieved list that need nothing but the documents' names."""


@dataclass(frozen=True, slots=True)
class RunShape:
    """What all rows of a run have in common."""

    metrics: tuple[str, ...] = ()
    kinds: Mapping[str, MetricKind] = field(default_factory=dict)
    repeated: Mapping[str, float] = field(default_factory=dict)
    """Metrics of which every row only repeats the mean."""
    claims: bool = False
    """Whether rows carry claims, so that the metrics of claims exist."""
    retrieval: bool = False
    """Whether questions and chunks name their documents, so that hits can be counted."""
    claim_scores: frozenset[str] = frozenset()


def result_of(
    row: ImportedRow, key: tuple[str, int | None], shape: RunShape, *, generator: str | None = None
) -> QuestionResult:
    """Make the result of one row; its id and repeat are given. `generator`: the model that answered."""
    question_id, repeat = key
    question = Question(
        id=question_id,
        question=row.question,
        reference_answer=row.reference or None,
        doc_id=row.doc_id,
        **row.details,
    )
    retrieved = _retrieved(row, question)
    scores: dict[str, float | None] = {name: row.scores.get(name) for name in shape.metrics}
    unasked = "not_asked" if row.scores else "no_score"
    missing = {name: row.missing.get(name, unasked) for name, score in scores.items() if score is None}
    _score_claims(row, shape, scores, missing)
    _score_retrieval(row, question, retrieved, shape, scores, missing)
    result = QuestionResult(
        question=question,
        route=row.route or Route(_corpora(row), "imported", _home(row, question)),
        repeat=repeat,
        retrieved=retrieved,
        generation=None
        if row.answer is None
        else Generation(row.answer, reported_model=row.answered_by, usage=row.usage, latency_s=row.latency_s),
        claim_judgment=_claim_judgment(row),
        score_judgment=ScoreJudgment(identity=_judge(row.score_judge, row.score_prompt)) if row.score_judge else None,
        judge_calls=row.judge_calls,
        scores=scores,
        missing=missing,
        measurements=row.measurements,
        notes=row.notes,
        error=row.error,
    )
    return replace(result, flags=_all_flags(result, _flags(row, question, retrieved, shape, scores), generator))


def _all_flags(result: QuestionResult, own: Sequence[Flag], generator: str | None) -> tuple[Flag, ...]:
    """What the file gives reason for, then the rules for every result; one flag a claim and kind."""
    judgment = result.claim_judgment
    ruled = flag_result(result, generator=generator, claim_judge=judgment.identity if judgment else None)
    raised = {(flag.flag, flag.claim_id) for flag in own}
    return (*own, *(flag for flag in ruled if (flag.flag, flag.claim_id) not in raised))


def _retrieved(row: ImportedRow, question: Question) -> tuple[RetrievedChunk, ...]:
    relevant = set(question.relevant_docs)
    return tuple(
        RetrievedChunk(
            Chunk(chunk.doc_id or UNKNOWN, chunk.corpus or UNKNOWN, chunk.text, heading=chunk.heading),
            rank,
            chunk.score,
            relevant=_is_relevant(chunk, relevant),
        )
        for rank, chunk in enumerate(row.contexts or (), start=1)
    )


def _is_relevant(chunk: ImportedChunk, documents: set[str]) -> bool | None:
    if chunk.relevant is not None:
        return chunk.relevant
    return chunk.doc_id in documents if documents and chunk.doc_id is not None else None


def _corpora(row: ImportedRow) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chunk.corpus for chunk in row.contexts or () if chunk.corpus is not None))


def _home(row: ImportedRow, question: Question) -> tuple[str, ...]:
    """The corpora of the question's documents, as far as its own chunks tell."""
    known = (chunk.corpus for chunk in row.contexts or () if chunk.doc_id in question.relevant_docs)
    return tuple(dict.fromkeys(corpus for corpus in known if corpus is not None))


def _judge(model: str | None, prompt_hash: str | None) -> JudgeIdentity | None:
    return JudgeIdentity(model, prompt_hash or UNKNOWN) if model else None


def _claim_judgment(row: ImportedRow) -> ClaimJudgment | None:
    excerpt = Excerpt(
        reference=(Passage(row.excerpt),) if row.excerpt else (),
        context=tuple(
            Passage(chunk.text, chunk.doc_id, chunk.corpus, heading=chunk.heading) for chunk in row.claims_against
        ),
    )
    if row.claims is None:
        known = row.excerpt is not None or row.claims_missing is not None
        return ClaimJudgment(excerpt, error=row.claims_missing or "not_asked") if known else None
    claims = tuple(_claim(claim, at, excerpt) for at, claim in enumerate(row.claims, start=1))
    return ClaimJudgment(excerpt, claims, identity=_judge(row.claim_judge, row.claim_prompt))


def _claim(claim: ImportedClaim, at: int, excerpt: Excerpt) -> Claim:
    spans = locate_quote(claim.evidence, excerpt) if claim.evidence else ()
    return Claim(
        id=f"c{at}",
        text=claim.text,
        verdict=claim.verdict,
        evidence=claim.evidence,
        evidence_spans=spans,
        support=claim.support if claim.support and spans else support_of(spans),
        reason=claim.reason,
    )


def _score_claims(row: ImportedRow, shape: RunShape, scores: dict[str, float | None], missing: dict[str, str]) -> None:
    """The metrics of claims follow from the claims; where a row has none, what the file says stays."""
    if not shape.claims:
        return
    verdicts = [claim.verdict for claim in row.claims or ()]
    for name, score in (("no_fabrication", no_fabrication_of), ("claim_precision", claim_precision_of)):
        if row.claims is None:
            scores.setdefault(name, None)
            if scores[name] is None:
                unasked = "error" if row.error else "not_asked"
                missing[name] = row.missing.get(name) or row.claims_missing or unasked
            continue
        scores[name], reason = score(verdicts)
        missing.pop(name, None)
        if reason is not None:
            missing[name] = reason


def _score_retrieval(
    row: ImportedRow,
    question: Question,
    retrieved: tuple[RetrievedChunk, ...],
    shape: RunShape,
    scores: dict[str, float | None],
    missing: dict[str, str],
) -> None:
    """Hits are counted only where the question's document and every chunk's document are known."""
    if not shape.retrieval:
        return
    reason = None
    if not question.relevant_docs:
        reason = "no_relevant"
    elif row.contexts is None or any(chunk.doc_id is None for chunk in row.contexts):
        reason = "not_asked"
    values = (hit_at(1, retrieved), hit_at(len(retrieved), retrieved), reciprocal_rank(retrieved))
    for name, value in zip(RETRIEVAL, values, strict=True):
        scores[name] = value if reason is None else None
        if reason is not None:
            missing[name] = reason


def _flags(
    row: ImportedRow,
    question: Question,
    retrieved: tuple[RetrievedChunk, ...],
    shape: RunShape,
    scores: Mapping[str, float | None],
) -> list[Flag]:
    flags = []
    perfect = [
        name
        for name in sorted(shape.claim_scores)
        if (score := row.scores.get(name)) is not None and score == shape.kinds[name][0][1]
    ]
    if row.claims is not None and not row.claims and perfect:
        flags.append(Flag(FlagName.SKIPPED_LOOKUP, f"no claims, yet {', '.join(perfect)} is perfect"))
    if shape.retrieval and retrieved and all(chunk.relevant is False for chunk in retrieved):
        found = sorted({chunk.chunk.doc_id for chunk in retrieved})
        flags.append(
            Flag(FlagName.MISROUTED, f"no chunk is from {question.doc_id}", matches=tuple(found)),
        )
    flags.extend(
        Flag(FlagName.CONFLICTING_EVIDENCE, claim.reason or "retrieved texts disagree about it", f"c{at}")
        for at, claim in enumerate(row.claims or (), start=1)
        if claim.conflicting
    )
    repeated = [name for name in shape.repeated if scores.get(name) is not None]
    if repeated:
        flags.append(
            Flag(FlagName.SCORES_REPEAT_MEAN, f"every row has the same {', '.join(repeated)}", matches=tuple(repeated))
        )
    return flags
