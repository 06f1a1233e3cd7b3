"""The claim judge's request and reply: what it is sent, how its list is read, and what the code makes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_audit.judging.answers import states_specifics
from rag_audit.judging.evidence import locate_quote, support_of
from rag_audit.judging.prompts import Prompt, fenced, fenced_context, fenced_passages, load_prompt
from rag_audit.judging.replies import UnusableReply, json_object
from rag_audit.model import Claim, Excerpt, Question, Verdict

VERDICTS = ("verified", "contradicted", "absent")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ListedClaim:
    """One entry of the judge's list; a verdict that is none of the three is unparsed."""

    key: str
    """The claim's text, or the id of a given claim."""
    verdict: Verdict
    quote: str
    reason: str


def claims_prompt(claims: Sequence[Claim] | None) -> Prompt:
    """The prompt that lists claims, or the one that judges given ones."""
    return load_prompt("judge_claims" if claims is None else "judge_given_claims")


def claims_request(question: Question, answer: str, excerpt: Excerpt, claims: Sequence[Claim] | None) -> str:
    """The judge's request: question, source in two parts, answer, and the given claims."""
    parts = {
        "question": fenced(question.question),
        "context": fenced_context(question.context),
        "reference": fenced_passages(excerpt.reference),
        "passages": fenced_passages(excerpt.context),
        "answer": fenced(answer),
        "claims": "\n".join(f"{claim.id}: {fenced(claim.text)}" for claim in claims or ()),
    }
    return claims_prompt(claims).filled(parts)


def claims_schema(claims: Sequence[Claim] | None) -> Mapping[str, Any]:
    """The JSON schema of the reply."""
    key = "claim" if claims is None else "id"
    entry = {
        "type": "object",
        "properties": {
            key: {"type": "string"},
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "quote": {"type": "string"},
            "reason": {"type": "string"},
        },
        "required": [key, "verdict", "quote", "reason"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"claims": {"type": "array", "items": entry}},
        "required": ["claims"],
        "additionalProperties": False,
    }


def read_claims(reply: str, stop_reason: str | None, answer: str, claims: Sequence[Claim] | None) -> list[ListedClaim]:
    """The judge's list; UnusableReply where it is not exactly what was asked for."""
    listed = salvage_claims(reply, stop_reason, claims)
    for entry in listed:
        if entry.verdict is Verdict.UNPARSED:
            raise UnusableReply("unknown_verdict", f"“{entry.key[:_SHOWN]}” has no verdict of {', '.join(VERDICTS)}")
        if entry.verdict is Verdict.VERIFIED and not entry.quote.strip():
            raise UnusableReply("missing_quote", f"“{entry.key[:_SHOWN]}” is verified without a quote")
    if claims is not None:
        _check_ids([entry.key for entry in listed], [claim.id for claim in claims])
    elif not listed and (specifics := states_specifics(answer)):
        raise UnusableReply("skipped_lookup", f"the list is empty, but the answer states {', '.join(specifics[:5])}")
    return listed


def salvage_claims(reply: str, stop_reason: str | None, claims: Sequence[Claim] | None) -> list[ListedClaim]:
    """What can be read of a list: entries with a text or id, a wrong verdict as unparsed; UnusableReply if no list."""
    entries = json_object(reply, stop_reason).get("claims")
    if not isinstance(entries, list):
        raise UnusableReply("missing_claims", "there is no list “claims”")
    key = "claim" if claims is None else "id"
    listed = []
    for number, entry in enumerate(entries, start=1):
        name = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name.strip():
            raise UnusableReply("missing_claims", f"entry {number} has no “{key}”")
        verdict = entry.get("verdict")
        listed.append(
            ListedClaim(
                key=name.strip(),
                verdict=Verdict(verdict) if verdict in VERDICTS else Verdict.UNPARSED,
                quote=_text(entry.get("quote")),
                reason=_text(entry.get("reason")),
            )
        )
    return listed


def judged_claims(listed: Sequence[ListedClaim], excerpt: Excerpt, claims: Sequence[Claim] | None) -> tuple[Claim, ...]:
    """The claims with verdict, quote and where the quote really is; identical ones merged and counted.

    Given claims keep their ids and texts, and one that the judge left out is unparsed. Identical claims with different
    verdicts are unparsed: the judge has not decided.
    """
    if claims is not None:
        by_id = {entry.key: entry for entry in listed}
        return tuple(_judged(claim, by_id.get(claim.id), excerpt) for claim in claims)
    merged: dict[str, list[ListedClaim]] = {}
    for entry in listed:
        merged.setdefault(" ".join(entry.key.split()).casefold(), []).append(entry)
    judged = []
    for number, same in enumerate(merged.values(), start=1):
        claim = Claim(f"c{number}", same[0].key, Verdict.UNPARSED, count=len(same))
        undecided = len({entry.verdict for entry in same}) > 1
        judged.append(_judged(claim, None if undecided else same[0], excerpt))
    return tuple(judged)


def _judged(claim: Claim, entry: ListedClaim | None, excerpt: Excerpt) -> Claim:
    if entry is None:
        return replace(claim, verdict=Verdict.UNPARSED, evidence=None, evidence_spans=(), reason=None)
    spans = locate_quote(entry.quote, excerpt)
    return replace(
        claim,
        verdict=entry.verdict,
        evidence=entry.quote.strip() or None,
        evidence_spans=spans,
        support=support_of(spans),
        reason=entry.reason or None,
    )


def _check_ids(listed: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [id_ for id_ in wanted if id_ not in listed]
    if missing:
        raise UnusableReply("missing_claims", f"there is no verdict for {', '.join(missing)}")
    if len(listed) != len(wanted) or set(listed) != set(wanted):
        raise UnusableReply("extra_claims", f"exactly these ids were asked for: {', '.join(wanted)}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
