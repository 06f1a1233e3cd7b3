"""The steps for one question: retrieve, generate, judge, score."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_audit.corpus.retrieve import Retriever
from rag_audit.errors import KeyRejected, ProviderError, RagAuditError
from rag_audit.flags import flag_result
from rag_audit.judging.excerpt import build_excerpt, context_parity, overlap
from rag_audit.metrics import METRICS, score_question
from rag_audit.model import (
    Claim,
    ClaimJudgment,
    Excerpt,
    Generation,
    Passage,
    Question,
    QuestionResult,
    RetrievedChunk,
    Route,
)
from rag_audit.providers.protocols import ClaimJudge, Generator, ScoreJudge


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges of a run, and how often each answer is judged; None: that judge was not asked for."""

    claims: ClaimJudge | None
    scores: ScoreJudge | None
    repeats: int = 1

    @property
    def roles(self) -> frozenset[str]:
        """The roles that judge: claims, scores, both or none."""
        return frozenset(role for role in ("claims", "scores") if getattr(self, role) is not None)

    def repeats_of(self, result: QuestionResult) -> Sequence[int | None]:
        """The repeat numbers that one answer becomes; an answer that is a repeat already stays the one it is."""
        return range(1, self.repeats + 1) if self.repeats > 1 and result.repeat is None else (result.repeat,)

    def prompts(self) -> dict[str, str]:
        """Role to the hash of its prompt or rule set."""
        judges = {"claims": self.claims, "scores": self.scores}
        return {role: judge.identity.prompt_hash for role, judge in judges.items() if judge is not None}

    def models(self) -> dict[str, str]:
        """Role to the model as asked for."""
        judges = {"claims": self.claims, "scores": self.scores}
        return {role: judge.identity.model for role, judge in judges.items() if judge is not None}

    def notes(self) -> tuple[str, ...]:
        """What the judges' services have to say of this run."""
        return tuple(note for judge in (self.claims, self.scores) if judge is not None for note in judge.notes())

    def flagged(self, result: QuestionResult, generator: str | None) -> QuestionResult:
        """The result with every reason why a person should look at it."""
        claim_judge = self.claims.identity if self.claims is not None else None
        return replace(result, flags=flag_result(result, generator=generator, claim_judge=claim_judge))

    async def aclose(self) -> None:
        """Close the connections of both."""
        for judge in (self.claims, self.scores):
            if judge is not None:
                await judge.aclose()


@dataclass(frozen=True, slots=True)
class Evaluator:
    """The parts that evaluate questions, opened once per run."""

    retriever: Retriever
    generator: Generator
    judges: Judges
    source_text: Callable[[str], str | None]
    """doc_id to the text of the document."""
    reference_chars: int
    context_chars: int

    async def evaluate(self, question: Question, route: Route) -> list[QuestionResult]:
        """Answer and judge one question; one result, or one per repeat of the judging.

        A failure of this question is data (`error` on the result), a fault of our own included: it must not take the
        other questions with it. Only what concerns the whole run is raised, such as a rejected key.
        """
        try:
            return await self._evaluate(question, route)
        except RagAuditError:
            raise
        except Exception as fault:
            note = f"internal error, please report it: {type(fault).__name__}: {fault}"
            return self.unjudged(QuestionResult(question, route, error="internal_error", notes=(note,)))

    async def _evaluate(self, question: Question, route: Route) -> list[QuestionResult]:
        started = time.perf_counter()
        retrieved: tuple[RetrievedChunk, ...] = ()
        try:
            retrieved = await asyncio.to_thread(self.retriever.retrieve, question, route)
            found_after_s = time.perf_counter() - started
            generation = await self.generator.generate(question, retrieved)
        except KeyRejected:
            raise
        except ProviderError as error:
            failed = QuestionResult(
                question,
                route,
                retrieved=retrieved,
                error=error.reason,
                notes=(str(error),),
                unpriced_generation=error.may_cost,
            )
            return self.unjudged(failed)
        answered = QuestionResult(
            question,
            route,
            retrieved=retrieved,
            generation=generation,
            measurements=_measurements(found_after_s, generation),
        )
        excerpt = build_excerpt(
            question,
            retrieved,
            self.source_text,
            reference_chars=self.reference_chars,
            context_chars=self.context_chars,
        )
        return [self.scored(result) for result in await judge_answer(answered, excerpt, self.judges)]

    def notes(self) -> tuple[str, ...]:
        """What the services have to say of this run."""
        return (*self.generator.notes(), *self.judges.notes())

    def unjudged(self, result: QuestionResult) -> list[QuestionResult]:
        """A question that ended without an answer, once per repeat that was planned."""
        return [self.scored(replace(result, repeat=repeat)) for repeat in self.judges.repeats_of(result)]

    def scored(self, result: QuestionResult) -> QuestionResult:
        """Score and flag a result: the last step before it is archived."""
        scores, missing = score_question(result)
        return self.judges.flagged(replace(result, scores=scores, missing=missing), self.generator.model)


