"""Loads two runs of a history and compares them; finds the run that a new one is best compared with."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from rag_audit.diff import compare_runs
from rag_audit.diff.claims import claim_flips, worst_first
from rag_audit.diff.columns import ColumnReader
from rag_audit.diff.comparability import compare_contexts, judge_lookup
from rag_audit.diff.facts import metric_facts, shared_metrics
from rag_audit.diff.pairing import Pair, QuestionSide, pair_questions
from rag_audit.diff.partition import unscored_metrics
from rag_audit.diff.several import SeveralRuns, follow_runs
from rag_audit.errors import HistoryError, UsageError
from rag_audit.export.diff_report import DiffReport, QuestionPair
from rag_audit.history import History, JudgedClaims
from rag_audit.metrics import METRICS
from rag_audit.model import (
    ArchivedRun,
    Claim,
    ClaimFlip,
    RunDiff,
    RunSummary,
)
from rag_audit.model.settings import Settings

EVIDENCE = 200
"""Questions whose evidence a report opens, worst first."""


def diff_runs(
    history: History,
    before_ref: str,
    after_ref: str,
    settings: Settings,
    *,
    fail_on: Sequence[str] = (),
    allow_unverified: bool = False,
    only: Sequence[str] = (),
    tolerance: float | None = None,
    tolerances: Mapping[str, float] | None = None,
    with_claims: bool = True,
) -> RunDiff:
    """Compare two runs named as on the command line, under the project's `diff.*` settings.

    A `tolerance` given here replaces all configured ones, `tolerances` are exceptions to it. Without `with_claims` only
    the ledger is read.
    """
    before, after = (history.archived(history.resolve(ref).id) for ref in (before_ref, after_ref))
    _check_metrics(only, before.summary, after.summary)
    configured = {name: float(share) for name, share in settings.mapping("diff.tolerances").items()}
    return compare_runs(
        before,
        after,
        metrics=settings.items("diff.metrics"),
        tolerance=settings.number("diff.tolerance") if tolerance is None else tolerance,
        tolerances={**(configured if tolerance is None else {}), **(tolerances or {})},
        fail_on=fail_on,
        allow_unverified=allow_unverified,
        min_n=settings.integer("diff.min_n"),
        claim_flips=flipped_claims(history, before, after) if with_claims else (),
        only=only,
    )


def report_diff(history: History, diff: RunDiff, *, evidence: int = EVIDENCE) -> DiffReport:
    """A diff with what a report shows beside it; opens the evidence of at most so many questions."""
    before, after = (history.archived(run_id) for run_id in (diff.before, diff.after))
    pairs = {pair.id: pair for pair in pair_questions(before.rows, after.rows).pairs}
    wanted = [
        *(delta.id for delta in diff.questions.regressed),
        *(name for module in diff.modules if module.collapse for name in module.questions),
        *(delta.id for delta in diff.questions.improved),
        *(delta.id for delta in diff.questions.changed if delta.metrics),
    ]
    opened = {name: _pair_or_none(history, diff, name) for name in list(dict.fromkeys(wanted))[:evidence]}
    return DiffReport(
        diff,
        before.summary,
        after.summary,
        history.head(),
        evidence={name: pair for name, pair in opened.items() if pair is not None},
        unscored_why={name: unscored_metrics(pairs[name], list(diff.metrics)) for name in diff.questions.unscored},
    )


def _pair_or_none(history: History, diff: RunDiff, question_id: str) -> QuestionPair | None:
    """The evidence of one question, unless its run file is missing or damaged: the ledger's numbers stand without."""
    try:
        return question_pair(history, diff, question_id)
    except HistoryError:
        return None


def question_pair(history: History, diff: RunDiff, question_id: str) -> QuestionPair:
    """One question as both runs saw it: its first repeat."""
    return QuestionPair(history.result(diff.before, question_id), history.result(diff.after, question_id))


def follow(
    history: History, runs: Sequence[RunSummary], settings: Settings, *, only: Sequence[str] = ()
) -> SeveralRuns:
    """Follow every question through three or more runs, in the order given."""
    _check_metrics(only, *runs)
    return follow_runs(
        [history.archived(run.id) for run in runs],
        metrics=settings.items("diff.metrics"),
        tolerance=settings.number("diff.tolerance"),
        only=only,
    )


