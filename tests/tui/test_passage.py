from textual.geometry import Offset
from textual.selection import Selection

from rag_audit.tui.widgets.passage import LONGEST_SECTION, Mark, Passage, Section
from tests.tui.drive import screen_text, wait_until
from tests.tui.stage import Stage

LONG = "\n".join(f"line number {number} says nothing" for number in range(5_000))


def marked(shown: Passage, tone: str) -> str:
    """The text painted in a tone on the visible lines."""
    style = shown.tone(tone)
    return "".join(
        segment.text
        for y in range(shown.size.height)
        for segment in shown.render_line(y)
        if segment.style is not None and segment.style.reverse and segment.style.color == style.color
    )


async def test_a_mark_counts_in_the_raw_text_and_is_brought_into_view() -> None:
    raw = LONG + "\n\x1b\x9btab\there: the evidence\r\nends"
    start = raw.index("the evidence")
    shown = Passage(numbers=True)
    async with Stage(shown).run_test() as pilot:
        shown.show([Section(raw, marks=(Mark(start, start + 12, "evidence"),), first_line=1)], at=(0, start))
        await wait_until(pilot, lambda: "the evidence" in screen_text(pilot.app.screen))
        assert marked(shown, "evidence") == "the evidence"
        assert "5001 ␛‹U+009B›tab    here: the evidence" in screen_text(pilot.app.screen)


async def test_overlapping_marks_cut_the_text_and_lose_nothing() -> None:
    shown = Passage()
    async with Stage(shown).run_test() as pilot:
        marks = (Mark(0, 9, "evidence"), Mark(4, 14, "identifier"), Mark(4, 4, "found"))
        shown.show([Section("some evidence there", marks=marks)])
        await wait_until(pilot, lambda: "some evidence there" in screen_text(pilot.app.screen))
        assert [segment.text for segment in shown.render_line(0)][:4] == ["some", " evid", "ence ", "there"]


async def test_search_finds_marks_and_goes_round() -> None:
    shown = Passage()
    async with Stage(shown).run_test() as pilot:
        shown.show([Section(LONG)])
        assert shown.search("NUMBER 4321") == 1
        await wait_until(pilot, lambda: "line number 4321" in screen_text(pilot.app.screen))
        assert shown.search("number 12") == 111
        assert (shown.next_match(), shown.search("nowhere"), shown.next_match()) == (2, 0, 0)


async def test_wrapped_lines_are_numbered_once_and_fill_the_width() -> None:
    shown = Passage(numbers=True)
    async with Stage(shown).run_test(size=(30, 12)) as pilot:
        shown.show([Section("short\n" + "漢字" * 40 + "\nend", first_line=9)])
        await wait_until(pilot, lambda: "end" in screen_text(pilot.app.screen))
        numbers = [line[:3].strip() for line in screen_text(pilot.app.screen).splitlines()]
        assert [number for number in numbers if number] == ["9", "10", "11"]
        assert {shown.render_line(y).cell_length for y in range(12)} == {30}


async def test_very_long_text_says_what_is_left_out() -> None:
    shown = Passage()
    async with Stage(shown).run_test() as pilot:
        shown.show([Section("x" * 100_000 + "\n" + "漢字 " * 400_000)])
        await pilot.press("end")
        await wait_until(pilot, lambda: "more characters are not shown here" in screen_text(pilot.app.screen))
        assert f"{100_001 + 1_200_000 - LONGEST_SECTION:,} more characters" in screen_text(pilot.app.screen)


async def test_the_mouse_can_select_text() -> None:
    shown = Passage()
    async with Stage(shown).run_test() as pilot:
        shown.show([Section("first line\nsecond line")])
        await wait_until(pilot, lambda: "second" in screen_text(pilot.app.screen))
        selection = Selection.from_offsets(Offset(6, 0), Offset(6, 1))
        assert shown.get_selection(selection) == ("line\nsecond", "\n")


async def test_another_width_leaves_the_title_at_the_top() -> None:
    passage = Passage()
    async with Stage(passage).run_test(size=(60, 10)) as pilot:
        passage.show([Section("word " * 400, (("the title", "title"),))])
        await pilot.pause()
        await pilot.resize_terminal(50, 10)
        await pilot.pause()
        assert "the title" in screen_text(pilot.app.screen)
