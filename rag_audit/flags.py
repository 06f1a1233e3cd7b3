"""Reasons why a person should look at a claim or a question, each with the tokens that raised it and where they are."""

from collections.abc import Iterator, Sequence

from rag_audit.judging.answers import refusal_of, states_specifics
from rag_audit.judging.directed import directed_passages
from rag_audit.judging.evidence import locate
from rag_audit.judging.lexical import judge_claim
from rag_audit.model import (
    Claim,
    ClaimJudgment,
    Excerpt,
    Flag,
    FlagName,
    JudgeIdentity,
    Passage,
    Question,
    QuestionResult,
    RetrievedChunk,
    Support,
    Verdict,
)
from rag_audit.text.identifiers import find_identifiers, found_in, occurrences

_HIGH_FAITHFULNESS = 8
"""From here up the score judge calls an answer faithful; a contradicted claim then disagrees."""
_LOW_FAITHFULNESS = 3
"""Down from here it calls it unfaithful; claims that are all verified then disagree."""
_CUT_SHORT = frozenset({"max_tokens", "length", "model_context_window_exceeded", "max_output_tokens"})
_NOT_A_MODEL = frozenset({"", "offline", "unknown", "none"})
"""Rules have no preference for their own answers, and an unknown name is no name."""
_SHOWN_MATCHES = 8
_PARTS = ("reference", "context")


def flag_result(
    result: QuestionResult, *, generator: str | None, claim_judge: JudgeIdentity | None
) -> tuple[Flag, ...]:
    """Every flag of one result: those of the question first, then those of its claims in their order."""
    flags = [
        *_empty_or_refused(result),
        *_truncated(result),
        *_misrouted(result),
        *_judge_directed(result),
        *_self_judged(result, generator, claim_judge),
    ]
    judgment = result.claim_judgment
    if judgment is not None:
        flags.extend(_skipped_lookup(result, judgment))
        flags.extend(_score_claims_disagree(result, judgment))
        for claim in judgment.claims:
            flags.extend(_claim_flags(claim, judgment.excerpt, result))
    return tuple(flags)


# The question


def _answer(result: QuestionResult) -> str:
    return result.generation.answer if result.generation else ""


def _empty_or_refused(result: QuestionResult) -> Iterator[Flag]:
    if result.generation is None:
        return
    refused = refusal_of(result.generation.answer)
    if not result.generation.answer.strip():
        yield Flag(FlagName.EMPTY_OR_REFUSED, "the answer is empty")
    elif result.generation.stop_reason == "refusal":
        yield Flag(FlagName.EMPTY_OR_REFUSED, "the model refused to answer", matches=("refusal",))
    elif refused and result.question.answerable:
        yield Flag(FlagName.EMPTY_OR_REFUSED, "the answer says that it has none", matches=(refused,))


def _truncated(result: QuestionResult) -> Iterator[Flag]:
    generation = result.generation
    if generation is None:
        return
    if generation.stop_reason in _CUT_SHORT:
        reason = str(generation.stop_reason)
        yield Flag(FlagName.TRUNCATED, f"the answer was cut off: {reason}", matches=(reason,))
    if generation.cut:
        yield Flag(FlagName.TRUNCATED, "the prompt was cut to fit", matches=generation.cut)


def _misrouted(result: QuestionResult) -> Iterator[Flag]:
    if result.route.misrouted:
        missed = tuple(corpus for corpus in result.route.home if corpus not in result.route.corpora)
        asked = ", ".join(result.route.corpora) or "no corpus"
        yield Flag(
            FlagName.MISROUTED,
            f"asked {asked} (rule {result.route.rule}), not {', '.join(missed)}, which holds the document",
            matches=missed,
        )


def _judge_directed(result: QuestionResult) -> Iterator[Flag]:
    texts = [("the answer", _answer(result))]
    texts += [(f"chunk {item.rank} of {item.chunk.doc_id}", item.chunk.text) for item in result.retrieved]
    if result.claim_judgment:
        excerpt = result.claim_judgment.excerpt
        texts += [(f"the reference part ({passage.doc_id})", passage.text) for passage in excerpt.reference]
    for place, text in texts:
        found = directed_passages(text)
        if found:
            yield Flag(FlagName.JUDGE_DIRECTED_TEXT, f"{place} addresses the judge", matches=found[:_SHOWN_MATCHES])


