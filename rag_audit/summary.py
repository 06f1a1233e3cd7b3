"""A run's summary and its ledger rows, gathered one result at a time."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rag_audit.fingerprint import fingerprint
from rag_audit.metrics import METRICS, Scored, mean, summarise
from rag_audit.model import (
    UNKNOWN,
    Cost,
    Direction,
    JudgeIdentity,
    MetricSummary,
    Origin,
    Question,
    QuestionResult,
    QuestionRow,
    RunContext,
    RunStatus,
    RunSummary,
    Tokens,
    Usage,
    Verdict,
    is_failed,
)

MetricKind = tuple[tuple[float | None, float | None], Direction]
"""Range and direction of a metric that is not our own."""


_NONE: Mapping[str, Any] = MappingProxyType({})
"""Shared by the rows that have none: a run may have hundreds of thousands."""


_ALIKE = ("doc_id", "route", "rule", "corpus", "flags", "tags", "error")
"""Fields of a row that many questions of a run have alike."""


def question_hash(question: Question) -> str:
    """Identify what was asked: text, reference answer and keywords; a difference means it was edited."""
    return fingerprint((question.question, question.reference_answer, *question.keywords))


def judge_text(identity: JudgeIdentity | None, reported_model: str | None) -> str:
    """One comparable text for everything that makes a judge the instrument it is."""
    if identity is None:
        return UNKNOWN
    parameters = [f"{key}={value}" for key, value in sorted(identity.parameters.items())]
    return " ".join((identity.model, reported_model or "-", identity.prompt_hash, *parameters))


def corpus_of(result: QuestionResult) -> str:
    """The corpus a question counts for: that of its own document, else the only one it was sent to."""
    if result.route.home:
        return result.route.home[0]
    return result.route.corpora[0] if len(result.route.corpora) == 1 else UNKNOWN


def row_of(result: QuestionResult) -> QuestionRow:
    """Condense one result to what pairing, comparing and naming causes need."""
    judgment = result.claim_judgment
    judges = {}
    if judgment is not None:
        judges["claims"] = judge_text(judgment.identity, judgment.reported_model)
    if result.score_judgment is not None:
        judges["scores"] = judge_text(result.score_judgment.identity, result.score_judgment.reported_model)
    reference = judgment.excerpt.text("reference") if judgment else ""
    return QuestionRow(
        id=result.question.id,
        repeat=result.repeat,
        doc_id=result.question.doc_id,
        scores=result.scores,
        missing=result.missing,
        verdicts=dict(Counter(claim.verdict.value for claim in judgment.claims))
        if judgment and judgment.claims
        else _NONE,
        route=result.route.corpora,
        rule=result.route.rule,
        misrouted=result.route.misrouted,
        question_hash=question_hash(result.question),
        answer_hash=fingerprint((result.generation.answer,)) if result.generation else None,
        context_hash=fingerprint(
            part for found in result.retrieved for part in (found.chunk.corpus, found.chunk.doc_id, found.chunk.text)
        ),
        excerpt_hash=fingerprint((reference,)) if reference else None,
        judges=judges or _NONE,
        corpus=corpus_of(result),
        flags=tuple(sorted({flag.flag.value for flag in result.flags})),
        tags=result.question.tags,
        reviewed=result.question.reviewed,
        error=result.error,
    )


class SummaryBuilder:
    """Adds up results into a RunSummary and ledger rows; holds numbers only, never the texts."""

    def __init__(self, declared: Mapping[str, MetricKind] | None = None) -> None:
        """`declared`: range and direction of metrics that are not our own."""
        self.rows: list[QuestionRow] = []
        """The ledger rows of what was added."""
        self._declared = declared or {}
        self._verdicts: Counter[str] = Counter({verdict.value: 0 for verdict in Verdict})
        self._flags: Counter[str] = Counter()
        self._models: defaultdict[str, set[str]] = defaultdict(set)
        self._tokens = {"generation": Tokens(), "judge": Tokens()}
        self.known_usd = 0.0
        """Known cost of all calls that were added."""
        self._costs: dict[str, list[float | None]] = {"generation": [], "judge": []}
        self._parity: list[float] = []
        self._overlap: list[float] = []
        self._answers_seen: set[str] = set()
        self._shared: dict[Hashable, Any] = {}

    def order_by(self, planned: Sequence[tuple[str, int | None]]) -> None:
        """Put the rows in the planned order of (question id, repeat), whatever order they were finished in."""
        place = {planned_id: at for at, planned_id in enumerate(planned)}
        self.rows.sort(key=lambda row: place[row.id, row.repeat])

    def add(self, result: QuestionResult) -> None:
        """Count one result."""
        self.rows.append(self._compact(row_of(result)))
        self._flags.update(flag.flag.value for flag in result.flags)
        if result.claim_judgment is not None:
            self._verdicts.update(claim.verdict.value for claim in result.claim_judgment.claims)
            self._saw_model("claims", result.claim_judgment.reported_model)
        if result.score_judgment is not None:
            self._saw_model("scores", result.score_judgment.reported_model)
        if result.context_parity is not None:
            self._parity.append(result.context_parity)
        if result.overlap is not None:
            self._overlap.append(result.overlap)
        self._add_calls(result)

    def _compact(self, row: QuestionRow) -> QuestionRow:
        """The row, sharing with earlier rows what they say alike."""
        kept = {name: self._shared.setdefault(text, text) for name in _ALIKE if (text := getattr(row, name))}
        judges, verdicts = (self._shared.setdefault(tuple(said.items()), said) for said in (row.judges, row.verdicts))
        return replace(row, judges=judges, verdicts=verdicts, **kept)

    def _saw_model(self, role: str, model: str | None) -> None:
        if model is not None:
            self._models[role].add(model)

    def _add_calls(self, result: QuestionResult) -> None:
        calls = [("judge", call.usage, call.cost_usd) for call in result.judge_calls]
        # Repeats of judging share one answer: its generation was paid once.
        if result.question.id not in self._answers_seen:
            if result.repeat is not None:
                self._answers_seen.add(result.question.id)
            if result.generation is not None:
                self._saw_model("generator", result.generation.reported_model)
                calls.append(("generation", result.generation.usage, result.generation.cost_usd))
            elif result.unpriced_generation:
                calls.append(("generation", Usage(), None))
        for purpose, usage, cost in calls:
            self._costs[purpose].append(cost)
            self.known_usd += cost or 0.0
            before = self._tokens[purpose]
            self._tokens[purpose] = Tokens(
                before.input + (usage.input_tokens or 0),
                before.cached_input + (usage.cached_input_tokens or 0),
                before.output + (usage.output_tokens or 0),
            )

    def build(self, header: RunSummary, *, duration_s: float | None, status: RunStatus | None = None) -> RunSummary:
        """The summary of what was added; the status follows from the missing scores unless it is given."""
        names = self._metric_names()
        metrics = {name: self._summary(name, self.rows) for name in names}
        failed = any(is_failed(reason) for summary in metrics.values() for reason in summary.missing)
        return replace(
            header,
            status=status or (RunStatus.INCOMPLETE if failed else RunStatus.COMPLETE),
            duration_s=duration_s,
            reported_models={role: tuple(sorted(models)) for role, models in sorted(self._models.items())},
            metrics=metrics,
            by_corpus={corpus: self._of_corpus(corpus, names) for corpus in sorted({row.corpus for row in self.rows})},
            claims=dict(self._verdicts),
            flags=dict(sorted(self._flags.items())),
            cost=self._cost(header.origin, header.context),
            tokens=self._all_tokens(header.origin),
            context_parity=mean(self._parity),
            overlap=mean(self._overlap),
        )

    def _metric_names(self) -> list[str]:
        present = {name for row in self.rows for name in (*row.scores, *row.missing)}
        return [name for name in METRICS if name in present] + sorted(present - METRICS.keys())

    def _of_corpus(self, corpus: str, names: list[str]) -> dict[str, MetricSummary]:
        rows = [row for row in self.rows if row.corpus == corpus]
        return {name: self._summary(name, rows) for name in names}

    def _summary(self, name: str, rows: list[QuestionRow]) -> MetricSummary:
        scored: list[Scored] = [(row.scores.get(name), row.missing.get(name)) for row in rows]
        range_, direction = self._declared.get(name, (None, None))
        return summarise(name, scored, range_, direction)

    def _cost(self, origin: Origin, context: RunContext) -> Cost:
        if origin is Origin.IMPORTED:
            return Cost(None, None, None, 0)
        again = origin is Origin.REJUDGED
        generation, judge = [] if again else self._costs["generation"], self._costs["judge"]
        return Cost(
            generation_usd=_total(generation),
            judge_usd=_total(judge),
            embedding_usd=None if _retrieval_is_paid(context) and not again else 0.0,
            unknown_calls=[*generation, *judge].count(None),
        )

    def _all_tokens(self, origin: Origin) -> Tokens:
        generation, judge = self._tokens["generation"], self._tokens["judge"]
        if origin is Origin.REJUDGED:  # its answers were paid for by the run that they come from
            return judge
        return Tokens(
            generation.input + judge.input,
            generation.cached_input + judge.cached_input,
            generation.output + judge.output,
        )


def _retrieval_is_paid(context: RunContext) -> bool:
    """Whether a service embeds or reranks; what it charges is not known, so the cost is not either."""
    return "cohere:" in context.embedder or "cohere:" in context.reranker


def _total(costs: list[float | None]) -> float | None:
    """Sum of known prices; one unknown price makes the total unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
