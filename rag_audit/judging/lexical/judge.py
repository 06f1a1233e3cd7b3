"""The rules in their order: the same words, stated facts, what a sentence says or excludes, else `absent`."""

from rag_audit.judging.evidence import locate
from rag_audit.judging.lexical.claim import Finding, read_claim
from rag_audit.judging.lexical.stated import by_denial, by_facts
from rag_audit.judging.lexical.statement import by_other_name, by_statement
from rag_audit.judging.lexical.units import units_of
from rag_audit.model import Verdict

_FEWEST_WORDS = 3
_ABSENT = Finding(Verdict.ABSENT, reason="no sentence says it, and none excludes it")
_NO_SUBJECT = Finding(Verdict.ABSENT, reason="the claim does not say what it is about")


def judge_claim(claim: str, text: str) -> Finding:
    """Judge one claim against one text; `absent` wherever no rule decides."""
    read = read_claim(claim)
    verbatim = _verbatim(read.text, text)
    if verbatim:
        return verbatim
    if not (read.topic or read.names):
        return _NO_SUBJECT
    units = units_of(text)
    if not units:
        return _ABSENT
    return (
        by_denial(read, units)
        or by_facts(read, units, text)
        or by_statement(read, units, text)
        or by_other_name(read, units, text)
        or _ABSENT
    )


def _verbatim(claim: str, text: str) -> Finding | None:
    """The claim itself stands in the text and ends where a clause ends there (`is required` but not `… if`)."""
    places = locate(claim.rstrip(" .;"), text)
    if not places or len(claim.split()) < _FEWEST_WORDS:
        return None
    start, end = places[0][0], places[-1][1]
    rest = text[end:].lstrip("`*_\"' \t|")
    ends = not rest or rest[0] in ".;:!?\n)]}#"
    end += text[end : end + 1] == "."
    return Finding(Verdict.VERIFIED, start, end, "the text says it in these words") if ends else None
