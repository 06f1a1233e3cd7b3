"""Names what a changed score of one question is due to: routing, judge, questions, system, or nobody can tell."""

from rag_audit.diff.facts import MetricFacts
from rag_audit.diff.pairing import Pair
from rag_audit.fingerprint import fingerprint
from rag_audit.model import Cause

_NOTHING_RETRIEVED = fingerprint(())


def cause_of(facts: MetricFacts, pair: Pair, judge_same: bool | None, *, questions_changed: bool = False) -> Cause:
    """The cause of one metric's change in one question.

    Another route explains everything below it. A judged value with the same answer and chunks can only have moved
    because of its judge (another one, or noise of the same); an identical answer under another judge is the judge's
    too. Another answer or other chunks are the system's, if the judge is known to be the same. `questions_changed`:
    the question sets differ, which can move relevance without moving a question's text.
    """
    if not pair.route_same:
        return Cause.ROUTING
    if facts.roles:
        return _judged(pair, judge_same)
    return _computed(facts, pair, questions_changed)


def _judged(pair: Pair, judge_same: bool | None) -> Cause:
    if pair.answer_same and (pair.chunks_same or judge_same is False):
        return Cause.JUDGE
    if pair.answer_same is None and pair.chunks_same:
        return Cause.UNKNOWN
    return Cause.SYSTEM if judge_same else Cause.UNKNOWN


def _computed(facts: MetricFacts, pair: Pair, questions_changed: bool) -> Cause:
    """Retrieval metrics follow the chunks and keyword coverage the answer; the other only where nothing better is."""
    chunks_recorded = pair.before.context != _NOTHING_RETRIEVED
    if not pair.chunks_same and (facts.retrieval or pair.answer_same is None):
        return Cause.SYSTEM
    if pair.answer_same is False and not (facts.retrieval and chunks_recorded):
        return Cause.SYSTEM
    return Cause.QUESTIONS if facts.retrieval and questions_changed else Cause.UNKNOWN


def text_cause(pair: Pair) -> Cause:
    """The cause of a change that no metric shows: another route, answer or chunks; else the judge's reading."""
    if not pair.route_same:
        return Cause.ROUTING
    return Cause.JUDGE if pair.answer_same and pair.chunks_same else Cause.SYSTEM