async def judge_answer(
    answered: QuestionResult, excerpt: Excerpt, judges: Judges, claims: Sequence[Claim] | None = None
) -> list[QuestionResult]:
    """Judge one answer as often as asked; given `claims` are judged again instead of listed anew."""
    return [
        await _judge_once(replace(answered, repeat=repeat), excerpt, judges, claims)
        for repeat in judges.repeats_of(answered)
    ]


async def _judge_once(
    answered: QuestionResult, excerpt: Excerpt, judges: Judges, claims: Sequence[Claim] | None
) -> QuestionResult:
    answer = answered.generation.answer if answered.generation else ""
    claim_judge, score_judge = judges.claims, judges.scores

    async def judge_claims() -> QuestionResult:
        if claim_judge is None:
            return answered
        judgment, calls = await claim_judge.judge_claims(answered.question, answer, excerpt, claims)
        return replace(answered, claim_judgment=judgment, judge_calls=calls)

    async def judge_scores() -> QuestionResult:
        if score_judge is None:
            return answered
        judgment, calls = await score_judge.judge_scores(answered.question, answer, answered.retrieved)
        return replace(answered, score_judgment=judgment, judge_calls=calls)

    by_claims, by_scores = await asyncio.gather(judge_claims(), judge_scores())
    return replace(
        by_claims,
        score_judgment=by_scores.score_judgment,
        judge_calls=by_claims.judge_calls + by_scores.judge_calls,
        context_parity=context_parity(answered.retrieved, excerpt),
        overlap=overlap(answered.retrieved, excerpt),
    )


async def judge_again(archived: QuestionResult, judges: Judges, *, keep_claims: bool) -> list[QuestionResult]:
    """Judge one archived answer again, against the excerpt archived with it, else the contexts.

    Only what the given judges decide changes: other judgments and scores stay as archived, with their identity.
    Where an imported run kept no text at all, its claims are missing as `no_excerpt` and faithfulness as `no_context`.
    """
    if archived.generation is None:
        return [replace(archived, repeat=repeat) for repeat in judges.repeats_of(archived)]
    old = archived.claim_judgment
    excerpt = old.excerpt if old else Excerpt()
    if not (excerpt.reference or excerpt.context):
        excerpt = Excerpt(context=tuple(_passage_of(found) for found in archived.retrieved))
    claims = old.claims if old and old.claims and keep_claims else None
    asked = judges if _has_text(excerpt) else replace(judges, claims=None)
    results = []
    for answered in await judge_answer(replace(archived, judge_calls=()), excerpt, asked, claims):
        judged = _without_verdicts_on_nothing(answered, excerpt, judges)
        scores, missing = dict(archived.scores), dict(archived.missing)
        _take_judged(judged, judges.roles, scores, missing)
        rescored = replace(judged, scores=scores, missing=missing)
        results.append(judges.flagged(rescored, archived.generation.model))
    return results


def _has_text(excerpt: Excerpt) -> bool:
    return any(passage.text.strip() for passage in (*excerpt.reference, *excerpt.context))


def _without_verdicts_on_nothing(judged: QuestionResult, excerpt: Excerpt, judges: Judges) -> QuestionResult:
    """The result with a reason in the place of what no judge can tell without a text."""
    if judges.claims is not None and not _has_text(excerpt):
        unjudged = ClaimJudgment(excerpt, identity=judges.claims.identity, error="no_excerpt")
        judged = replace(judged, claim_judgment=unjudged)
    scored = judged.score_judgment
    if judges.scores is not None and scored is not None and judged.route.rule == "imported" and not judged.retrieved:
        unfounded = replace(scored, faithfulness=None, error=scored.error or "no_context")
        judged = replace(judged, score_judgment=unfounded)
    return judged


def _take_judged(
    judged: QuestionResult, roles: frozenset[str], scores: dict[str, float | None], missing: dict[str, str]
) -> None:
    """Replace the scores that the roles decide."""
    new_scores, new_missing = score_question(judged)
    for metric in METRICS.values():
        if metric.judged_by in roles:
            scores[metric.name] = new_scores[metric.name]
            missing.pop(metric.name, None)
            if metric.name in new_missing:
                missing[metric.name] = new_missing[metric.name]


def _passage_of(found: RetrievedChunk) -> Passage:
    chunk = found.chunk
    return Passage(chunk.text, chunk.doc_id, chunk.corpus, chunk.start, heading=chunk.heading)


def _measurements(retrieval_s: float, generation: Generation) -> Mapping[str, float]:
    measured = {"retrieval_s": retrieval_s, "answer_chars": float(len(generation.answer))}
    if generation.latency_s is not None:
        measured["generation_s"] = generation.latency_s
    return measured