def _check_metrics(only: Sequence[str], *runs: RunSummary) -> None:
    known = {*METRICS, *(name for run in runs for name in run.metrics)}
    for name in only:
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(sorted(known))}."
            raise UsageError(f"no metric {name}", hint)


def flipped_claims(history: History, before: ArchivedRun, after: ArchivedRun) -> tuple[ClaimFlip, ...]:
    """The claims whose verdict differs between two runs, over the unedited questions that both have; worst first.

    Repeats are compared with the repeat of the same place; those that only one run has are left out.
    """
    pairing = pair_questions(before.rows, after.rows)
    wanted = {
        pair.id
        for pair in pairing.pairs
        if _judged(pair.before) and _judged(pair.after) and (pair.before.verdicts or pair.after.verdicts)
    }
    if not wanted:
        return ()
    earlier = _claims(history.claims(before.summary.id), wanted)
    later = _claims(history.claims(after.summary.id), wanted)
    flips = (
        flip
        for name in wanted
        for before_claims, after_claims in zip(_in_order(earlier[name]), _in_order(later[name]), strict=False)
        for flip in claim_flips(name, before_claims, after_claims)
    )
    return worst_first(flips)


def _judged(side: QuestionSide) -> bool:
    """Whether the claim judge did its work: it listed claims, or found that there are none."""
    return bool(side.verdicts) or side.missing.get("no_fabrication") == "no_claims"


ClaimsByRepeat = dict[int, Sequence[Claim]]


def _claims(judged: Iterable[JudgedClaims], wanted: set[str]) -> defaultdict[str, ClaimsByRepeat]:
    found: defaultdict[str, ClaimsByRepeat] = defaultdict(dict)
    for one in judged:
        if one.question_id in wanted:
            found[one.question_id][one.repeat or 0] = one.claims
    return found


def _in_order(claims: ClaimsByRepeat) -> list[Sequence[Claim]]:
    return [claims[repeat] for repeat in sorted(claims)]


def previous_comparable(history: History, run_id: str) -> RunSummary | None:
    """The run that this one is best compared with: the latest earlier one whose numbers mean the same.

    It shares unedited questions and at least one metric, and every shared metric is comparable. One that shares less
    than half of the questions, or lacks a metric that this one measured (a trial of a few questions, a run without
    judges), is only taken where no earlier one shares more. Where there is none, the latest earlier one in which
    nothing is known to stand against it (unverified); else None.
    """
    runs = history.summaries()
    place = next((at for at, run in enumerate(runs) if run.id == run_id), None)
    if place is None:
        return None
    after = history.archived(run_id)
    asked = {row.id for row in after.rows}
    narrow: RunSummary | None = None
    unverified: RunSummary | None = None
    for earlier in reversed(runs[:place]):
        # What the contexts alone rule out need not be read.
        if _comparable(earlier, after.summary, ()) is False:
            continue
        has_metrics = len(shared_metrics(earlier, after.summary)) == len(shared_metrics(after.summary, after.summary))
        if narrow and not has_metrics:
            continue
        pairs = pair_questions(history.archived(earlier.id).rows, after.rows).pairs
        verified = _comparable(earlier, after.summary, pairs) if pairs else False
        if verified and has_metrics and 2 * len(pairs) >= len(asked):
            return earlier
        if verified and narrow is None:
            narrow = earlier
        if verified is None and unverified is None:
            unverified = earlier
    return narrow or unverified


def _comparable(before: RunSummary, after: RunSummary, pairs: Sequence[Pair]) -> bool | None:
    """Whether all shared metrics of two runs may be compared; None: unverified; False also where they share none.

    Excerpts do not count: an edited document is no reason to compare with an older run.
    """
    reader = ColumnReader(pairs, judge_lookup(before), judge_lookup(after))
    columns = [reader.read(metric_facts(name, after.metrics[name])) for name in shared_metrics(before, after)]
    verdicts = {compare_contexts(column.facts, (before, after), column.matches).ok for column in columns}
    return False if not verdicts or False in verdicts else None if None in verdicts else True
