"""The state of one person's audit of one question: what stands, what was seen, what a key decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from rag_audit.audit.carried import Offer, carried_offers
from rag_audit.audit.effective import Decisions, said_of
from rag_audit.audit.recording import Act, Case, add_claim, adjudicate, decide_claim, score_answer, undo
from rag_audit.audit.standing import ClaimKey, added_key, decided_by, subject
from rag_audit.auditing import now
from rag_audit.model import AuditSample, Claim, Decision, Flag, QuestionResult, Queue, RunSummary, Verdict
from rag_audit.tui.blindness import SCORES
from rag_audit.tui.source import Source


@dataclass(frozen=True, slots=True)
class Item:
    """One claim on the desk with what may be shown of it."""

    claim: Claim
    added: bool
    """Added by a person: the judge never saw it."""
    decision: Decision | None
    """The reviewer's own decision in force."""
    open: bool
    """Whether the judge's side may be shown."""
    flags: tuple[Flag, ...] = ()
    """Empty while the judge's side is hidden."""
    others: tuple[Decision, ...] = ()
    """What other reviewers say; empty while blind."""
    offer: Offer | None = None
    """This reviewer's decision on the same claim in an earlier run; none while blind or once decided."""

    @property
    def disputed(self) -> bool:
        """Whether reviewers differ."""
        return len(said_of(d for d in (self.decision, *self.others) if d is not None)) > 1


