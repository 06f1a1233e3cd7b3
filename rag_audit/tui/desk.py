"""The state of one person's audit of one question: what stands, what was seen, what a key decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from rag_audit.fingerprint import fingerprint
from rag_audit.model import Claim, Decision, Flag, QuestionResult, Queue, Verdict
from rag_audit.tui.source import Source, now_text, standing

SCORES = ("faithfulness", "completeness")


@dataclass(frozen=True, slots=True)
class Item:
    """One claim on the desk with what may be shown of it."""

    claim: Claim
    added: bool
    """Added by a person: the judge never saw it."""
    decision: Decision | None
    """The reviewer's own standing decision."""
    open: bool
    """Whether the judge's side may be shown."""
    flags: tuple[Flag, ...] = ()
    """Empty while the judge's side is hidden."""


@dataclass(slots=True)
class Desk:
    """One question under review; `seen` outlives it, so that what was revealed stays revealed."""

    source: Source
    run_id: str
    result: QuestionResult
    queue: Queue
    sample_id: str | None
    blind: bool
    seen: set[tuple[str, int | None, str]]
    """(question, repeat, claim) whose judge's side this reviewer has seen."""
    decisions: list[Decision] = field(default_factory=list)
    """This reviewer's decisions on the run, in order, undone ones too."""
    target: tuple[str, ...] = ("claims",)
    """What the draw asks for: claims, scores."""
    unrevealed: str | None = None
    """The claim decided last, whose reveal waits for the next key so that a slip can be undone."""
    shown_at: float = field(default_factory=monotonic)

    @property
    def question_id(self) -> str:
        """The question under review."""
        return self.result.question.id

    def own(self) -> list[Decision]:
        """The standing decisions on this question."""
        return [d for d in standing(self.decisions) if self._here(d)]

    def _here(self, decision: Decision) -> bool:
        return decision.question_id == self.question_id and decision.repeat == self.result.repeat

    def items(self) -> list[Item]:
        """The claims in the order of the answer, those added by a person after them."""
        own = self.own()
        verdicts = {d.claim_id: d for d in own if d.kind in {"verdict", "adjudication"}}
        judged = self.result.claim_judgment.claims if self.result.claim_judgment else ()
        items = []
        for claim in judged:
            is_open = self.is_open(claim.id)
            flags = tuple(f for f in self.result.flags if f.claim_id == claim.id) if is_open else ()
            items.append(Item(claim, False, verdicts.get(claim.id), is_open, flags))
        for decision in own:
            if decision.kind == "added_claim" and decision.claim_id and decision.verdict:
                claim = Claim(decision.claim_id, decision.text or "", _verdict(decision.verdict))
                items.append(Item(claim, True, verdicts.get(decision.claim_id, decision), True))
        return items

    def is_open(self, claim_id: str) -> bool:
        """Whether the judge's side of a claim may be shown."""
        if not self.blind:
            return True
        return self._key(claim_id) in self.seen

    def _key(self, claim_id: str) -> tuple[str, int | None, str]:
        return (self.question_id, self.result.repeat, claim_id)

    def look(self) -> None:
        """Note that a claim came on the screen: the clock of its decision starts.

        Without blind mode the whole list shows the judge's verdicts, so every claim of the question has been seen.
        """
        self.shown_at = monotonic()
        if not self.blind and self.result.claim_judgment:
            self.seen |= {self._key(claim.id) for claim in self.result.claim_judgment.claims}

    def reveal(self) -> bool:
        """Open the judge's side of the claim decided last; False if there was none."""
        if self.unrevealed is None:
            return False
        self.seen.add(self._key(self.unrevealed))
        self.unrevealed = None
        return True

    def decide(self, item: Item, verdict: str, *, reason: str | None = None) -> Decision:
        """Record a verdict on a claim; on disk when this returns. An equal standing verdict is kept as it is."""
        before = item.decision
        if before is not None and before.verdict == verdict and reason in (None, before.reason):
            return before
        was_open = self.is_open(item.claim.id)
        decision = self._record(
            kind="verdict",
            claim_id=item.claim.id,
            verdict=verdict,
            claim=item.claim,
            judge_verdict=None if item.added else item.claim.verdict.value,
            reason=reason if reason is not None else (before.reason if before else None),
            blind=not was_open,
            informed=was_open and not item.added,
            supersedes=(before.id,) if before else (),
        )
        if not was_open:
            self.unrevealed = item.claim.id
        return decision

    def add_claim(self, text: str, verdict: str) -> Decision:
        """Record a claim that the judge missed."""
        count = sum(d.kind == "added_claim" and self._here(d) for d in self.decisions)
        claim = Claim(f"m{count + 1}", text, _verdict(verdict))
        return self._record(
            kind="added_claim", claim_id=claim.id, verdict=verdict, claim=claim, text=text, blind=self.blind
        )

    def score(self, metric: str, value: int) -> Decision:
        """Record a score of the answer."""
        before = self.scores().get(metric)
        judged = getattr(self.result.score_judgment, metric, None)
        return self._record(
            kind="score",
            metric=metric,
            value=float(value),
            judge_verdict=None if judged is None else str(judged),
            blind=self.blind and before is None,
            informed=not self.blind,
            supersedes=(before.id,) if before else (),
        )

    def scores(self) -> dict[str, Decision]:
        """The standing scores of this question."""
        return {d.metric: d for d in self.own() if d.kind == "score" and d.metric}

    def undo(self) -> Decision | None:
        """Take the last standing decision on the run back; returns what was undone."""
        last = next(reversed(standing(self.decisions)), None)
        if last is None:
            return None
        revealed = (last.question_id, last.repeat, last.claim_id or "") in self.seen
        undoing = Decision(
            id="",
            kind="undo",
            run_id=self.run_id,
            question_id=last.question_id,
            repeat=last.repeat,
            claim_id=last.claim_id,
            metric=last.metric,
            reviewer=self.source.reviewer,
            time=now_text(),
            queue=last.queue,
            sample_id=last.sample_id,
            informed=revealed or not last.blind,
            supersedes=(last.id,),
        )
        self.decisions.append(self.source.record(undoing))
        if self.unrevealed == last.claim_id:
            self.unrevealed = None
        return last

    def _record(
        self,
        *,
        kind: str,
        claim_id: str | None = None,
        verdict: str | None = None,
        claim: Claim | None = None,
        text: str | None = None,
        metric: str | None = None,
        value: float | None = None,
        judge_verdict: str | None = None,
        reason: str | None = None,
        blind: bool = False,
        informed: bool = False,
        supersedes: tuple[str, ...] = (),
    ) -> Decision:
        judgment = self.result.claim_judgment
        identity = judgment.identity if judgment else None
        decision = Decision(
            id="",
            kind=kind,
            run_id=self.run_id,
            question_id=self.question_id,
            repeat=self.result.repeat,
            reviewer=self.source.reviewer,
            time=now_text(),
            claim_id=claim_id,
            verdict=verdict,
            metric=metric,
            value=value,
            text=text,
            claim_hash=fingerprint((claim.text,)) if claim else None,
            excerpt_hash=fingerprint((judgment.excerpt.text("reference"), judgment.excerpt.text("context")))
            if judgment
            else None,
            judge=f"{identity.model} {identity.prompt_hash}" if identity else None,
            judge_verdict=judge_verdict,
            reason=reason,
            queue=self.queue,
            sample_id=self.sample_id,
            blind=blind,
            informed=informed,
            supersedes=supersedes,
            seconds=round(monotonic() - self.shown_at, 2),
        )
        recorded = self.source.record(decision)
        self.decisions.append(recorded)
        return recorded


def _verdict(word: str) -> Verdict:
    return Verdict(word)


def seen_before(decisions: Sequence[Decision]) -> set[tuple[str, int | None, str]]:
    """What earlier sessions revealed: every claim with a decision that was not taken back before its reveal."""
    slips = {one for d in decisions if d.kind == "undo" and not d.informed for one in d.supersedes}
    return {
        (d.question_id, d.repeat, d.claim_id)
        for d in decisions
        if d.claim_id and d.kind in {"verdict", "adjudication"} and d.id not in slips
    }
