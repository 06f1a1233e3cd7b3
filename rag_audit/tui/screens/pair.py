"""One question in two runs, side by side or unified."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from rag_audit.errors import RagAuditError
from rag_audit.model import QuestionDelta, QuestionResult, RunDiff, RunSummary
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.blindness import HIDDEN, Blind
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import section_of
from rag_audit.tui.pair_views import (
    Sides,
    answer_of,
    answer_sides,
    answer_unified,
    claim_lines,
    reference_section,
    retrieved_lines,
    score_lines,
)
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.tabbed import Tabbed
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.passage import Passage, Section
from rag_audit.tui.widgets.tabs import TabLine

TABS = ("answers", "retrieved", "claims", "scores")
WIDE = 100
LONG_ANSWERS = 8_000
"""Characters of both answers, some 1,500 words, from which on comparing them takes longer than a key press may."""
Pair = tuple[QuestionResult | None, QuestionResult | None]


def pair_of(*results: QuestionResult | None) -> list[QuestionResult]:
    """The sides that are there."""
    return [result for result in results if result is not None]


class PairScreen(Tabbed, ReviewScreen):
    """What changed for one question."""

    PLACE = "pair"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("pair", "text")]

    def __init__(
        self,
        source: Source,
        before: RunSummary,
        after: RunSummary,
        ids: Sequence[str],
        at: int,
        diff: RunDiff,
        hidden: Blind,
    ) -> None:
        super().__init__(source)
        self.before = before
        self.after = after
        self.ids = ids
        self.at = at
        parts = diff.questions
        self.hidden = hidden
        self.deltas: dict[str, QuestionDelta] = {
            delta.id: delta
            for delta in (*parts.regressed, *parts.improved, *parts.changed)
            if delta.id not in hidden.questions
        }
        self.pair: Pair = (None, None)
        self.split_wish: bool | None = None
        """What `s` chose; None: side by side where the terminal is wide."""
        self.head = Passage(id="head")
        self.tabs = TabLine(TABS)
        self.left = Passage(id="left")
        self.right = Passage(id="right")
        # The keys scroll both sides: the screen has them, not one of the texts.
        for widget in (self.head, self.left, self.right):
            widget.can_focus = False

    def compose_body(self) -> ComposeResult:
        """Question, tabs, the two sides."""
        yield self.head
        yield self.tabs
        with Horizontal(id="sides"):
            yield self.left
            yield self.right

    def on_mount(self) -> None:
        """Load both sides."""
        self._load()

    def _load(self) -> None:
        question_id = self.ids[self.at]
        names = f"{wording.run_name(self.before)} → {wording.run_name(self.after)}"
        self.title_bar.tell(["rag-audit", names, question_id], [(f"{self.at + 1}/{len(self.ids)}", "quiet")])

        def one(run: RunSummary) -> QuestionResult | None:
            try:
                return self.source.result(run.id, question_id)
            except RagAuditError:
                if all(row.id != question_id for row in self.source.run(run.id).rows):
                    return None
                raise

        self.fetch(lambda: (one(self.before), one(self.after)), self._show)

    def _show(self, pair: Pair) -> None:
        self.pair = pair
        result = pair[1] or pair[0]
        delta = self.deltas.get(self.ids[self.at])
        facts: list[Piece] = []
        if delta is not None:
            for name, (before, after) in delta.metrics.items():
                facts += [(f"{wording.short_name(name)} ", "quiet")]
                facts.append((f"{wording.score(before)} → {wording.score(after)}   ", "strong"))
            if delta.cause:
                facts.append((f"cause {delta.cause.value}", "info"))
        self.head.show([section_of([[(result.question.question if result else "", "strong")], facts])])
        self._show_tab()

    @property
    def is_split(self) -> bool:
        """Whether the two sides stand beside each other."""
        return self.size.width >= WIDE if self.split_wish is None else self.split_wish

    def on_resize(self) -> None:
        """Side by side where there is room."""
        self._show_tab()

    def _show_tab(self) -> None:
        before, after = self.pair
        result = after or before
        if result is None:
            return
        tab = TABS[self.tabs.active]
        split = tab == "answers" and self.is_split
        self.right.display = split
        if tab == "answers":
            self._show_answers(split=split)
        elif tab == "retrieved":
            self.left.show(retrieved_lines(before, after))
        elif tab == "claims" and result.question.id in self.hidden.questions:
            self.left.show([Section(HIDDEN, tone="quiet")])
        elif tab == "claims":
            self.left.show(claim_lines(before, after))
        else:
            asked = [name for one in pair_of(before, after) for name in (*one.scores, *one.missing)]
            names = [name for name in dict.fromkeys(asked) if not self.hidden.hides(result.question.id, name)]
            blind = result.question.id in self.hidden.questions
            self.left.show(score_lines(before, after, self.deltas.get(result.question.id), names, blind=blind))

    def _show_answers(self, *, split: bool) -> None:
        """Both answers with what changed; long ones are compared in the background."""
        before, after = self.pair
        reference = [reference_section(one) for one in pair_of(after, before)[:1]]

        def compare() -> Sides:
            if split:
                left, right = answer_sides(before, after)
                return [*left, *reference], right
            return [*answer_unified(before, after), *reference], []

        def show(sides: Sides) -> None:
            if self.pair == (before, after) and TABS[self.tabs.active] == "answers":
                self.left.show(sides[0])
                self.right.show(sides[1])

        if len(answer_of(before)) + len(answer_of(after)) <= LONG_ANSWERS:
            show(compare())
        else:
            self.left.show([Section("Comparing …", tone="quiet")])
            self.right.show([])
            self.fetch(compare, show, group="answers")

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self._show_tab()

    def action_side(self) -> None:
        """Change between side by side and unified."""
        self.split_wish = not self.is_split
        self._show_tab()

    def action_scroll_down(self) -> None:
        """Scroll both sides a line down."""
        self.left.action_scroll_down()
        self.right.action_scroll_down()

    def action_scroll_up(self) -> None:
        """Scroll both sides a line up."""
        self.left.action_scroll_up()
        self.right.action_scroll_up()

    def action_page_down(self) -> None:
        """Scroll both sides a page down."""
        self.left.action_page_down()
        self.right.action_page_down()

    def action_page_up(self) -> None:
        """Scroll both sides a page up."""
        self.left.action_page_up()
        self.right.action_page_up()

    def action_scroll_home(self) -> None:
        """Go to the beginning of both sides."""
        self.left.action_scroll_home()
        self.right.action_scroll_home()

    def action_scroll_end(self) -> None:
        """Go to the end of both sides."""
        self.left.action_scroll_end()
        self.right.action_scroll_end()

    def action_next_question(self) -> None:
        """Go to the next question of the list."""
        self._go(1)

    def action_previous_question(self) -> None:
        """Go to the previous question of the list."""
        self._go(-1)

    def _go(self, by: int) -> None:
        at = max(0, min(self.at + by, len(self.ids) - 1))
        if at != self.at:
            self.at = at
            self._load()

    def action_claims(self) -> None:
        """Open the claims of the later run."""
        from rag_audit.tui.screens.claims import ClaimsScreen

        after = self.pair[1]
        if after is None:
            self.say("The later run does not have this question.", severity="warning")
            return
        self.app.push_screen(ClaimsScreen(self.source, self.after, [(after.question.id, after.repeat)], 0))
