"""The claims of one question beside the source: one key a decision, on disk before it is shown."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.timer import Timer

from rag_audit.model import Decision, QuestionResult, Queue, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.claim_text import claim_lines, last_line, no_claims
from rag_audit.tui.content import Piece
from rag_audit.tui.desk import SCORES, Desk, seen_before
from rag_audit.tui.layout import section_of
from rag_audit.tui.screens.claim_source import ClaimSourceScreen
from rag_audit.tui.screens.dialogs import AskChoice, AskText, Choice
from rag_audit.tui.source import Source
from rag_audit.tui.theme import VERDICTS
from rag_audit.tui.widgets.record_table import RecordTable

RowKey = tuple[str, int | None]
JUDGEMENTS = ("verified", "contradicted", "absent")
REVEAL_AFTER_S = 1.5
"""The judge's side opens this long after a blind decision, or with the next one: time to take a slip back."""


class ClaimsScreen(ClaimSourceScreen):
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
        self.seen: set[tuple[str, int | None, str]] = set()
        self.own: list[Decision] = []
        self.sample: frozenset[str] = frozenset()
        self.sample_id: str | None = None
        self.sample_target: tuple[str, ...] = ()
        self.started = False
        self.reasons: dict[str, str] = {}
        """Reasons given before the claim was decided."""
        self.previous: Decision | None = None
        self.undone: Decision | None = None
        self._reveal_timer: Timer | None = None

    def on_mount(self) -> None:
        """Load what this reviewer decided before, then the question."""
        self._load(self.at)

    # Loading

    def _load(self, at: int, *, claim_id: str | None = None, last_claim: bool = False) -> None:
        (question_id, repeat), run_id = self.keys[at], self.summary.id
        reviewer = self.source.reviewer

        def work() -> QuestionResult:
            if not self.started:
                self.own = [d for d in self.source.decisions(run_id) if d.reviewer == reviewer]
                self.seen |= seen_before(self.own)
                sample = self.source.sample(run_id)
                if sample is not None:
                    self.sample, self.sample_id = frozenset(sample.questions), sample.id
                    self.sample_target = sample.target
                self.started = True
            return self.source.result(run_id, question_id, repeat)

        def then(result: QuestionResult) -> None:
            self.at = at
            self._put_on_desk(result, claim_id, last_claim)

        self.fetch(work, then)

    def _put_on_desk(self, result: QuestionResult, claim_id: str | None, last_claim: bool) -> None:
        self.settle()
        in_sample = result.question.id in self.sample
        queue = Queue.SAMPLE if in_sample else self.queue if self.queue is not Queue.SAMPLE else Queue.OTHER
        self.desk = Desk(
            self.source,
            self.summary.id,
            result,
            queue,
            self.sample_id if in_sample else None,
            in_sample if self.blind_wish is None else self.blind_wish,
            self.seen,
            self.own,
            self.sample_target if in_sample else (),
        )
        self.close_document()
        self.head.show([section_of([[(result.question.question, "strong")], self._answer_line(result)])])
        items = self.desk.items()
        undecided = next((item.claim.id for item in items if item.decision is None), None)
        select = claim_id or (items[-1].claim.id if last_claim and items else undecided)
        self.table.empty = no_claims(result)
        self.table.set_rows(items, select=select or (items[0].claim.id if items else None))
        self._show_claim()

    @staticmethod
    def _answer_line(result: QuestionResult) -> list[Piece]:
        answer = result.generation.answer if result.generation else result.error or "no answer"
        return [("answer ", "quiet"), (" ".join(answer.split()), "plain")]

    # Painting

    @on(RecordTable.RowHighlighted)
    def _highlighted(self, event: RecordTable.RowHighlighted) -> None:
        event.stop()

    def _refresh_items(self, select: str | None = None) -> None:
        if self.desk is not None:
            self.table.set_rows(self.desk.items(), select=select)

    def _show_claim(self) -> None:
        """Show the claim under the cursor: its source, its words, where we are."""
        desk, item = self.desk, self.item
        if desk is None:
            return
        desk.look()
        self._refresh_items(item.claim.id if item else None)
        self.show_source()
        lines = claim_lines(self.item, desk, self.reasons) if self.item else [[("", "plain")]]
        self.below.show([section_of(lines)])
        self._tell()

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
            self._ask_reviewer(lambda: self.action_decide(verdict))
            return
        self.settle(keep_place=True)
        self.undone = None
        try:
            self.previous = desk.decide(item, verdict, reason=self.reasons.pop(item.claim.id, None))
        except Exception as error:
            self.show_error(error)
            return
        if desk.unrevealed is not None:
            self._reveal_timer = self.set_timer(REVEAL_AFTER_S, self.settle)
        self._advance()

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

    def _advance(self) -> None:
        """Go on to the next claim that is not decided, in this question or the next."""
        desk = self.desk
        if desk is None:
            return
        items = desk.items()
        ids = [item.claim.id for item in items]
        here = ids.index(self.item.claim.id) if self.item and self.item.claim.id in ids else 0
        following = next((one.claim.id for one in items[here + 1 :] if one.decision is None), None)
        self._refresh_items(following)
        if following is None and self.at + 1 < len(self.keys):
            self._tell()
            self._load(self.at + 1)
            return
        if following is None and all(item.decision for item in items):
            self.say("That was the last question of this queue.")
        self._show_claim()

    def settle(self, *, keep_place: bool = False) -> None:
        """Open the judge's side of the claim decided last."""
        if self._reveal_timer is not None:
            self._reveal_timer.stop()
            self._reveal_timer = None
        if self.desk is not None and self.desk.reveal() and not keep_place:
            self._refresh_items(self.item.claim.id if self.item else None)
            self._tell()

    def action_undo(self) -> None:
        """Take the last decision back and go to its claim."""
        desk = self.desk
        if desk is None:
            return
        try:
            undone = desk.undo()
        except Exception as error:
            self.show_error(error)
            return
        if undone is None:
            self.say("Nothing to undo.")
            return
        self.previous, self.undone = None, undone
        key = (undone.question_id, undone.repeat)
        if key in self.keys and key != self.keys[self.at]:
            self._load(self.keys.index(key), claim_id=undone.claim_id)
        else:
            self._refresh_items(undone.claim_id)
            self._show_claim()

    def action_reason(self) -> None:
        """Give a reason: for the decision on this claim, or for the one to come."""
        item, desk = self.item, self.desk
        if item is None or desk is None:
            return
        before = item.decision.reason if item.decision else self.reasons.get(item.claim.id)

        def keep(reason: str | None) -> None:
            if reason is None:
                return
            if item.decision is None or item.decision.verdict is None:
                self.reasons[item.claim.id] = reason
            else:
                try:
                    self.previous = desk.decide(item, item.decision.verdict, reason=reason)
                except Exception as error:
                    self.show_error(error)
            self._refresh_items(item.claim.id)
            self._show_claim()

        self.app.push_screen(AskText(f"Reason for {item.claim.id}", value=before or ""), keep)

    def action_add_claim(self) -> None:
        """Add a claim that the judge missed."""
        desk = self.desk
        if desk is None:
            return
        if not self.source.reviewer:
            self._ask_reviewer(self.action_add_claim)
            return

        def judged(text: str, verdict: str | None) -> None:
            if verdict is None:
                return
            try:
                self.previous = desk.add_claim(text, verdict)
            except Exception as error:
                self.show_error(error)
                return
            self._refresh_items(self.previous.claim_id)
            self._show_claim()

        def written(text: str | None) -> None:
            if text and text.strip():
                choices = [Choice(word[0], word, VERDICTS[word].text, VERDICTS[word].tone) for word in JUDGEMENTS]
                self.app.push_screen(
                    AskChoice("Its verdict", choices, text=text.strip()), lambda verdict: judged(text.strip(), verdict)
                )

        self.app.push_screen(AskText("Claim that the judge missed"), written)

    def action_score(self, value: int) -> None:
        """Score the answer, where the draw targets scores: faithfulness first, then completeness."""
        desk = self.desk
        if desk is None:
            return
        if "scores" not in self.sample_target or desk.queue is not Queue.SAMPLE:
            self.say("The draw of this run does not ask for scores.", severity="warning")
            return
        metric = next((name for name in SCORES if name not in desk.scores()), None)
        if metric is None:
            self.say("Both scores are given; u takes the last one back.")
            return
        try:
            self.previous = desk.score(metric, value)
        except Exception as error:
            self.show_error(error)
            return
        self._show_claim()

    def _ask_reviewer(self, then: Callable[[], None]) -> None:
        def named(name: str | None) -> None:
            if name and name.strip():
                self.source.reviewer = name.strip()
                self.started = False
                then()

        self.app.push_screen(AskText("Your name as the reviewer", hint="kept with every decision"), named)

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
            self._show_claim()
        elif 0 <= self.at + by < len(self.keys):
            self._load(self.at + by, last_claim=by < 0)

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
            self._show_claim()
