"""One run: its questions with their scores, and a preview of the one under the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer

from rag_audit.model import UNKNOWN, ArchivedRun, QuestionResult, QuestionRow, RunSummary, is_failed
from rag_audit.text.width import width
from rag_audit.tui import wording
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.blindness import Blind
from rag_audit.tui.claim_text import FLAG_WORDS
from rag_audit.tui.content import Piece
from rag_audit.tui.layout import Line, section_of
from rag_audit.tui.run_views import metric_order
from rag_audit.tui.screens.compare import open_previous_diff
from rag_audit.tui.screens.export import export_run
from rag_audit.tui.screens.filtered import FilteredScreen
from rag_audit.tui.screens.queues import open_queues, open_sample
from rag_audit.tui.source import Source
from rag_audit.tui.widgets.passage import Passage, Section
from rag_audit.tui.widgets.record_table import Column, RecordTable

RowKey = tuple[str, int | None]
MANY_ROWS = 20_000
"""Above so many rows a filter works in the background."""


def row_key(row: QuestionRow) -> RowKey:
    """What one row of a run is known by."""
    return (row.id, row.repeat)


class RunScreen(FilteredScreen):
    """The questions of one run."""

    PLACE = "run"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("run")]

    def __init__(self, source: Source, summary: RunSummary, *, select: RowKey | None = None) -> None:
        super().__init__(source)
        self.summary = summary
        self.wanted = select
        self.rows: Sequence[QuestionRow] = ()
        self.texts: dict[RowKey, str] = {}
        self.blind = Blind()
        self.only: str | None = None
        self.worse: frozenset[str] = frozenset()
        self._timer: Timer | None = None
        self.metrics = metric_order([summary])
        self.table = RecordTable[QuestionRow](self._columns(), row_key, empty="Reading the run …")
        self.detail = Passage(id="detail")

    def _columns(self) -> list[Column[QuestionRow]]:
        columns: list[Column[QuestionRow]] = [
            Column("question", self._id_cell, 12, sort=lambda row: row.id),
            Column("text", lambda row: (self.texts.get(row_key(row), ""), "plain"), 16, 9, flexible=True),
        ]
        if any(row.corpus != UNKNOWN for row in self.rows):
            columns += [
                Column("corpus", lambda row: (_known(row.corpus), "quiet"), 10, 8, sort=lambda row: row.corpus),
                Column("route", _route, 12, 30, sort=lambda row: ",".join(row.route)),
            ]
        labels = wording.headings(self.metrics)
        columns += [self._metric(name, labels[name], at) for at, name in enumerate(self.metrics)]
        judged = "no_fabrication" in self.metrics or any(row.verdicts for row in self.rows)
        columns += [
            Column("claims", self._claims, 9, 2 if judged else 40, sort=self._contradicted),
            Column("flags", self._flags, 5, 3, sort=self._flag_count),
            Column("first flag", self._first_flag, 18, 12),
        ]
        return columns

    def _id_cell(self, row: QuestionRow) -> Piece:
        name = row.id if row.repeat is None else f"{row.id} #{row.repeat}"
        return (name, "bad" if row.error else "plain")

    def _metric(self, name: str, label: str, at: int) -> Column[QuestionRow]:
        def value(row: QuestionRow) -> float | None:
            return None if self._hides(row, name) else row.scores.get(name)

        def text(row: QuestionRow) -> Piece:
            if self._hides(row, name):
                return ("blind", "quiet")
            scored = row.scores.get(name)
            if scored is None:
                reason = row.missing.get(name, "")
                failed = bool(reason) and is_failed(reason)
                return ("failed", "warn") if failed else ("–", "quiet")
            return (wording.score(scored), "plain")

        return Column(label, text, max(7, min(width(label), 16)), 10 + at, right=True, sort=value)

    def _hides(self, row: QuestionRow, metric: str) -> bool:
        return self.blind.hides(row.id, metric)

    def _claims(self, row: QuestionRow) -> Piece:
        if row.id in self.blind.questions:
            return ("blind", "quiet")
        if not row.verdicts:
            failed = is_failed(row.missing.get("no_fabrication", "not_asked"))
            return ("failed", "warn") if failed else ("–", "quiet")
        counts = [(row.verdicts.get(word, 0), glyph) for word, glyph in _VERDICT_GLYPHS]
        text = " ".join(f"{count}{glyph}" for count, glyph in counts if count)
        return (text, "bad" if row.verdicts.get("contradicted") else "plain")

    def _contradicted(self, row: QuestionRow) -> float | None:
        return (
            None if row.id in self.blind.questions or not row.verdicts else float(row.verdicts.get("contradicted", 0))
        )

    def _flags(self, row: QuestionRow) -> Piece:
        if row.id in self.blind.questions:
            return ("blind", "quiet")
        return (f"! {len(row.flags)}" if row.flags else "", "warn")

    def _first_flag(self, row: QuestionRow) -> Piece:
        if row.id in self.blind.questions or not row.flags:
            return ("", "quiet")
        return (FLAG_WORDS.get(row.flags[0], row.flags[0]), "warn")

    def _flag_count(self, row: QuestionRow) -> float | None:
        return None if row.id in self.blind.questions or not row.flags else float(len(row.flags))

    def compose_body(self) -> ComposeResult:
        """List and preview."""
        with Container(classes="split"):
            yield self.table
            yield self.detail
        yield self.filter_input

    def on_mount(self) -> None:
        """Read the rows, then the texts."""
        self._tell()
        self.table.focus()
        run_id = self.summary.id
        self.fetch(lambda: (self.source.run(run_id), self.source.blind(run_id)), self._show)
        self.fetch(lambda: self.source.texts(self.summary.id), self._show_texts, group="texts")

    def on_screen_resume(self) -> None:
        """What was decided meanwhile may be shown."""
        if self.rows:
            self.fetch(lambda: self.source.blind(self.summary.id), self._set_blind, group="blind")

    def _set_blind(self, blind: Blind) -> None:
        if blind != self.blind:
            self.blind = blind
            self.apply_filter()

    def _show(self, loaded: tuple[ArchivedRun, Blind]) -> None:
        archived, self.blind = loaded
        self.rows = archived.rows
        if self.summary.is_open:
            # Of a run that has not ended only its file says what it measured so far.
            self.metrics = metric_order([archived.summary])
        self.table.set_columns(self._columns())
        self.table.empty = "No question matches."
        self.apply_filter()
        if self.wanted is not None:
            self.table.select(self.wanted)
            self.wanted = None

    def _show_texts(self, texts: dict[RowKey, str]) -> None:
        self.texts = texts
        self.apply_filter()

    def _tell(self) -> None:
        shown, total = len(self.table.rows), len(self.rows)
        facts: list[Piece] = []
        if self.only:
            facts.append((f"only {self.only}  ", "warn"))
        if self.table.sorted_by:
            facts.append((f"by {self.table.sorted_by.label}  ", "quiet"))
        if self.summary.is_open and self.rows:
            facts.append((f"{total} of {self.summary.questions} finished  ", "warn"))
        facts.append((f"{shown}/{total}" if shown != total else wording.plural(total, "question"), "quiet"))
        self.title_bar.tell(["rag-audit", wording.run_name(self.summary)], facts)

    def apply_filter(self) -> None:
        """Show the questions that match the filter and the switch."""
        words = self.filter_words

        def matching() -> list[QuestionRow]:
            wanted = (row for row in self.rows if self._passes(row))
            return [row for row in wanted if not words or all(word in self._haystack(row) for word in words)]

        if len(self.rows) > MANY_ROWS and (words or self.only):
            self.fetch(matching, self._show_matching, group="filter")
        else:
            self._show_matching(matching())

    def _show_matching(self, rows: Sequence[QuestionRow]) -> None:
        self.table.set_rows(rows)
        self._tell()

    def leave_filter(self) -> None:
        """Give the keys back to the list."""
        self.table.focus()

    def _passes(self, row: QuestionRow) -> bool:
        if self.only == "flagged":
            return bool(row.flags) and row.id not in self.blind.questions
        if self.only == "failed":
            return bool(row.error) or any(is_failed(reason) for reason in row.missing.values())
        if self.only == "worse":
            return row.id in self.worse and row.id not in self.blind.questions
        return True

    def _haystack(self, row: QuestionRow) -> str:
        flags = () if row.id in self.blind.questions else row.flags
        parts = (row.id, row.doc_id or "", row.corpus, *row.route, *row.tags, *flags, self.texts.get(row_key(row), ""))
        return " ".join(parts).casefold()

    def _switch(self, name: str) -> None:
        self.only = None if self.only == name else name
        self.apply_filter()

    def action_only_flagged(self) -> None:
        """Show flagged questions only, or all again."""
        self._switch("flagged")

    def action_only_failed(self) -> None:
        """Show questions with a failure only, or all again."""
        self._switch("failed")

    def action_sort(self) -> None:
        """Sort by the next column that can be sorted; after the last one as the run has them."""
        sortable: list[Column[QuestionRow] | None] = [c for c in self.table.columns if c.sort is not None]
        order = [None, *sortable]
        following = order[(order.index(self.table.sorted_by) + 1) % len(order)]
        self.table.sort_by(following, descending=False)
        self._tell()

    def action_reverse(self) -> None:
        """Reverse the order; what has no value stays last."""
        self.table.sort_by(self.table.sorted_by, descending=not self.table.descending)

    @on(RecordTable.RowHighlighted)
    def _preview_soon(self, event: RecordTable.RowHighlighted) -> None:
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(0.05, self._preview)

    def _preview(self) -> None:
        row = self.table.row
        if row is None:
            self.detail.show([])
            return
        run_id, hidden = self.summary.id, row.id in self.blind.questions
        self.fetch(
            lambda: self.source.result(run_id, row.id, row.repeat),
            lambda result: self.detail.show([preview(result, hidden=hidden)]),
            group="preview",
        )

    @on(RecordTable.RowOpened)
    def _opened(self, event: RecordTable.RowOpened) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the question."""
        from rag_audit.tui.screens.question import QuestionScreen

        if self.table.row is not None:
            keys = [row_key(row) for row in self.table.rows]
            self.app.push_screen(QuestionScreen(self.source, self.summary, keys, self.table.cursor))

    def action_claims(self) -> None:
        """Open the claims of the question."""
        from rag_audit.tui.screens.claims import ClaimsScreen

        if self.table.row is not None:
            keys = [row_key(row) for row in self.table.rows]
            self.app.push_screen(ClaimsScreen(self.source, self.summary, keys, self.table.cursor))

    def action_diff(self) -> None:
        """Compare the run with the previous comparable one."""
        open_previous_diff(self, self.summary)

    def action_only_worse(self) -> None:
        """Show only questions worse than in the previous comparable run, or all again."""
        if self.only == "worse":
            self._switch("worse")
            return

        def work() -> frozenset[str] | None:
            before = self.source.previous(self.summary.id)
            if before is None:
                return None
            return frozenset(one.id for one in self.source.diff(before.id, self.summary.id).questions.regressed)

        def then(worse: frozenset[str] | None) -> None:
            if worse is None:
                self.say("There is no earlier run to compare with.", severity="warning")
                return
            self.worse = worse
            self._switch("worse")

        self.fetch(work, then, group="worse")

    def action_audit(self) -> None:
        """Open the sample of the run."""
        open_sample(self, self.summary)

    def action_queues(self) -> None:
        """Offer the queues of the run."""
        open_queues(self, self.summary)

    def action_report(self) -> None:
        """Show judge's, adjusted and corrected numbers."""
        from rag_audit.tui.report_view import report_sections
        from rag_audit.tui.screens.text import TextScreen

        def make() -> list[Section]:
            return report_sections(self.source.report(self.summary))

        self.app.push_screen(TextScreen(self.source, [wording.run_name(self.summary), "audit report"], make))

    def action_export(self) -> None:
        """Export the run."""
        export_run(self, self.summary)

    def action_copy(self) -> None:
        """Copy the question's id and text."""
        row = self.table.row
        if row is not None:
            self.copy(f"{row.id}  {self.texts.get(row_key(row), '')}".rstrip())


