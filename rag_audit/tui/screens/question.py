"""One question: the answer, what came back, what the generator saw, what the judge saw, and where they differ."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from rag_audit.model import QuestionResult, RunSummary, is_failed
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.blindness import Blind
from rag_audit.tui.content import Piece, sign
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.screens.base import ReviewScreen
from rag_audit.tui.screens.tabbed import Tabbed
from rag_audit.tui.source import Source
from rag_audit.tui.theme import VERDICTS
from rag_audit.tui.views import (
    call_sections,
    difference_sections,
    excerpt_sections,
    generator_sections,
    retrieved_sections,
)
from rag_audit.tui.widgets.passage import Passage, Section
from rag_audit.tui.widgets.tabs import TabLine

RowKey = tuple[str, int | None]
TABS = ("answer", "retrieved", "generator saw", "judge saw", "difference", "calls")


class QuestionScreen(Tabbed, ReviewScreen):
    """Everything every layer saw and said for one question."""

    PLACE = "question"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("question")]

    def __init__(self, source: Source, summary: RunSummary, keys: Sequence[RowKey], at: int) -> None:
        super().__init__(source)
        self.summary = summary
        self.keys = keys
        self.at = at
        self.result: QuestionResult | None = None
        self.hidden = Blind()
        self.tabs = TabLine(TABS)
        self.head = Passage(id="head")
        self.passage = Passage(numbers=True, id="passage")
        self.search_input = Input(placeholder="search; enter: next match", classes="prompt", select_on_focus=False)

    def compose_body(self) -> ComposeResult:
        """Question and scores, tabs, text."""
        yield self.head
        yield self.tabs
        yield self.passage
        yield self.search_input

    def on_mount(self) -> None:
        """Load the question."""
        self.passage.focus()

    def on_screen_resume(self) -> None:
        """Load, or load again: decisions may have opened what was hidden."""
        self._load()

    def _load(self) -> None:
        (question_id, repeat), run_id = self.keys[self.at], self.summary.id
        self.title_bar.tell(
            ["rag-audit", wording.run_name(self.summary), question_id], [(f"{self.at + 1}/{len(self.keys)}", "quiet")]
        )

        def work() -> tuple[QuestionResult, Blind]:
            return self.source.result(run_id, question_id, repeat), self.source.blind(run_id)

        self.fetch(work, self._show)

    def _show(self, loaded: tuple[QuestionResult, Blind]) -> None:
        self.result, self.hidden = loaded
        self.head.show([head_section(self.result, self.hidden)])
        self._show_tab()

    def _show_tab(self) -> None:
        if self.result is None:
            return
        views: tuple[Callable[[], Sequence[Section]], ...] = (
            lambda: answer_sections(self.result, self.hidden) if self.result else (),
            lambda: retrieved_sections(self.result) if self.result else (),
            lambda: generator_sections(self.result) if self.result else (),
            lambda: excerpt_sections(self.result) if self.result else (),
            lambda: difference_sections(self.result) if self.result else (),
            lambda: (
                call_sections(self.result, blind=self.result.question.id in self.hidden.questions)
                if self.result
                else ()
            ),
        )
        self.passage.show(views[self.tabs.active]())

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        self._show_tab()

    def action_next_question(self) -> None:
        """Go to the next question of the list."""
        self._go(1)

    def action_previous_question(self) -> None:
        """Go to the previous question of the list."""
        self._go(-1)

    def _go(self, by: int) -> None:
        at = max(0, min(self.at + by, len(self.keys) - 1))
        if at != self.at:
            self.at = at
            self._load()

    def action_claims(self) -> None:
        """Open the claims of the question."""
        from rag_audit.tui.screens.claims import ClaimsScreen

        self.app.push_screen(ClaimsScreen(self.source, self.summary, self.keys, self.at))

    def action_search(self) -> None:
        """Type what to search for."""
        self.search_input.add_class("-open")
        self.search_input.focus()

    @on(Input.Changed, ".prompt")
    def _search(self, event: Input.Changed) -> None:
        self.passage.search(event.value)

    @on(Input.Submitted, ".prompt")
    def _next_match(self) -> None:
        self.passage.next_match()

    def action_back(self) -> None:
        """Leave the search, else go back."""
        if self.search_input.has_class("-open"):
            self.search_input.value = ""
            self.search_input.remove_class("-open")
            self.passage.focus()
        else:
            super().action_back()

    def action_copy(self) -> None:
        """Copy what is shown, with its reference."""
        if self.result is not None:
            where = f"{self.summary.id} {self.result.question.id} {TABS[self.tabs.active]}"
            self.copy("\n".join([where, "", *(section.text for section in self.passage.sections)]))


def head_section(result: QuestionResult, hidden: Blind) -> Section:
    """The question with its route and scores."""
    route: list[Piece] = [(wording.route(result.route), "quiet")]
    if result.route.misrouted:
        route.append((f"  ! misrouted: its document is in {', '.join(result.route.home)}", "warn"))
    scores: list[Piece] = []
    for name in (*result.scores, *(name for name in result.missing if name not in result.scores)):
        value = result.scores.get(name)
        if hidden.hides(result.question.id, name):
            shown, tone = "blind", "quiet"
        elif value is None:
            reason = result.missing.get(name, "no score")
            shown, tone = f"– {reason.replace('_', ' ')}", "warn" if is_failed(reason) else "quiet"
        else:
            shown, tone = wording.score(value), "strong"
        scores += [(_unbroken(wording.short_name(name) + " "), "quiet"), (_unbroken(shown) + "   ", tone)]
    return section_of([[(result.question.question, "strong")], route, scores])


def _unbroken(text: str) -> str:
    """Keep a name and its value on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def answer_sections(result: QuestionResult, hidden: Blind) -> list[Section]:
    """Answer, reference, keywords, claims and the score judge's words."""
    blind = result.question.id in hidden.questions
    generation = result.generation
    answer = generation.answer if generation else ""
    sections = [
        Section(
            answer or f"no answer: {result.error or 'unknown reason'}",
            _title("answer", f"  {generation.reported_model or generation.model or ''}" if generation else ""),
            tone="plain" if answer else "warn",
        ),
        Section(result.question.reference_answer or "–", _title("reference answer")),
    ]
    if result.question.keywords:
        sections.append(section_of([_keywords(result, answer)], title=_title("keywords")))
    sections.append(section_of(_claim_lines(result, blind=blind), title=_title("claims", "  c: beside the source")))
    judgment = result.score_judgment
    if judgment is not None and not hidden.hides(result.question.id, "faithfulness"):
        text = judgment.justification or (f"no scores: {judgment.error}" if judgment.error else "–")
        sections.append(Section(text, _title("score judge", f"  {judgment.reported_model or ''}")))
    if result.flags and not blind:
        lines: list[Line] = [
            [
                (f"! {flag.flag.value}  ", "warn"),
                (f"{flag.claim_id}  " if flag.claim_id else "", "quiet"),
                (flag.why, "plain"),
            ]
            for flag in result.flags
        ]
        sections.append(section_of(lines, title=_title("flags")))
    if result.measurements:
        line = "   ".join(f"{name} {value:g}" for name, value in result.measurements.items())
        sections.append(Section(line, _title("measurements")))
    if result.notes:
        sections.append(Section("\n".join(result.notes), _title("notes")))
    return sections


def _keywords(result: QuestionResult, answer: str) -> Line:
    folded = answer.casefold()
    line: list[Piece] = []
    for keyword in result.question.keywords:
        found = keyword.casefold() in folded
        line += [("✓ " if found else "○ ", "good" if found else "warn"), (keyword + "   ", "plain")]
    return line


def _claim_lines(result: QuestionResult, *, blind: bool) -> list[Line]:
    judgment = result.claim_judgment
    if judgment is None:
        return [[("no claim judge was asked", "quiet")]]
    if judgment.error:
        return [[(f"the claim judge failed: {judgment.error}", "warn")]]
    if not judgment.claims:
        return [[("the judge listed no claims", "quiet")]]
    if blind:
        return [[("? blind         ", "quiet"), (claim.text, "plain")] for claim in judgment.claims]
    return [
        [(f"{VERDICTS[claim.verdict.value].text:<15} ", sign(VERDICTS[claim.verdict.value])[1]), (claim.text, "plain")]
        for claim in judgment.claims
    ]


def _title(text: str, rest: str = "") -> tuple[Piece, ...]:
    return ((text, "title"), (rest, "quiet"))
