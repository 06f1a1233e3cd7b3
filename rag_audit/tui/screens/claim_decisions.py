"""Decisions that take more than one key: reasons, missed claims, adjudications, scores, carried decisions."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from rag_audit.audit.standing import ClaimKey
from rag_audit.auditing import plain_name
from rag_audit.errors import RagAuditError
from rag_audit.model import Decision, RunSummary
from rag_audit.tui.blindness import SCORES
from rag_audit.tui.screens.claim_source import ClaimSourceScreen
from rag_audit.tui.screens.dialogs import AskChoice, AskText, Choice
from rag_audit.tui.source import Source
from rag_audit.tui.theme import VERDICTS

JUDGEMENTS = ("verified", "contradicted", "absent")


class ClaimDecisionsScreen(ClaimSourceScreen):
    """Adds the decisions that ask something first."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, source: Source, summary: RunSummary) -> None:
        super().__init__(source, summary)
        self.reasons: dict[ClaimKey, str] = {}
        """Claim to the reason that was given before it was decided."""
        self.previous: Decision | None = None
        """The decision made last."""
        self.undone: Decision | None = None
        """The decision taken back last, until the next one."""

    def show_claim(self) -> None:
        """Show the claim under the cursor."""

    def refresh_items(self, select: str | None = None) -> None:
        """Show the claims as they stand, with the cursor on one of them."""

    def advance(self) -> None:
        """Go on to the next claim that is not decided."""

    def settle(self, *, keep_place: bool = False) -> None:
        """Open the judge's side of what was decided last."""

    def settle_soon(self) -> None:
        """Open the judge's side of what was just decided in a moment, so that a slip can be undone."""

    def recorded(self, record: Callable[[], Decision | None]) -> Decision | None:
        """Record a decision; None, and an error on the screen, where it could not be written."""
        try:
            decision = record()
        except Exception as error:
            self.show_error(error)
            return None
        if decision is not None and decision.kind != "undo":
            self.previous, self.undone = decision, None
        return decision

    def action_keep(self) -> None:
        """Keep the decision of an earlier run that is offered for this claim."""
        desk, item = self.desk, self.item
        if desk is None or item is None:
            return
        if item.offer is None or item.offer.stale:
            self.say("No decision of an earlier run fits this claim and its excerpt.")
        elif self.recorded(lambda: desk.keep_offer(item)) is not None:
            self.advance()

    def action_reason(self) -> None:
        """Give a reason: for the decision on this claim, or for the one to come."""
        item, desk = self.item, self.desk
        if item is None or desk is None:
            return
        before = item.decision.reason if item.decision else self.reasons.get(desk.key(item.claim.id))

        def keep(reason: str | None) -> None:
            if reason is None:
                return
            verdict = item.decision.verdict if item.decision else None
            if verdict is None:
                self.reasons[desk.key(item.claim.id)] = reason
            else:
                self.recorded(lambda: desk.decide(item, verdict, reason=reason))
            self.refresh_items(item.claim.id)
            self.show_claim()

        self.app.push_screen(
            AskText(
                f"Reason for {item.claim.id}",
                value=before or "",
                hint="enter keeps it, ctrl+e opens $EDITOR, esc leaves",
            ),
            keep,
        )

    def action_add_claim(self) -> None:
        """Add a claim that the judge missed."""
        desk = self.desk
        if desk is None:
            return
        if not self.source.reviewer:
            self.ask_reviewer(self.action_add_claim)
            return

        def judged(text: str, verdict: str | None) -> None:
            added = self.recorded(lambda: desk.add_claim(text, verdict)) if verdict else None
            if added is not None:
                self.refresh_items(added.claim_id)
                self.show_claim()

        def written(text: str | None) -> None:
            if text and text.strip():
                self.app.push_screen(
                    AskChoice("Its verdict", _choices(), text=text.strip()),
                    lambda verdict: judged(text.strip(), verdict),
                )

        self.app.push_screen(AskText("Claim that the judge missed"), written)

    def action_adjudicate(self) -> None:
        """Settle a claim on which reviewers differ."""
        desk, item = self.desk, self.item
        if desk is None or item is None:
            return
        if not item.disputed:
            self.say("Reviewers do not differ on this claim.")
            return
        if not self.source.reviewer:
            self.ask_reviewer(self.action_adjudicate)
            return

        def settled(verdict: str | None) -> None:
            if verdict and self.recorded(lambda: desk.settle_dispute(item, verdict)) is not None:
                self.show_claim()

        self.app.push_screen(AskChoice(f"What holds for {item.claim.id}?", _choices(), text=item.claim.text), settled)

    def action_score(self, value: int) -> None:
        """Score the answer, where the draw targets scores: faithfulness first, then completeness."""
        desk = self.desk
        if desk is None:
            return
        if not desk.targets_scores:
            self.say("The draw of this run does not ask for scores.", severity="warning")
            return
        metric = next((name for name in SCORES if name not in desk.scores()), None)
        if metric is None:
            self.say("Both scores are given; u takes the last one back.")
            return
        if not self.source.reviewer:
            self.ask_reviewer(lambda: self.action_score(value))
            return
        self.settle(keep_place=True)
        if self.recorded(lambda: desk.score(metric, value)) is not None:
            self.settle_soon()
            self.show_claim()

    def ask_reviewer(self, then: Callable[[], None]) -> None:
        """Ask for the reviewer's name once, then go on."""

        def named(name: str | None) -> None:
            if not name or not name.strip():
                return
            try:
                self.source.reviewer = plain_name(name)
            except RagAuditError as error:
                self.show_error(error)
                return
            if self.desk is not None:
                self.desk.notebook.remember_reveals()
            then()

        self.app.push_screen(AskText("Your name as the reviewer", hint="kept with every decision"), named)


def _choices() -> list[Choice]:
    return [Choice(word[0], word, VERDICTS[word].text, VERDICTS[word].tone) for word in JUDGEMENTS]
