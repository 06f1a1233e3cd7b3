"""Long text by the line API: wrapped once a width, spans highlighted by offsets of the raw text, exact jumps."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual.binding import BindingType
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip

from rag_audit.text.visible import VisibleText, visible_line, visible_text
from rag_audit.text.width import width, wrap
from rag_audit.tui.actions import bindings_of
from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.toned import TonedView

LONGEST_SECTION = 200_000
"""Characters of one section that are shown; what is left out is said."""


class Mark(NamedTuple):
    """A range of characters of a section's raw text and the tone it is painted in."""

    start: int
    end: int
    tone: str


@dataclass(frozen=True, slots=True)
class Section:
    """A titled stretch of raw text with its marks; `first_line` numbers its lines as the file does."""

    text: str
    title: tuple[Piece, ...] = ()
    marks: tuple[Mark, ...] = ()
    first_line: int | None = None
    tone: str = "plain"


_Run = tuple[int, int, tuple[str, ...]]
"""Start and end in what is shown, and the tones of this stretch."""


class _Line(NamedTuple):
    section: int
    start: int
    """Offset in what is shown of the section; -1: the title, -2: blank."""
    end: int
    number: int | None


_TITLE, _BLANK = -1, -2


@dataclass(slots=True)
class _Prepared:
    """A section made visible, with its marks as runs that do not overlap."""

    visible: VisibleText
    runs: list[_Run] = field(default_factory=list)


def _runs(visible: VisibleText, marks: Sequence[Mark]) -> list[_Run]:
    """Marks in offsets of what is shown, cut where they overlap so that each run has one set of tones."""
    edges: list[tuple[int, int, int]] = []
    for order, mark in enumerate(marks):
        start, end = visible.offset(mark.start), visible.offset(mark.end)
        if start < end:
            edges += [(start, 1, order), (end, 0, order)]
    edges.sort()
    runs: list[_Run] = []
    active: list[int] = []
    last = 0
    for at, opens, order in edges:
        if active and at > last:
            runs.append((last, at, tuple(marks[one].tone for one in sorted(active))))
        last = at
        if opens:
            active.append(order)
        else:
            active.remove(order)
    return runs