class Notebook:
    """All decisions on one run as this session knows them, and what this reviewer has seen of the judge."""

    def __init__(
        self, source: Source, run: RunSummary, decisions: Sequence[Decision], sample: AuditSample | None
    ) -> None:
        self.source = source
        self.run = run
        self.sample = sample
        self.asked: dict[str, int] = {}
        """Drawn question to its claims, over all repeats."""
        if sample is not None:
            drawn = frozenset(sample.questions)
            for row in source.run(run.id).rows:
                if row.id in drawn:
                    self.asked[row.id] = self.asked.get(row.id, 0) + sum(row.verdicts.values())
        self._listed = [d for d in decisions if d.run_id == run.id]
        self.earlier = Decisions(d for d in decisions if d.run_id != run.id)
        """What was decided on the other runs."""
        self.resolved = Decisions(self._listed)
        self.seen = source.seen[run.id]
        """The claims and scores of the run whose judge's side this reviewer has seen."""
        self.remember_reveals()

    def remember_reveals(self) -> None:
        """Take note of the judge's side that this reviewer's earlier decisions opened: all not taken back before it."""
        standing = self.resolved.standing
        own = (d for d in standing.ordered if d.reviewer == self.source.reviewer and d.kind in {"verdict", "score"})
        self.seen |= {subject(d) for d in own if d.id not in standing.voided}

    def keep(self, draft: Decision) -> Decision:
        """Put a decision on disk, then take note of it."""
        decision = self.source.record(draft)
        self._listed.append(decision)
        self.resolved = Decisions(self._listed)
        return decision

    def pace_s(self) -> float | None:
        """Median seconds this reviewer takes for a decision on the run; None before the third one."""
        own = (d for d in self.resolved.standing.in_force if d.reviewer == self.source.reviewer)
        taken = sorted(d.seconds for d in own if d.seconds is not None)
        return taken[len(taken) // 2] if len(taken) >= 3 else None

    def left(self) -> int:
        """Claims of the sample that this reviewer has not decided."""
        decided = decided_by(self.resolved.standing, self.source.reviewer)
        return sum(self.asked.values()) - sum(
            question in self.asked and not about.startswith("score ") for question, _, about in decided
        )

    def own_last(self) -> Decision | None:
        """This reviewer's latest decision that can be undone."""
        in_force = self.resolved.standing.in_force
        return next((d for d in reversed(in_force) if d.reviewer == self.source.reviewer), None)


@dataclass(slots=True)
class Desk:
    """One question under review."""

    notebook: Notebook
    result: QuestionResult
    queue: Queue
    blind: bool
    unrevealed: Decision | None = None
    """The blind decision made last, whose reveal waits a moment so that a slip can be undone."""
    shown_at: float = field(default_factory=monotonic)
    offers: Mapping[str, Offer] = field(init=False)
    """Claim id to this reviewer's decision on the same claim in an earlier run."""

    def __post_init__(self) -> None:
        offers = carried_offers(self._case(), self.notebook.earlier, self._reviewer)
        self.offers = {offer.claim_id: offer for offer in offers}

    @property
    def question_id(self) -> str:
        """The question under review."""
        return self.result.question.id

    @property
    def targets_scores(self) -> bool:
        """Whether the draw asks for scores of this answer."""
        sample = self.notebook.sample
        return self.queue is Queue.SAMPLE and sample is not None and "scores" in sample.target

    @property
    def _reviewer(self) -> str:
        return self.notebook.source.reviewer

    def _case(self) -> Case:
        return Case(self.notebook.run, self.result, self.notebook.resolved, self.notebook.sample)

    def _act(self, *, blind: bool, reason: str | None = None) -> Act:
        seconds = round(monotonic() - self.shown_at, 2)
        return Act(self._reviewer, now(), blind=blind, reason=reason, queue=self.queue, seconds=seconds)

    def key(self, claim_id: str) -> ClaimKey:
        """A judged claim's key."""
        return self.question_id, self.result.repeat, claim_id

    def items(self) -> list[Item]:
        """The claims in the order of the answer, those added by a person after them."""
        judged = self.result.claim_judgment.claims if self.result.claim_judgment else ()
        items = [self._item(claim, self.key(claim.id), added=False) for claim in judged]
        for name, decision in self.notebook.resolved.added(self.question_id, self.result.repeat).items():
            if self.blind and decision.reviewer != self._reviewer:
                continue
            claim = Claim(name, decision.text or "", Verdict(decision.verdict or Verdict.UNPARSED))
            about = added_key(self.question_id, self.result.repeat, decision.claim_hash)
            items.append(self._item(claim, about, added=True))
        return items

    def _item(self, claim: Claim, about: ClaimKey, *, added: bool) -> Item:
        said = self.notebook.resolved.on_claim(about)
        own = next((d for d in said if d.reviewer == self._reviewer), None)
        is_open = added or self.is_open(about)
        flags = tuple(f for f in self.result.flags if f.claim_id == claim.id) if is_open and not added else ()
        others = () if self.blind else tuple(d for d in said if d.reviewer != self._reviewer)
        offer = None if self.blind or own or added else self.offers.get(claim.id)
        return Item(claim, added, own, is_open, flags, others, offer)

    def is_open(self, about: ClaimKey) -> bool:
        """Whether the judge's side of a claim or score may be shown."""
        return not self.blind or about in self.notebook.seen

    def all_open(self) -> bool:
        """Whether the judge's side of every claim may be shown, and of every score where the draw asks for them."""
        scores = [metric for metric in SCORES if self.targets_scores and self.result.scores.get(metric) is not None]
        return all(item.open for item in self.items()) and all(self.is_open(self.key(f"score {m}")) for m in scores)

    def look(self) -> None:
        """Note that a claim came on the screen: the clock of its decision starts.

        Without blind mode the whole list shows the judge's verdicts, so every claim of the question has been seen.
        """
        self.shown_at = monotonic()
        if not self.blind:
            judged = self.result.claim_judgment.claims if self.result.claim_judgment else ()
            self.notebook.seen |= {self.key(claim.id) for claim in judged}
            self.notebook.seen |= {self.key(f"score {metric}") for metric in SCORES}

    def reveal(self) -> ClaimKey | None:
        """Open the judge's side of what was decided last, and say what that was; None if there was nothing."""
        if self.unrevealed is None:
            return None
        about = subject(self.unrevealed)
        self.notebook.seen.add(about)
        self.unrevealed = None
        return about

    def decide(self, item: Item, verdict: str, *, reason: str | None = None) -> Decision:
        """Record a verdict on a claim; on disk when this returns. An equal one in force is kept as it is."""
        before = item.decision
        if before is not None and before.verdict == verdict and reason in (None, before.reason):
            return before
        kept = reason if reason is not None else before.reason if before else None
        # Asked again: while a reason was typed the judge's side may have opened.
        hidden = self.blind if item.added else not self.is_open(self.key(item.claim.id))
        decision = self.notebook.keep(
            decide_claim(self._case(), item.claim.id, verdict, self._act(blind=hidden, reason=kept))
        )
        if hidden and not item.added:
            self.unrevealed = decision
        return decision

    def keep_offer(self, item: Item) -> Decision | None:
        """Record the decision of an earlier run for this claim, marked as carried; None where there is no fresh one."""
        offer = item.offer
        if offer is None or offer.stale:
            return None
        act = replace(self._act(blind=False, reason=offer.decision.reason), carried_from=offer.decision.id)
        return self.notebook.keep(decide_claim(self._case(), item.claim.id, offer.verdict, act))

    def settle_dispute(self, item: Item, verdict: str) -> Decision:
        """Record an adjudication of a claim on which reviewers differ."""
        return self.notebook.keep(adjudicate(self._case(), item.claim.id, verdict, self._act(blind=False)))

    def add_claim(self, text: str, verdict: str) -> Decision:
        """Record a claim that the judge missed."""
        return self.notebook.keep(add_claim(self._case(), text, verdict, self._act(blind=self.blind)))

    def score(self, metric: str, value: int) -> Decision:
        """Record a score of the answer."""
        hidden = not self.is_open(self.key(f"score {metric}"))
        decision = self.notebook.keep(score_answer(self._case(), metric, float(value), self._act(blind=hidden)))
        if hidden:
            self.unrevealed = decision
        return decision

    def scores(self) -> dict[str, Decision]:
        """This reviewer's scores of the answer."""
        found = {}
        for metric in SCORES:
            for decision in self.notebook.resolved.scores(self.question_id, self.result.repeat, metric):
                if decision.reviewer == self._reviewer:
                    found[metric] = decision
        return found

    def undo(self) -> Decision | None:
        """Take this reviewer's latest decision on the run back; returns what was undone."""
        last = self.notebook.own_last()
        if last is None:
            return None
        unseen = last.blind and subject(last) not in self.notebook.seen
        self.notebook.keep(undo(last, self.notebook.resolved, self._act(blind=unseen)))
        if self.unrevealed is not None and self.unrevealed.id == last.id:
            self.unrevealed = None
        return last
