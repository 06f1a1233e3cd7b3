"""The closed vocabularies of the field: verdicts, causes, reasons why a value is missing."""

from enum import StrEnum


class Verdict(StrEnum):
    """What a judge or a reviewer says of one claim."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"
    UNPARSED = "unparsed"
    """The judge's reply could not be read for this claim; never a reviewer's verdict."""


class Support(StrEnum):
    """Which part of the excerpt holds the evidence of a claim."""

    REFERENCE = "reference"
    CONTEXT = "context"
    BOTH = "both"
    NONE = "none"


class RunStatus(StrEnum):
    """Where a run stands; only incomplete and complete runs are in the ledger."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    INCOMPLETE = "incomplete"
    """Finished, but a score that was asked for is missing for a failed reason."""
    COMPLETE = "complete"


class Origin(StrEnum):
    """How a run came to be."""

    EVALUATED = "evaluated"
    IMPORTED = "imported"
    REJUDGED = "rejudged"


class Direction(StrEnum):
    """Which way a metric gets better; metrics of unknown direction never regress."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


class Queue(StrEnum):
    """The reason why a person looked at a claim."""

    SAMPLE = "sample"
    FLAGGED = "flagged"
    OTHER = "other"


class Cause(StrEnum):
    """What a changed score is due to."""

    SYSTEM = "system"
    JUDGE = "judge"
    QUESTIONS = "questions"
    ROUTING = "routing"
    UNKNOWN = "unknown"


class MetricVerdict(StrEnum):
    """What the difference of one metric between two runs means."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not_comparable"


class FlagName(StrEnum):
    """Reasons why a person should look at a claim or a question."""

    CONTRADICTED_CITES_SOURCE = "contradicted_cites_source"
    ABSENT_BUT_PRESENT = "absent_but_present"
    BLIND_SPOT = "blind_spot"
    QUOTE_NOT_FOUND = "quote_not_found"
    SKIPPED_LOOKUP = "skipped_lookup"
    SCORE_CLAIMS_DISAGREE = "score_claims_disagree"
    SELF_JUDGED = "self_judged"
    MISROUTED = "misrouted"
    CONTEXT_CONFLICTS_REFERENCE = "context_conflicts_reference"
    TRUNCATED = "truncated"
    JUDGE_DIRECTED_TEXT = "judge_directed_text"
    EMPTY_OR_REFUSED = "empty_or_refused"
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    """One retrieved text supports the claim and another contradicts it."""
    SCORES_REPEAT_MEAN = "scores_repeat_mean"
    """An imported file gives every row the same score: the mean, not a measurement."""


UNKNOWN = "unknown"
"""A context value nobody recorded; it is equal to nothing, not even to another unknown."""

NOT_APPLICABLE = frozenset({"unanswerable", "no_claims", "no_keywords", "no_relevant", "not_asked"})
"""Missing reasons that are no failure; every other reason is a failed one."""


def is_failed(reason: str) -> bool:
    """Whether a missing reason means that a score was asked for and could not be had."""
    return reason not in NOT_APPLICABLE
