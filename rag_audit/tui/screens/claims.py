"""The claims of one question beside the source: one key a decision, on disk before it is shown."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.timer import Timer

from rag_audit.model import QuestionResult, Queue, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.claim_text import claim_lines, last_line, no_claim_lines
from rag_audit.tui.content import Piece
from rag_audit.tui.desk import Desk, Item, Notebook
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.screens.claim_decisions import ClaimDecisionsScreen
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.record_table import RecordTable

RowKey = tuple[str, int | None]
REVEAL_AFTER_S = 1.5
"""The judge's side opens this long after a blind decision, or with the next one: time to take a slip back."""


class ClaimsScreen(ClaimDecisionsScreen):
    """One person's audit of a queue of questions, claim by claim."""

    PLACE = "claims"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("claims")]

    def __init__(
        self, source: Source, summary: RunSummary, keys: Sequence[RowKey], at: int, *, queue: Queue = Queue.OTHER
    ) -> None:
        super().__init__(source, summary)
        self.keys = list(keys)
        self.at = at
        self.queue = queue
        self.blind_wish: bool | None = None
        """What `b` chose; None: blind where the question is in the draw."""
        self.notebook: Notebook | None = None
        self._reveal_timer: Timer | None = None

    def on_mount(self) -> None:
        """Load what this reviewer decided before, then the question."""
        self._load(self.at)

    # Loading

    def _load(self, at: int, *, claim_id: str | None = None, last: bool = False, flagged: bool = False) -> None:
        (question_id, repeat), run = self.keys[at], self.summary

        def work() -> tuple[Notebook, QuestionResult]:
            notebook = self.notebook or Notebook(self.source, run, self.source.decisions(), self.source.sample(run.id))
            return notebook, self.source.result(run.id, question_id, repeat)

        def then(loaded: tuple[Notebook, QuestionResult]) -> None:
            self.at = at
            self._put_on_desk(*loaded)
            self._start_at(claim_id, last=last, flagged=flagged)

        if self.notebook is None:
            self.fetch(work, then)
            return
        try:
            loaded = work()
        except Exception as error:
            self.show_error(error)
        else:
            then(loaded)

    def _put_on_desk(self, notebook: Notebook, result: QuestionResult) -> None:
        self.settle()
        self.notebook = notebook
        drawn = notebook.sample is not None and result.question.id in notebook.sample.questions
        queue = self.queue if self.queue is Queue.FLAGGED else Queue.SAMPLE if drawn else Queue.OTHER
        blind = (queue is Queue.SAMPLE) if self.blind_wish is None else self.blind_wish
        self.desk = Desk(notebook, result, queue, blind)
        self.close_document()
        self.head.show([section_of([[(result.question.question, "strong")], self._answer_line(result)])])
        self.table.set_rows(self.desk.items())

    def _start_at(self, claim_id: str | None, *, last: bool, flagged: bool) -> None:
        """Put the cursor on a claim: the one named, the last, the first flagged one, else the first undecided one."""
        items = list(self.table.rows)
        wanted = claim_id
        if wanted is None and items and last:
            wanted = items[-1].claim.id
        if wanted is None and flagged:
            wanted = next((item.claim.id for item in items if item.flags), None)
        if wanted is None:
            wanted = next((item.claim.id for item in items if item.decision is None), None)
        self.table.select(wanted or (items[0].claim.id if items else None))
        self.show_claim()

    @staticmethod
    def _answer_line(result: QuestionResult) -> list[Piece]:
        answer = result.generation.answer if result.generation else result.error or "no answer"
        return [("answer ", "quiet"), (" ".join(answer.split()), "plain")]

    # Painting

    @on(RecordTable.RowHighlighted)
    def _highlighted(self, event: RecordTable.RowHighlighted) -> None:
        event.stop()

    def refresh_items(self, select: str | None = None) -> None:
        """Show the claims as they stand, with the cursor on one of them."""
        if self.desk is not None:
            self.table.set_rows(self.desk.items(), select=select)

    def show_claim(self) -> None:
        """Show the claim under the cursor: its source, its words, where we are."""
        if self.desk is not None:
            self.desk.look()
            self._paint(self.desk)

    def _paint(self, desk: Desk) -> None:
        self.refresh_items(self.item.claim.id if self.item else None)
        self.show_source()
        self.below.show([section_of(self._lines(desk, self.item))])
        self._tell()

    def _lines(self, desk: Desk, item: Item | None) -> list[Line]:
        if item is None:
            return no_claim_lines(desk)
        return claim_lines(item, desk, self.reasons.get(desk.key(item.claim.id)))

    def _tell(self) -> None:
        desk = self.desk
        if desk is None:
            return
        items = self.table.rows
        done = sum(one.decision is not None for one in items)
        facts: list[Piece] = []
        if desk.blind:
            facts.append(("◌ blind  ", "warn"))
        facts.append((f"{desk.queue.value}  ", "quiet"))
        facts.append((f"{self.at + 1}/{len(self.keys)}  ", "plain"))
        facts.append((f"{done}/{len(items)} decided", "quiet"))
        name = desk.question_id if desk.result.repeat is None else f"{desk.question_id} #{desk.result.repeat}"
        self.title_bar.tell(["rag-audit", wording.run_name(self.summary), name], facts)
        self.last.tell(last_line(desk, self.previous, self.undone))

    # Deciding

    def action_decide(self, verdict: str) -> None:
        """Decide the claim under the cursor."""
        item, desk = self.item, self.desk
        if desk is None:
            return
        if item is None:
            self.say("There is no claim here to decide; + adds one that the judge missed.", severity="warning")
            return
        if not self.source.reviewer:
            self.ask_reviewer(lambda: self.action_decide(verdict))
            return
        self.settle(keep_place=True)
        about = desk.key(item.claim.id)
        reason = self.reasons.get(about)
        if self.recorded(lambda: desk.decide(item, verdict, reason=reason)) is None:
            return
        self.reasons.pop(about, None)
        self.settle_soon()
        self.advance()

    def action_agree(self) -> None:
        """Decide as the judge did, where its verdict may be seen."""
        item = self.item
        if item is None:
            return
        if not item.open:
            self.say("Blind: there is nothing to agree with yet. Decide with v, c, a or s.", severity="warning")
        elif item.claim.verdict.value == "unparsed":
            self.say("The judge's verdict could not be read; decide with v, c, a or s.", severity="warning")
        else:
            self.action_decide(item.claim.verdict.value)

    def advance(self) -> None:
        """Go on to the next claim that is not decided, in this question or the next."""
        desk = self.desk
        if desk is None:
            return
        items = desk.items()
        ids = [item.claim.id for item in items]
        here = ids.index(self.item.claim.id) if self.item and self.item.claim.id in ids else 0
        following = next((one.claim.id for one in items[here + 1 :] if one.decision is None), None)
        self.refresh_items(following)
        if following is None and self.at + 1 < len(self.keys):
            self._tell()
            self._load(self.at + 1)
            return
        if following is None and all(item.decision for item in items):
            self.say("That was the last question of this queue.")
        self.show_claim()

    def settle(self, *, keep_place: bool = False) -> None:
        """Open the judge's side of the claim decided last."""
        if self._reveal_timer is not None:
            self._reveal_timer.stop()
            self._reveal_timer = None
        desk, item = self.desk, self.item
        revealed = desk.reveal() if desk is not None else None
        if desk is None or revealed is None or keep_place:
            return
        if item is None or revealed == desk.key(item.claim.id) or desk.targets_scores:
            self._paint(desk)
        else:
            self.refresh_items(item.claim.id)
            self._tell()

    def settle_soon(self) -> None:
        """Open the judge's side of what was just decided in a moment, so that a slip can be undone."""
        if self.desk is not None and self.desk.unrevealed is not None:
            self._reveal_timer = self.set_timer(REVEAL_AFTER_S, self.settle)

    def action_undo(self) -> None:
        """Take the last decision back and go to its claim."""
        desk = self.desk
        if desk is None:
            return
        if desk.notebook.own_last() is None:
            self.say("Nothing to undo.")
            return
        undone = self.recorded(desk.undo)
        if undone is None:
            return
        self.previous, self.undone = None, undone
        key = (undone.question_id, undone.repeat)
        if key in self.keys and key != self.keys[self.at]:
            self._load(self.keys.index(key), claim_id=undone.claim_id)
        else:
            self.refresh_items(undone.claim_id if key == self.keys[self.at] else None)
            self.show_claim()

    def action_next_flagged(self) -> None:
        """Go to the next flagged claim, in this question or a later one; not while blind."""
        desk = self.desk
        if desk is None:
            return
        if desk.blind:
            self.say("Blind: flags are hidden until you decide.", severity="warning")
            return
        here = self.table.cursor
        following = next((one.claim.id for one in list(self.table.rows)[here + 1 :] if one.flags), None)
        if following is not None:
            self.table.select(following)
            self.show_claim()
            return
        run_id, keys, at = self.summary.id, self.keys, self.at

        def work() -> int | None:
            flagged = {(row.id, row.repeat) for row in self.source.run(run_id).rows if row.flags}
            hidden = self.source.blind(run_id).questions
            flagged -= {key for key in flagged if key[0] in hidden}
            return next((n for n in range(at + 1, len(keys)) if keys[n] in flagged), None)

        def then(found: int | None) -> None:
            if found is None:
                self.say("No flagged claim follows.")
            else:
                self._load(found, flagged=True)

        self.fetch(work, then, group="flagged")

    # Moving

    def action_next_claim(self) -> None:
        """Go to the next claim."""
        self._move(1)

    def action_previous_claim(self) -> None:
        """Go to the previous claim."""
        self._move(-1)

    def _move(self, by: int) -> None:
        self.settle()
        to = self.table.cursor + by
        if 0 <= to < len(self.table.rows):
            self.table.select(self.table.rows[to].claim.id)
            self.show_claim()
        elif 0 <= self.at + by < len(self.keys):
            self._load(self.at + by, last=by < 0)

    def action_next_question(self) -> None:
        """Go to the next question."""
        if self.at + 1 < len(self.keys):
            self._load(self.at + 1)

    def action_previous_question(self) -> None:
        """Go to the previous question."""
        if self.at > 0:
            self._load(self.at - 1)

    def action_blind(self) -> None:
        """Turn blind mode on or off for the questions to come and this one."""
        if self.desk is not None:
            self.blind_wish = not self.desk.blind
            self.desk.blind = self.blind_wish
            self.show_claim()
