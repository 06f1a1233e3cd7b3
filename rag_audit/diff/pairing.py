"""Pairs the questions of two runs by id, repeats grouped under their question; lists what cannot be paired."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rag_audit.metrics import mean
from rag_audit.model import UNKNOWN, QuestionRow, is_failed

NO_SCORE = "no_score"
"""The reason of a score that is missing without one; it counts as failed."""
_NO_ANSWER = "failed"
"""In place of the hash of an answer that was asked for and did not come."""


Hashes = str | None | frozenset[str | None]
"""The one hash of a question's repeats, or all of them where they differ."""


class QuestionSide(NamedTuple):
    """One question in one run: its mean over repeats, and the hashes that name causes."""

    id: str
    doc_id: str | None
    corpus: str
    scores: Mapping[str, float | None]
    """Metric to the mean over the repeats that have a value."""
    missing: Mapping[str, str]
    """Metric to the reason; also of one that a repeat lacks for a failed reason while others have it."""
    verdicts: Mapping[str, int]
    corpora: frozenset[str]
    """The corpora it was sent to; empty where that is not recorded."""
    question: Hashes
    answer: Hashes
    context: Hashes
    excerpt: Hashes
    judges: Mapping[str, str | None]
    """Role to the judge's identity text; None where repeats have several."""
    reviewed: bool | None

    def reason(self, metric: str) -> str:
        """Why the metric has no value here."""
        return self.missing.get(metric, NO_SCORE)

    def failed(self, metric: str) -> bool:
        """Whether the metric has no value, in any repeat, although it was asked for."""
        lacks = self.scores.get(metric) is None or metric in self.missing
        return lacks and is_failed(self.reason(metric))


def _agreed(before: str | None, after: str | None) -> str | None:
    """What both sides say, or the only one that says anything; None where they differ."""
    return before if after is None or before == after else after if before is None else None


class Pair(NamedTuple):
    """The same question in both runs."""

    before: QuestionSide
    after: QuestionSide

    @property
    def id(self) -> str:
        """The question's id."""
        return self.before.id

    @property
    def doc_id(self) -> str | None:
        """The module it counts for; None where neither run names one, or they name two."""
        return _agreed(self.before.doc_id, self.after.doc_id)

    @property
    def corpus(self) -> str | None:
        """The corpus it counts for in both runs; None where it counts for two."""
        if self.before.corpus == self.after.corpus:
            return self.before.corpus
        known = (None if side.corpus == UNKNOWN else side.corpus for side in (self.before, self.after))
        return _agreed(*known)

    @property
    def answer_same(self) -> bool | None:
        """Whether the answers are byte-identical; None where a run does not record one."""
        before, after = self.before.answer, self.after.answer
        if before is None or after is None:
            return None
        if isinstance(before, str) and isinstance(after, str):
            return before == after
        unrecorded = any(isinstance(answer, frozenset) and None in answer for answer in (before, after))
        return None if unrecorded else before == after

    @property
    def chunks_same(self) -> bool:
        """Whether the retrieved chunks and their order are identical."""
        return self.before.context == self.after.context

    @property
    def route_same(self) -> bool:
        """Whether the question went to the same corpora, as far as both runs record it."""
        before, after = self.before.corpora, self.after.corpora
        return before == after or not before or not after

    @property
    def excerpt_same(self) -> bool:
        """Whether the claim judges read the same reference excerpt."""
        return self.before.excerpt == self.after.excerpt

    def values(self, metric: str) -> tuple[float, float] | None:
        """Both values of a metric, or None where either is missing."""
        before, after = self.before.scores.get(metric), self.after.scores.get(metric)
        return None if before is None or after is None else (before, after)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The questions of two runs: paired ones in the order of their ids, and those that cannot be compared."""

    pairs: tuple[Pair, ...]
    edited: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def pair_questions(before: Sequence[QuestionRow], after: Sequence[QuestionRow]) -> Pairing:
    """Pair by id; a question whose text, reference answer or keywords differ is edited, not paired."""
    earlier, later = question_sides(before), question_sides(after)
    common = sorted(earlier.keys() & later.keys())
    edited = tuple(name for name in common if earlier[name].question != later[name].question)
    apart = frozenset(edited)
    return Pairing(
        pairs=tuple(Pair(earlier[name], later[name]) for name in common if name not in apart),
        edited=edited,
        added=tuple(sorted(later.keys() - earlier.keys())),
        removed=tuple(sorted(earlier.keys() - later.keys())),
    )


def question_sides(rows: Sequence[QuestionRow]) -> dict[str, QuestionSide]:
    """Every question of a run by its id, its repeats condensed."""
    groups: defaultdict[str, list[QuestionRow]] = defaultdict(list)
    for row in rows:
        groups[row.id].append(row)
    return {name: question_side(group) for name, group in groups.items()}


@lru_cache(maxsize=1024)
def _corpora(route: tuple[str, ...]) -> frozenset[str]:
    return frozenset(route)


def question_side(rows: Sequence[QuestionRow]) -> QuestionSide:
    """Condense the repeats of one question; a single row keeps its own values."""
    first = rows[0]
    if len(rows) == 1:
        return QuestionSide(
            first.id,
            first.doc_id,
            first.corpus,
            first.scores,
            first.missing,
            first.verdicts,
            _corpora(tuple(first.route)),
            first.question_hash,
            _answer(first),
            first.context_hash,
            first.excerpt_hash,
            first.judges,
            first.reviewed,
        )
    scores, missing = _over_repeats(rows)
    return QuestionSide(
        first.id,
        first.doc_id,
        first.corpus,
        scores,
        missing,
        _total_verdicts(rows),
        frozenset(corpus for row in rows for corpus in row.route),
        _hashes(row.question_hash for row in rows),
        _hashes(map(_answer, rows)),
        _hashes(row.context_hash for row in rows),
        _hashes(row.excerpt_hash for row in rows),
        _judges(rows),
        first.reviewed,
    )


def _answer(row: QuestionRow) -> str | None:
    return _NO_ANSWER if row.answer_hash is None and row.error else row.answer_hash


def _hashes(found: Iterable[str | None]) -> Hashes:
    distinct = frozenset(found)
    return next(iter(distinct)) if len(distinct) == 1 else distinct


def _over_repeats(rows: Sequence[QuestionRow]) -> tuple[dict[str, float | None], dict[str, str]]:
    """Each metric's mean over the repeats that have a value; a failed reason outranks one that is not applicable."""
    scores: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    for metric in dict.fromkeys(name for row in rows for name in (*row.scores, *row.missing)):
        scores[metric] = mean(value for row in rows if (value := row.scores.get(metric)) is not None)
        reasons = [row.missing.get(metric, NO_SCORE) for row in rows if row.scores.get(metric) is None]
        failed = next(filter(is_failed, reasons), None)
        if failed or len(reasons) == len(rows):
            missing[metric] = failed or reasons[0]
    return scores, missing


def _total_verdicts(rows: Iterable[QuestionRow]) -> dict[str, int]:
    total: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        for verdict, count in row.verdicts.items():
            total[verdict] += count
    return dict(total)


def _judges(rows: Sequence[QuestionRow]) -> dict[str, str | None]:
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        for role, text in row.judges.items():
            texts[role].add(text)
    return {role: next(iter(found)) if len(found) == 1 else None for role, found in texts.items()}
