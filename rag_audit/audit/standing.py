"""Which decisions of a set hold: undone, changed and adjudicated ones resolved, whatever the order they come in."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_audit.fingerprint import fingerprint
from rag_audit.model import Decision, Queue

SKIP = "skip"
"""The verdict "cannot judge"."""

ClaimKey = tuple[str, int | None, str]
"""(question id, repeat, claim id); an added claim is known by the hash of its text, not by its number."""


def claim_hash(text: str) -> str:
    """Identify a claim's text."""
    return fingerprint((text,))


def added_key(question_id: str, repeat: int | None, text_hash: str | None) -> ClaimKey:
    """The key of a claim that a reviewer added: two people who add the same text add one claim."""
    return question_id, repeat, f"+{text_hash}"


def claim_key(decision: Decision) -> ClaimKey:
    """The claim that a verdict, an adjudication or an added claim is about."""
    claim = decision.claim_id or ""
    if decision.kind == "added_claim" or claim.startswith("m"):
        return added_key(decision.question_id, decision.repeat, decision.claim_hash)
    return decision.question_id, decision.repeat, claim


def is_on_judged_claim(decision: Decision) -> bool:
    """Whether a decision says what holds of a claim that the judge listed."""
    listed = bool(decision.claim_id) and not str(decision.claim_id).startswith("m")
    return decision.kind in ("verdict", "adjudication") and listed


def subject(decision: Decision) -> ClaimKey:
    """What a decision is about: a claim, or one score of an answer."""
    if decision.kind == "score":
        return decision.question_id, decision.repeat, f"score {decision.metric}"
    return claim_key(decision)


@dataclass(frozen=True, slots=True)
class Standing:
    """A set of decisions, resolved."""

    ordered: tuple[Decision, ...]
    """Each decision once, by time."""
    in_force: tuple[Decision, ...]
    """What people say now, by time: neither undone nor replaced; no undo among them."""
    undone: frozenset[str]
    """Ids taken back by an undo that itself holds."""
    voided: frozenset[str]
    """Of those, the blind ones taken back before the judge's verdict was seen: they never counted."""
    replaced: frozenset[str]
    """Ids changed by a later decision of the same reviewer, or settled by an adjudication."""


def resolve(decisions: Iterable[Decision]) -> Standing:
    """Resolve a set of decisions: doubles, order and the files they were merged from do not matter.

    An undo, and a change, count only for decisions of the same reviewer; an adjudication settles anyone's.
    """
    by_id = {decision.id: decision for decision in decisions}
    ordered = sorted(by_id.values(), key=lambda decision: (decision.time, decision.id))
    undos: defaultdict[str, list[Decision]] = defaultdict(list)
    changes: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in ordered:
        for target in decision.supersedes:
            own = target in by_id and by_id[target].reviewer == decision.reviewer
            if decision.kind == "undo" and own:
                undos[target].append(decision)
            elif decision.kind == "adjudication" or (decision.kind != "undo" and own):
                changes[target].append(decision)

    undone: dict[str, bool] = {}

    def is_undone(decision_id: str) -> bool:
        if decision_id not in undone:
            undone[decision_id] = any(not is_undone(undo.id) for undo in undos[decision_id])
        return undone[decision_id]

    def is_voided(decision: Decision) -> bool:
        return decision.blind and any(not undo.informed and not is_undone(undo.id) for undo in undos[decision.id])

    replaced = {target for target, by in changes.items() if any(not is_undone(change.id) for change in by)}
    return Standing(
        ordered=tuple(ordered),
        in_force=tuple(
            decision
            for decision in ordered
            if decision.kind != "undo" and decision.id not in replaced and not is_undone(decision.id)
        ),
        undone=frozenset(decision.id for decision in ordered if is_undone(decision.id)),
        voided=frozenset(decision.id for decision in ordered if is_voided(decision)),
        replaced=frozenset(replaced),
    )


def decided_by(standing: Standing, reviewer: str) -> frozenset[ClaimKey]:
    """The judged claims and scores that a reviewer has decided: what was undone does not count, what was changed or
    settled by somebody's adjudication since does."""
    return frozenset(
        subject(decision)
        for decision in standing.ordered
        if decision.reviewer == reviewer
        and decision.id not in standing.undone
        and (decision.kind == "score" or is_on_judged_claim(decision))
    )


def first_blind(standing: Standing, drawn: Iterable[str]) -> list[Decision]:
    """The first blind decision of each reviewer on each claim (and score) of the drawn questions, by time.

    Only what was decided in the sample's own queue, before that reviewer had decided it with the judge's verdict or
    the flags in view; what was voided never counted, and a later change moves nothing.
    """
    questions = frozenset(drawn)
    settled: set[tuple[str, ClaimKey]] = set()
    found: list[Decision] = []
    for decision in standing.ordered:
        about = (decision.reviewer, subject(decision))
        if decision.kind not in ("verdict", "score") or decision.id in standing.voided or about in settled:
            continue
        if not decision.blind or decision.informed or decision.queue is Queue.FLAGGED:
            settled.add(about)
        elif decision.queue is Queue.SAMPLE and decision.question_id in questions:
            settled.add(about)
            found.append(decision)
    return found


def first_unblinded(standing: Standing, blind: Sequence[Decision]) -> list[Decision]:
    """Each reviewer's standing unblinded verdict on a claim where none of theirs is in `blind`.

    The flagged queue is left out: it is a targeted sample.
    """
    decided_blind = {(decision.reviewer, subject(decision)) for decision in blind}
    latest: dict[tuple[str, ClaimKey], Decision] = {}
    for decision in standing.in_force:
        if decision.kind == "verdict" and not decision.blind and decision.queue is not Queue.FLAGGED:
            latest[decision.reviewer, subject(decision)] = decision
    return [decision for about, decision in latest.items() if about not in decided_blind]