_VERDICT_GLYPHS = (("verified", "✓"), ("contradicted", "✗"), ("absent", "○"), ("unparsed", "?"))


def _known(name: str) -> str:
    return "–" if name == UNKNOWN else name


def _route(row: QuestionRow) -> Piece:
    text = " + ".join(row.route) + (f" ({row.rule})" if row.rule else "")
    return (f"! {text}", "warn") if row.misrouted else (text, "quiet")


def preview(result: QuestionResult, *, hidden: bool) -> Section:
    """The question, its answer and why something is missing, in a few lines; blind ones without flags."""
    answer = result.generation.answer if result.generation else None
    lines: list[Line] = [
        [(result.question.question, "strong")],
        [("answer     ", "quiet"), (answer if answer else "– " + (result.error or "no answer"), "plain")],
        [("reference  ", "quiet"), (result.question.reference_answer or "–", "plain")],
    ]
    failed = {name: reason for name, reason in result.missing.items() if is_failed(reason)}
    if failed:
        lines.append([(f"failed     {', '.join(f'{n}: {r}' for n, r in failed.items())}", "warn")])
    if not hidden:
        lines += [[(f"! {flag.flag.value}  ", "warn"), (flag.why, "quiet")] for flag in result.flags]
    lines += [[(note, "quiet")] for note in result.notes]
    return section_of(lines)
