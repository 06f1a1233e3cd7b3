"""Compares two archived runs; every number of a screen, a report or a gate comes from the value made here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rag_audit.diff.causes import cause_of
from rag_audit.diff.columns import Column, ColumnReader, module_codes
from rag_audit.diff.comparability import compare_contexts, is_mixed, judge_lookup
from rag_audit.diff.context import context_changes
from rag_audit.diff.facts import metric_facts, metric_names, shared_metrics, tested_family
from rag_audit.diff.gate import GatedMetric, GateRules, check_gate
from rag_audit.diff.meaning import Tolerance, adjust, judge_difference, measure
from rag_audit.diff.modules import module_deltas
from rag_audit.diff.pairing import Pair, pair_questions
from rag_audit.diff.partition import partition, still_failing
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
    deltas = matter.meaning(matter.columns, pairing.pairs)
    listed = {name: matter.columns[name] for name in matter.listed}
    found = partition(
        pairing,
        [column for name, column in listed.items() if name in matter.shared],
        matter.comparable,
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
        modules=module_deltas(pairing.pairs, matter.columns),
        gate=check_gate(GateRules(fail_on, allow_unverified, min_n), gated, runs),
        noise_floor=noise_floor(matter.listed, before.rows, after.rows),
        own_means=own_means(matter.listed, *runs),
        by_corpus=corpus_means(listed, pairing.pairs),
        still_failing=still_failing(list(listed.values()), pairing.pairs),
    )


@dataclass(frozen=True, slots=True)
class _Subject:
    """Which metrics two runs are compared in, whether each may be, and over which questions."""

    columns: Mapping[str, Column]
    """Every metric that either run measured."""
    shared: Sequence[str]
    """The metrics that both measured."""
    family: Sequence[str]
    """Those that are tested together."""
    listed: Sequence[str]
    gated_names: Sequence[str]
    comparable: Mapping[str, Comparability]
    mixed: Mapping[str, bool]
    """Whether a run's own judge of the metric changed while it ran."""
    tolerance: Tolerance

    def meaning(self, columns: Mapping[str, Column], pairs: Sequence[Pair]) -> dict[str, MetricDelta]:
        """Every metric's difference over the usable pairs, tested, adjusted and judged."""
        _, modules = module_codes(pairs)
        measured = {
            name: measure(column, modules, tested=self.comparable[name].ok is not False)
            for name, column in columns.items()
            if name in self.listed or name in self.family
        }
        return {
            name: judge_difference(
                columns[name].facts,
                delta,
                self.comparable[name],
                self.tolerance.of(columns[name].facts),
                noise_only=partial(_noise_only, columns[name], pairs),
            )
            for name, delta in adjust(measured, self.family).items()
        }

    def gated(self, pairs: Sequence[Pair], deltas: Mapping[str, MetricDelta]) -> list[GatedMetric]:
        """What a gate looks at: the gated metrics over the reviewed questions."""
        reviewed = [
            at
            for at, pair in enumerate(pairs)
            if pair.before.reviewed is not False and pair.after.reviewed is not False
        ]
        if len(reviewed) < len(pairs):
            import numpy as np

            columns = {
                name: replace(column, usable=np.intersect1d(column.usable, np.array(reviewed, dtype=np.int64)))
                for name, column in self.columns.items()
            }
            deltas = self.meaning(columns, pairs)
        return [
            GatedMetric(
                name,
                deltas[name],
                self.comparable[name],
                judged=bool(self.columns[name].facts.roles),
                judge_changed=self.mixed[name] or self.columns[name].judge_changed,
                failed=sum(pairs[at].before.failed(name) or pairs[at].after.failed(name) for at in reviewed),
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
    reader = ColumnReader(pairs, judge_lookup(before), judge_lookup(after))
    facts = {
        name: metric_facts(name, after.metrics[name] if name in after.metrics else before.metrics[name])
        for name in metric_names(before, after)
    }
    columns = {name: reader.read(metric) for name, metric in facts.items()}
    shared = shared_metrics(before, after)
    family = tested_family(configured, shared, facts)
    listed = [name for name in facts if not only or name in only]
    return _Subject(
        columns=columns,
        shared=shared,
        family=family,
        listed=listed,
        # A configured metric that only one run measured is looked at too: it must not slip through as absent.
        gated_names=[name for name in listed if name in family or name in configured or name in only],
        comparable={name: comparability(column, runs) for name, column in columns.items()},
        mixed={name: is_mixed(metric, before, after) for name, metric in facts.items()},
        tolerance=tolerance,
    )


def comparability(column: Column, runs: tuple[RunSummary, RunSummary]) -> Comparability:
    """Whether one metric of two runs may be compared."""
    return compare_contexts(column.facts, runs, column.matches, column.scored - len(column.usable))


def _noise_only(column: Column, pairs: Sequence[Pair]) -> bool:
    """Whether values moved, and all that moved belong to answers and chunks that did not change."""
    moved = column.moved().keys() & set(column.usable.tolist())
    return bool(moved) and all(cause_of(column.facts, pairs[at], column.judges[at].same) is Cause.JUDGE for at in moved)
