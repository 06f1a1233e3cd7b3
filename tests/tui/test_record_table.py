from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rag_audit.tui.widgets.record_table import Column, RecordTable
from tests.tui.drive import screen_lines, wait_until
from tests.tui.stage import Stage


class Planet(NamedTuple):
    name: str
    mass: float | None


PLANETS = (Planet("Venus", 4.9), Planet("漢字の星", None), Planet("Earth", 6.0), Planet("Mercury", 0.3))


def columns() -> list[Column[Planet]]:
    return [
        Column("name", lambda row: (row.name, "plain"), 10, flexible=True, sort=lambda row: row.name),
        Column("mass", lambda row: (f"{row.mass}", "good"), 6, right=True, sort=lambda row: row.mass),
        Column("extra", lambda row: ("e" * 20, "quiet"), 20, 5),
        Column("more", lambda row: ("m" * 20, "quiet"), 20, 9),
    ]


def table(rows: Sequence[Planet] = PLANETS) -> RecordTable[Planet]:
    made = RecordTable[Planet](columns(), lambda row: row.name)
    made.set_rows(rows)
    return made


def names(shown: RecordTable[Planet]) -> list[str]:
    return [row.name for row in shown.rows]


async def test_sorting_puts_missing_values_last_either_way() -> None:
    shown = table()
    async with Stage(shown).run_test():
        shown.sort_by(shown.columns[1])
        assert names(shown) == ["Mercury", "Venus", "Earth", "漢字の星"]
        shown.sort_by(shown.columns[1], descending=True)
        assert names(shown) == ["Earth", "Venus", "Mercury", "漢字の星"]
        shown.sort_by(None)
        assert names(shown) == [planet.name for planet in PLANETS]


async def test_the_cursor_stays_on_its_row_through_sort_and_filter() -> None:
    shown = table()
    async with Stage(shown).run_test() as pilot:
        await pilot.press("down", "down")
        assert shown.row == PLANETS[2]
        shown.sort_by(shown.columns[1])
        assert shown.row == PLANETS[2]
        shown.set_rows(PLANETS[1:3])
        assert shown.row == PLANETS[2]
        shown.set_rows(PLANETS[:1])
        assert shown.row == PLANETS[0]
        shown.set_rows(())
        assert shown.row is None


async def test_columns_drop_out_by_priority_and_every_line_fills_the_width() -> None:
    shown = table()
    async with Stage(shown).run_test(size=(80, 10)) as pilot:
        await wait_until(pilot, lambda: "more" in screen_lines(pilot.app.screen)[0])
        await pilot.resize_terminal(50, 10)
        await wait_until(pilot, lambda: "more" not in screen_lines(pilot.app.screen)[0])
        assert "extra" in screen_lines(pilot.app.screen)[0]
        await pilot.resize_terminal(24, 10)
        await wait_until(pilot, lambda: "extra" not in screen_lines(pilot.app.screen)[0])
        assert "mass" in screen_lines(pilot.app.screen)[0]
        assert {strip.cell_length for strip in (shown.render_line(y) for y in range(6))} == {24}


async def test_of_a_hundred_thousand_rows_only_those_on_the_screen_are_drawn() -> None:
    drawn: Counter[str] = Counter()
    keys = 0

    def name(row: Planet) -> tuple[str, str]:
        drawn[row.name] += 1
        return row.name, "plain"

    def mass(row: Planet) -> float | None:
        nonlocal keys
        keys += 1
        return row.mass

    rows = [Planet(f"{number:06}", float(number % 977)) for number in range(100_000)]
    shown = RecordTable[Planet](
        [Column("name", name, 10), Column("mass", lambda row: (f"{row.mass}", "good"), 6, sort=mass)],
        lambda row: row.name,
    )
    shown.set_rows(rows)
    async with Stage(shown).run_test() as pilot:
        await pilot.press("end")
        await wait_until(pilot, lambda: "099999" in "".join(screen_lines(pilot.app.screen)))
        height = shown.size.height
        assert height < len(drawn) < 4 * height
        shown.sort_by(shown.columns[1])
        assert keys <= 2 * len(rows)
        assert shown.row == rows[-1]


async def test_one_click_goes_to_a_row_and_a_second_opens_it() -> None:
    opened: list[object] = []

    class Listening(Stage):
        def on_record_table_row_opened(self, event: RecordTable.RowOpened) -> None:
            opened.append(event.row)

    shown = table()
    async with Listening(shown).run_test() as pilot:
        await pilot.click(RecordTable, offset=(5, 3))
        await wait_until(pilot, lambda: shown.row == PLANETS[2])
        assert opened == []
        await pilot.click(RecordTable, offset=(5, 3), times=2)
        await wait_until(pilot, lambda: opened == [PLANETS[2]])


async def test_a_click_on_a_heading_sorts_and_a_second_one_turns_round() -> None:
    shown = table()
    async with Stage(shown).run_test() as pilot:
        heading = screen_lines(pilot.app.screen)[0].index("mass")
        await pilot.click(RecordTable, offset=(heading, 0))
        await wait_until(pilot, lambda: names(shown) == ["Mercury", "Venus", "Earth", "漢字の星"])
        await pilot.click(RecordTable, offset=(heading, 0))
        await wait_until(pilot, lambda: names(shown) == ["Earth", "Venus", "Mercury", "漢字の星"])