def _self_judged(result: QuestionResult, generator: str | None, claim_judge: JudgeIdentity | None) -> Iterator[Flag]:
    generation = result.generation
    answered = _models(
        generator, generation.model if generation else None, generation.reported_model if generation else None
    )
    drafted = _models(result.question.drafted_by)
    claims, scores = result.claim_judgment, result.score_judgment
    by_claims = (claims.identity or claim_judge) if claims else None
    judged = _models(
        by_claims.model if by_claims else None,
        claims.reported_model if claims else None,
        scores.identity.model if scores and scores.identity else None,
        scores.reported_model if scores else None,
    )
    for name in sorted(judged & answered):
        yield Flag(FlagName.SELF_JUDGED, f"{name} judges its own answer", matches=(name,))
    for name in sorted((judged & drafted) - answered):
        yield Flag(FlagName.SELF_JUDGED, f"{name} drafted the question that it judges", matches=(name,))


def _models(*names: str | None) -> set[str]:
    """Model names without their provider, so that `anthropic:M` and `M` are one."""
    bare = {name.split(":", 1)[-1].strip().lower() for name in names if name}
    return bare - _NOT_A_MODEL


def _skipped_lookup(result: QuestionResult, judgment: ClaimJudgment) -> Iterator[Flag]:
    if judgment.claims or judgment.error not in (None, "skipped_lookup"):
        return
    specifics = states_specifics(_answer(result))
    if specifics:
        yield Flag(
            FlagName.SKIPPED_LOOKUP,
            "the judge lists no claim, but the answer states specifics",
            matches=specifics[:_SHOWN_MATCHES],
        )


def _score_claims_disagree(result: QuestionResult, judgment: ClaimJudgment) -> Iterator[Flag]:
    faithfulness = result.scores.get("faithfulness")
    verdicts = [claim.verdict for claim in judgment.claims]
    if faithfulness is None or not verdicts:
        return
    contradicted = verdicts.count(Verdict.CONTRADICTED)
    if faithfulness >= _HIGH_FAITHFULNESS and contradicted:
        yield Flag(
            FlagName.SCORE_CLAIMS_DISAGREE,
            f"faithfulness {faithfulness:g} of 10, but {contradicted} of {len(verdicts)} claims are contradicted",
            matches=(f"faithfulness {faithfulness:g}", f"{contradicted} contradicted"),
        )
    if faithfulness <= _LOW_FAITHFULNESS and verdicts.count(Verdict.VERIFIED) == len(verdicts):
        yield Flag(
            FlagName.SCORE_CLAIMS_DISAGREE,
            f"faithfulness {faithfulness:g} of 10, but all {len(verdicts)} claims are verified",
            matches=(f"faithfulness {faithfulness:g}", f"{len(verdicts)} verified"),
        )


# One claim


def _claim_flags(claim: Claim, excerpt: Excerpt, result: QuestionResult) -> Iterator[Flag]:
    kept = excerpt.reference or excerpt.context
    if kept and claim.evidence and claim.evidence.strip() and not claim.evidence_spans:
        yield Flag(FlagName.QUOTE_NOT_FOUND, "the judge's quote is not in the excerpt", claim.id, (claim.evidence,))
    if _decided_without_quote(claim, result):
        yield Flag(
            FlagName.QUOTE_NOT_FOUND, f"{claim.verdict} without any quote, though the judge had to give one", claim.id
        )
    if claim.verdict is Verdict.VERIFIED:
        yield from _wrong_corpus(claim, excerpt, result)
        yield from _conflicting(claim, excerpt, result.question)
    if claim.verdict in (Verdict.CONTRADICTED, Verdict.ABSENT):
        names = tuple(dict.fromkeys(identifier.text for identifier in find_identifiers(claim.text)))
        yield from _named_in_source(claim, names, excerpt)
        yield from _blind_spot(claim, names, excerpt, result.retrieved)


def _decided_without_quote(claim: Claim, result: QuestionResult) -> bool:
    """Whether a model that we asked for quotes gave none; other tools' judges are not asked for any."""
    asked = any(call.judge == "claims" for call in result.judge_calls)
    decided = claim.verdict in (Verdict.VERIFIED, Verdict.CONTRADICTED)
    return asked and decided and not (claim.evidence and claim.evidence.strip())


