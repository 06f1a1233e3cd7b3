"""Compares two archived runs; every number of a screen, a report or a gate comes from the value made here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rag_audit.diff.causes import cause_of
from rag_audit.diff.comparability import (
    JudgeMatch,
    compare_contexts,
    is_mixed,
    judge_lookup,
    match_pair,
)
from rag_audit.diff.context import context_changes
from rag_audit.diff.facts import MetricFacts, differs, metric_facts, metric_names, shared_metrics, tested_family
from rag_audit.diff.gate import GatedMetric, GateRules, check_gate
from rag_audit.diff.meaning import Tolerance, adjust, judge_difference, measure, usable_pairs
from rag_audit.diff.modules import module_deltas
from rag_audit.diff.pairing import Pair, pair_questions
from rag_audit.diff.partition import partition
from rag_audit.diff.spread import corpus_means, noise_floor, own_means
from rag_audit.model import ArchivedRun, Cause, ClaimFlip, Comparability, MetricDelta, RunDiff, RunSummary


def compare_runs(
    before: ArchivedRun,
    after: ArchivedRun,
    *,
    metrics: Sequence[str],
    tolerance: float,
    tolerances: Mapping[str, float] | None = None,
    fail_on: Sequence[str] = (),
    allow_unverified: bool = False,
    min_n: int = 1,
    claim_flips: Sequence[ClaimFlip] = (),
    only: Sequence[str] = (),
) -> RunDiff:
    """Compare two runs question by question, over the questions that both scored.

    `metrics` are the configured ones: tested together (Holm), and gated. `tolerance` is a share of a metric's range,
    `tolerances` the exceptions. `only` restricts what is listed and gated; p-values stay those of the whole family.
    """
    runs = before.summary, after.summary
    pairing = pair_questions(before.rows, after.rows)
    matter = _subject(runs, pairing.pairs, metrics, only, Tolerance(tolerance, tolerances))
    deltas = matter.meaning(matter.usable)
    found = partition(
        pairing,
        [name for name in matter.shared if name in matter.listed],
        matter.facts,
        matter.comparable,
        lambda metric, pair: matter.matchers[metric.name](pair).same,
        questions_changed=runs[0].context.questions_hash != runs[1].context.questions_hash,
    )
    gated = matter.gated(pairing.pairs, deltas) if fail_on else []
    return RunDiff(
        before=runs[0].id,
        after=runs[1].id,
        comparable={name: matter.comparable[name] for name in matter.listed},
        context_changes=context_changes(*runs, pairing, found),
        metrics={name: deltas[name] for name in matter.listed},
        questions=found,
        claim_flips=tuple(claim_flips),
        modules=module_deltas(pairing.pairs),
        gate=check_gate(GateRules(fail_on, allow_unverified, min_n), gated, runs),
        noise_floor=noise_floor(matter.listed, before.rows, after.rows),
        own_means=own_means(matter.listed, *runs),
        by_corpus=corpus_means(matter.listed, matter.usable),
    )


@dataclass(frozen=True, slots=True)
class _Subject:
    """Which metrics two runs are compared in, whether each may be, and over which questions."""

    facts: Mapping[str, MetricFacts]
    """Every metric that either run measured."""
    shared: Sequence[str]
    """The metrics that both measured."""
    family: Sequence[str]
    """Those that are tested together."""
    listed: Sequence[str]
    gated_names: Sequence[str]
    comparable: Mapping[str, Comparability]
    judge_changed: Mapping[str, bool]
    matchers: Mapping[str, Callable[[Pair | None], JudgeMatch]]
    usable: Mapping[str, Sequence[Pair]]
    tolerance: Tolerance

    def meaning(self, usable: Mapping[str, Sequence[Pair]]) -> dict[str, MetricDelta]:
        """Every metric's difference over the given pairs, tested, adjusted and judged."""
        measured = {
            name: measure(facts, usable[name], tested=self.comparable[name].ok is not False)
            for name, facts in self.facts.items()
            if name in self.listed or name in self.family
        }
        return {
            name: judge_difference(
                self.facts[name],
                delta,
                self.comparable[name],
                self.tolerance.of(self.facts[name]),
                noise_only=self._noise_only(name, usable[name]),
            )
            for name, delta in adjust(measured, self.family).items()
        }

    def _noise_only(self, name: str, pairs: Sequence[Pair]) -> bool:
        facts = self.facts[name]
        moved = (pair for pair in pairs if (values := pair.values(name)) is not None and differs(*values))
        causes = {cause_of(facts, pair, self.matchers[name](pair).same) for pair in moved}
        return causes == {Cause.JUDGE}

    def gated(self, pairs: Sequence[Pair], deltas: Mapping[str, MetricDelta]) -> list[GatedMetric]:
        """What a gate looks at: the gated metrics over the reviewed questions."""
        reviewed = [pair for pair in pairs if pair.before.reviewed is not False and pair.after.reviewed is not False]
        if len(reviewed) < len(pairs):
            deltas = self.meaning({name: usable_pairs(facts, reviewed) for name, facts in self.facts.items()})
        return [
            GatedMetric(
                name,
                deltas[name],
                self.comparable[name],
                judged=bool(self.facts[name].roles),
                judge_changed=self.judge_changed[name],
                failed=sum(pair.before.failed(name) or pair.after.failed(name) for pair in reviewed),
            )
            for name in self.gated_names
        ]


def _subject(
    runs: tuple[RunSummary, RunSummary],
    pairs: Sequence[Pair],
    configured: Sequence[str],
    only: Sequence[str],
    tolerance: Tolerance,
) -> _Subject:
    before, after = runs
    facts = {
        name: metric_facts(name, after.metrics[name] if name in after.metrics else before.metrics[name])
        for name in metric_names(before, after)
    }
    earlier, later = judge_lookup(before), judge_lookup(after)
    matchers = {name: partial(match_pair, metric, earlier, later) for name, metric in facts.items()}
    usable = {name: usable_pairs(metric, pairs) for name, metric in facts.items()}
    comparable = {name: compare_contexts(metric, runs, pairs, matchers[name]) for name, metric in facts.items()}
    shared = shared_metrics(before, after)
    family = tested_family(configured, shared, facts)
    listed = [name for name in facts if not only or name in only]
    return _Subject(
        facts=facts,
        shared=shared,
        family=family,
        listed=listed,
        # A configured metric that only one run measured is looked at too: it must not slip through as absent.
        gated_names=[name for name in listed if name in family or name in configured or name in only],
        comparable=comparable,
        judge_changed={
            name: is_mixed(metric, before, after)
            or any(matchers[name](pair).same is False for pair in usable[name] or (None,))
            for name, metric in facts.items()
        },
        matchers=matchers,
        usable=usable,
        tolerance=tolerance,
    )
