"""The source beside the claims: excerpt, what each side saw, the judge's reply, the whole document; search, copy."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from rag_audit.model import Excerpt, RunSummary
from rag_audit.model import Passage as SourcePassage
from rag_audit.tui import wording
from rag_audit.tui.claim_text import item_columns, reference_of
from rag_audit.tui.desk import Desk, Item
from rag_audit.tui.evidence import first_place, marks_of
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.source import Source
from rag_audit.tui.views import call_sections, difference_sections, excerpt_sections, generator_sections, place_of
from rag_audit.tui.widgets.bars import StatusLine
from rag_audit.tui.widgets.passage import Mark, Passage, Section
from rag_audit.tui.widgets.record_table import RecordTable
from rag_audit.tui.widgets.tabs import TabLine

TABS = ("source", "generator saw", "difference", "judge's reply")
WIDE = 150


class ClaimSourceScreen(ReviewScreen):
    """Lays the claim screen out and looks after its source side."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, source: Source, summary: RunSummary) -> None:
        super().__init__(source)
        self.summary = summary
        self.desk: Desk | None = None
        self.table = RecordTable[Item](
            item_columns(), lambda item: item.claim.id, empty="No claims.", id="claims", always_active=True
        )
        self.tabs = TabLine(TABS)
        self.passage = Passage(numbers=True, id="source")
        self.head = Passage(id="claims-head")
        self.below = Passage(id="below")
        for widget in (self.table, self.passage, self.head, self.below):
            widget.can_focus = False
        self.last = StatusLine(id="last")
        self.search_input = Input(placeholder="search; enter: next match", classes="prompt", select_on_focus=False)
        self._document: tuple[str, str] | None = None
        """doc_id and text of the whole document, while it is shown."""

    def compose_body(self) -> ComposeResult:
        """Question, claims and source, the claim in full, the last decision."""
        yield self.head
        yield self.tabs
        with Horizontal(id="desk"):
            yield self.table
            yield self.passage
        yield self.below
        yield self.search_input
        yield self.last

    @property
    def item(self) -> Item | None:
        """The claim under the cursor."""
        return self.table.row

    def on_resize(self) -> None:
        """Say decisions in words where there is room."""
        self.table.set_columns(item_columns(wide=self.size.width >= WIDE))

    def show_source(self) -> None:
        """Paint the source side for the claim under the cursor."""
        desk, item = self.desk, self.item
        if desk is None:
            return
        if self._document is not None:
            self._show_document(*self._document)
        elif self.tabs.active == 0:
            excerpt = self._excerpt()
            marks = self._marks(excerpt)
            self.passage.show(excerpt_sections(desk.result, marks), at=first_place(excerpt, marks))
        elif self.tabs.active == 1:
            self.passage.show(generator_sections(desk.result))
        elif self.tabs.active == 2:
            self.passage.show(difference_sections(desk.result))
        else:
            self.passage.show(call_sections(desk.result, blind=not desk.all_open()))
        if self.search_input.has_class("-open") and self.search_input.value and item is not None:
            self.passage.search(self.search_input.value)

    def _excerpt(self) -> Excerpt:
        judgment = self.desk.result.claim_judgment if self.desk else None
        return judgment.excerpt if judgment else Excerpt()

    def _marks(self, excerpt: Excerpt) -> dict[str, list[Mark]]:
        item = self.item
        return marks_of(item.claim, excerpt, judged=item.open and not item.added) if item else {}

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self.close_document()
        self.show_source()

    def action_next_tab(self) -> None:
        """Go to the next tab of the source side."""
        self.tabs.step(1)

    def action_page_down(self) -> None:
        """Scroll the source."""
        self.passage.action_page_down()

    def action_page_up(self) -> None:
        """Scroll the source."""
        self.passage.action_page_up()

    def action_document(self) -> None:
        """Show the whole document around the evidence, or go back to the excerpt."""
        if self._document is not None:
            self.close_document()
            self.show_source()
            return
        passage = self._passage_in_view()
        if passage is None or passage.doc_id is None:
            self.say("No document is named for this source.", severity="warning")
            return
        doc_id = passage.doc_id

        def then(text: str | None) -> None:
            if text is None:
                self.say(f"The document {doc_id} is not in this project.", severity="warning")
                return
            self._document = (doc_id, text)
            self.show_source()

        self.fetch(lambda: self.source.document(doc_id), then, group="document")

    def close_document(self) -> None:
        """Go back to the excerpt."""
        self._document = None

    def _passage_in_view(self) -> SourcePassage | None:
        excerpt = self._excerpt()
        every = (*excerpt.reference, *excerpt.context)
        section, _ = first_place(excerpt, self._marks(excerpt))
        return every[section] if section < len(every) else None

    def _show_document(self, doc_id: str, text: str) -> None:
        """The document with the excerpt's marks at their places in it."""
        excerpt = self._excerpt()
        every = (*excerpt.reference, *excerpt.context)
        marks: list[Mark] = []
        for part, own in self._marks(excerpt).items():
            for mark in own:
                section, offset = place_of(excerpt, part, mark.start)
                passage = every[section]
                if passage.doc_id == doc_id and passage.start is not None:
                    start = passage.start + offset
                    marks.append(Mark(start, start + mark.end - mark.start, mark.tone))
        shown = self._passage_in_view()
        start = shown.start if shown and shown.start is not None else 0
        first = min(
            (m.start for m in marks if m.tone == "evidence"), default=min((m.start for m in marks), default=start)
        )
        title = ((f"{doc_id} ", "strong"), ("whole document; o goes back", "quiet"))
        self.passage.show([Section(text, title, tuple(marks), 1)], at=(0, first))

    def action_search(self) -> None:
        """Type what to search for in the source."""
        self.search_input.add_class("-open")
        self.search_input.focus()

    @on(Input.Changed, ".prompt")
    def _search(self, event: Input.Changed) -> None:
        self.passage.search(event.value)

    @on(Input.Submitted, ".prompt")
    def _next_match(self) -> None:
        self.passage.next_match()

    def action_back(self) -> None:
        """Leave search or document, else go back."""
        if self.search_input.has_class("-open"):
            self.search_input.value = ""
            self.search_input.remove_class("-open")
            self.set_focus(None)
        elif self._document is not None:
            self.action_document()
        else:
            super().action_back()

    def action_copy(self) -> None:
        """Copy the claim and its evidence, with reference."""
        if self.desk is not None and self.item is not None:
            self.copy(reference_of(wording.run_name(self.summary), self.item, self.desk.result))