def _named_in_source(claim: Claim, names: tuple[str, ...], excerpt: Excerpt) -> Iterator[Flag]:
    """Contradicted, yet it names an identifier of the source; or absent, though all that it names is there."""
    present = found_in(names, "\n\n".join(excerpt.text(part) for part in _PARTS))
    if claim.verdict is Verdict.CONTRADICTED and present:
        yield Flag(
            FlagName.CONTRADICTED_CITES_SOURCE,
            f"contradicted, but the source has {_places(present, excerpt)}",
            claim.id,
            present,
        )
    if claim.verdict is Verdict.ABSENT and present and len(present) == len(names):
        yield Flag(
            FlagName.ABSENT_BUT_PRESENT, f"absent, but the source has {_places(present, excerpt)}", claim.id, present
        )


def _blind_spot(
    claim: Claim, names: tuple[str, ...], excerpt: Excerpt, retrieved: Sequence[RetrievedChunk]
) -> Iterator[Flag]:
    """What would support the claim is in a chunk that the generator saw and the judge did not."""
    seen = "\n\n".join(excerpt.text(part) for part in _PARTS)
    for item in retrieved:
        if item.chunk.text.strip() in seen:
            continue
        unseen_names = tuple(name for name in found_in(names, item.chunk.text) if not occurrences(name, seen))
        supports = judge_claim(claim.text, item.chunk.text)
        if unseen_names or (
            supports.verdict is Verdict.VERIFIED and item.chunk.text[supports.start : supports.end].strip() not in seen
        ):
            yield Flag(
                FlagName.BLIND_SPOT,
                f"chunk {item.rank} of {item.chunk.doc_id}, which the generator saw and the judge did not, has it",
                claim.id,
                unseen_names or (item.chunk.text[supports.start : supports.end],),
            )
            return


def _wrong_corpus(claim: Claim, excerpt: Excerpt, result: QuestionResult) -> Iterator[Flag]:
    """Verified by a chunk of a corpus that does not hold the question's documents, and by nothing else."""
    home = result.route.home
    if claim.support is not Support.CONTEXT or not home or not claim.evidence:
        return
    holders = {passage.corpus for passage in excerpt.context if locate(claim.evidence, passage.text)}
    known = {corpus for corpus in holders if corpus is not None}
    if known and known == holders and not known & set(home):
        yield Flag(
            FlagName.MISROUTED,
            f"verified only by {', '.join(sorted(known))}; the question's documents are in {', '.join(home)}",
            claim.id,
            tuple(sorted(known)),
        )


def _conflicting(claim: Claim, excerpt: Excerpt, question: Question) -> Iterator[Flag]:
    """Verified only by chunks of other documents, while the reference part says otherwise."""
    if claim.support is not Support.CONTEXT or not excerpt.reference or not claim.evidence:
        return
    # An imported reference part does not say which documents it is from.
    own = {passage.doc_id for passage in excerpt.reference if passage.doc_id} or set(question.relevant_docs)
    if any(passage.doc_id in own and locate(claim.evidence, passage.text) for passage in excerpt.context):
        return
    reference = excerpt.text("reference")
    finding = judge_claim(claim.text, reference)
    if finding.verdict is Verdict.CONTRADICTED:
        yield Flag(
            FlagName.CONTEXT_CONFLICTS_REFERENCE,
            f"verified by the retrieved text, but the reference part says otherwise: {finding.reason}",
            claim.id,
            (reference[finding.start : finding.end],),
        )


def _places(names: Sequence[str], excerpt: Excerpt) -> str:
    """Each name with the first place where it stands: `queueLength` (reference, aws-sqs:12)."""
    return ", ".join(f"“{name}” ({_place(name, excerpt)})" for name in names[:_SHOWN_MATCHES])


def _place(name: str, excerpt: Excerpt) -> str:
    for part in _PARTS:
        passages: tuple[Passage, ...] = excerpt.reference if part == "reference" else excerpt.context
        for passage in passages:
            found = occurrences(name, passage.text)
            if found:
                source = passage.doc_id or "the excerpt"
                line = "" if passage.line is None else f":{passage.line + passage.text.count(chr(10), 0, found[0][0])}"
                return f"{part}, {source}{line}"
    return "the excerpt"