class Passage(TonedView):
    """Sections of untrusted text, one below the other."""

    DEFAULT_CSS = """
    Passage { height: 1fr; overflow-x: hidden; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("text")]

    def __init__(
        self, *, numbers: bool = False, empty: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.numbers = numbers
        self.empty = empty
        self.sections: tuple[Section, ...] = ()
        self._prepared: list[_Prepared] = []
        self._lines: list[_Line] = []
        self._width = -1
        self._digits = 0
        self._wanted: tuple[int, int] | None = None
        self._found: list[tuple[int, int, int]] = []
        self._found_at = 0

    def show(self, sections: Sequence[Section], *, at: tuple[int, int] | None = None) -> None:
        """Show other text, from its beginning or with the raw offset `at` (section, offset) in view."""
        self.sections = tuple(map(_cut, sections))
        self._found = []
        self._wanted = at
        self._prepare()
        self._layout()
        if at is None:
            self.scroll_to(y=0, animate=False, force=True)

    def _prepare(self) -> None:
        self._prepared = []
        for section in self.sections:
            shown = visible_text(section.text)
            self._prepared.append(_Prepared(shown, _runs(shown, section.marks)))

    def _layout(self) -> None:
        """Wrap every section for the width at hand and bring what was asked for into view."""
        self._width = self.scrollable_content_region.width
        if self._width <= 0:
            return
        last = max((s.first_line + s.text.count("\n") for s in self.sections if s.first_line is not None), default=0)
        self._digits = len(str(last)) + 1 if self.numbers and last else 0
        self._lines = list(self._wrapped(max(self._width - self._digits, 4)))
        self.virtual_size = Size(0, len(self._lines))
        if self._wanted is not None:
            self._bring_into_view(*self._wanted)
        self.refresh()

    def _wrapped(self, cells: int) -> Iterator[_Line]:
        for at, (section, prepared) in enumerate(zip(self.sections, self._prepared, strict=True)):
            if at:
                yield _Line(at, _BLANK, 0, None)
            if section.title:
                yield _Line(at, _TITLE, 0, None)
            number = section.first_line
            shown = prepared.visible.shown
            for start, end in wrap(shown, cells):
                begins = start == 0 or shown[start - 1] == "\n"
                yield _Line(at, start, end, number if begins and number is not None else None)
                if number is not None and end < len(shown) and shown[end] == "\n":
                    number += 1

    def on_resize(self) -> None:
        """Wrap again where the width changed."""
        if self.scrollable_content_region.width != self._width:
            if self._wanted is None and self._lines:
                top = self._lines[min(round(self.scroll_offset.y), len(self._lines) - 1)]
                self._layout()
                self._scroll_to_shown(top.section, top.start, above=0)
            else:
                self._layout()
        elif self._wanted is not None:
            self._bring_into_view(*self._wanted)

    def reveal(self, section: int, offset: int) -> None:
        """Bring a raw offset of a section into view, a third from the top."""
        self._wanted = (section, offset)
        self._bring_into_view(section, offset)

    def _bring_into_view(self, section: int, offset: int) -> None:
        if section < len(self._prepared):
            self._scroll_to_shown(section, self._prepared[section].visible.offset(offset), above=self.size.height // 3)

    def line_of(self, section: int, shown_offset: int) -> int:
        """The display line that holds an offset in what is shown of a section."""
        after = bisect_right(self._lines, (section, shown_offset), key=lambda line: (line.section, line.start))
        return max(after - 1, 0)

    def _scroll_to_shown(self, section: int, offset: int, *, above: int) -> None:
        if self._lines:
            line = self.line_of(section, offset)
            self.scroll_to(y=max(line - above, 0), animate=False, force=True)

    def action_scroll_down(self) -> None:
        """Go a line down."""
        self._wanted = None
        self.scroll_relative(y=1, animate=False, force=True)

    def action_scroll_up(self) -> None:
        """Go a line up."""
        self._wanted = None
        self.scroll_relative(y=-1, animate=False, force=True)

    def action_page_down(self) -> None:
        """Go a page down."""
        self._wanted = None
        self.scroll_relative(y=max(self.size.height - 1, 1), animate=False, force=True)

    def action_page_up(self) -> None:
        """Go a page up."""
        self._wanted = None
        self.scroll_relative(y=-max(self.size.height - 1, 1), animate=False, force=True)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self._wanted = None
        self.scroll_to(y=0, animate=False, force=True)

    def action_scroll_end(self) -> None:
        """Go to the end."""
        self._wanted = None
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def search(self, wanted: str) -> int:
        """Find every occurrence, mark them, go to the first at or below the top line; returns how many."""
        self._found = []
        if wanted:
            for at, prepared in enumerate(self._prepared):
                hay = prepared.visible.shown
                self._found += [
                    (at, found.start(), found.end()) for found in re.finditer(re.escape(wanted), hay, re.IGNORECASE)
                ]
        top = round(self.scroll_offset.y)
        below = (n for n, (at, start, _) in enumerate(self._found) if self.line_of(at, start) >= top)
        self._found_at = next(below, 0) - 1
        self.next_match()
        return len(self._found)

    def next_match(self) -> int:
        """Go to the next match; returns its number, from 1 (0: none)."""
        self.refresh()
        if not self._found:
            return 0
        self._found_at = (self._found_at + 1) % len(self._found)
        at, start, _ = self._found[self._found_at]
        self._wanted = None
        self._scroll_to_shown(at, start, above=self.size.height // 3)
        return self._found_at + 1

    def render_line(self, y: int) -> Strip:
        """Paint one display line."""
        base = self.rich_style
        at = y + round(self.scroll_offset.y)
        width_ = self.size.width
        if at >= len(self._lines):
            if at == 0 and self.empty:
                return self.line_strip(((self.empty, "quiet"),), width_, base)
            return Strip.blank(width_, base)
        line = self._lines[at]
        if line.start == _BLANK:
            return Strip.blank(width_, base)
        if line.start == _TITLE:
            return self.line_strip(self.sections[line.section].title, width_, base)
        segments = self._text_segments(line)
        strip = Strip(segments)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(at)) is not None:
            strip = self._selected(strip, *span)
        if self._digits:
            number = "" if line.number is None else str(line.number)
            gutter = Segment(f"{number:>{self._digits - 1}} ", base + self.tone("quiet"))
            return Strip.join([Strip([gutter]), strip.apply_offsets(0, at)]).adjust_cell_length(width_, base)
        return strip.apply_offsets(0, at).adjust_cell_length(width_, base)

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        end = len(strip.text) if end == -1 else end
        cells = [width(strip.text[:start]), width(strip.text[:end])]
        before, chosen, after = strip.divide([*cells, max(strip.cell_length, cells[-1])])
        style = self.screen.get_component_rich_style("screen--selection")
        return Strip.join([before, chosen.apply_style(style), after])

    def _text_segments(self, line: _Line) -> list[Segment]:
        section, prepared = self.sections[line.section], self._prepared[line.section]
        shown = prepared.visible.shown
        base = self.rich_style + self.tone(section.tone)
        runs = _within(prepared.runs, line.start, line.end) + self._found_within(line)
        cuts = sorted({line.start, line.end, *(edge for start, end, _ in runs for edge in (start, end))})
        segments = []
        for start, end in pairwise(cuts):
            style = base
            for run_start, run_end, tones in runs:
                if run_start <= start and end <= run_end:
                    for tone in tones:
                        style += self.tone(tone)
            segments.append(Segment(shown[start:end], style))
        return segments

    def _found_within(self, line: _Line) -> list[_Run]:
        if not self._found:
            return []
        first = bisect_right(self._found, (line.section, line.start)) - 1
        runs: list[_Run] = []
        for number in range(max(first, 0), len(self._found)):
            at, start, end = self._found[number]
            if (at, start) >= (line.section, line.end):
                break
            if at == line.section and end > line.start:
                tone = "current" if number == self._found_at else "found"
                runs.append((max(start, line.start), min(end, line.end), (tone,)))
        return runs

    def line_text(self, at: int) -> str:
        """The text of one display line."""
        line = self._lines[at]
        if line.start == _TITLE:
            return "".join(visible_line(text) for text, _ in self.sections[line.section].title)
        return "" if line.start == _BLANK else self._prepared[line.section].visible.shown[line.start : line.end]

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text under a mouse selection."""
        return selection.extract("\n".join(self.line_text(at) for at in range(len(self._lines)))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Repaint what is selected."""
        self.refresh()


def _within(runs: list[_Run], low: int, high: int) -> list[_Run]:
    """The runs that touch a line, cut to it."""
    first = max(bisect_right(runs, low, key=lambda run: run[0]) - 1, 0)
    touched = []
    for start, end, tones in runs[first:]:
        if start >= high:
            break
        if end > low:
            touched.append((max(start, low), min(end, high), tones))
    return touched


def _cut(section: Section) -> Section:
    """Cut a very long section, and say so at the cut."""
    left = len(section.text) - LONGEST_SECTION
    if left <= 0:
        return section
    note = f"\n… {left:,} more characters are not shown here; the run file and the exports have them"
    marks = tuple(mark for mark in section.marks if mark.end <= LONGEST_SECTION)
    return Section(section.text[:LONGEST_SECTION] + note, section.title, marks, section.first_line, section.tone)
