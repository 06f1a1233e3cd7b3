from dataclasses import replace

from rag_audit.model import RunSummary
from rag_audit.tui.run_views import sparkline
from rag_audit.tui.trend import Mark, changes_along, plot_metric
from tests.builders import result, run


def runs() -> list[RunSummary]:
    first = run("r1", [result(faithfulness=4)])[0].summary
    second = run("r2", [result(faithfulness=8)])[0].summary
    judged = replace(second, id="r3", context=replace(second.context, judges={"claims": "other", "scores": "offline"}))
    asked = replace(judged, id="r4", context=replace(judged.context, questions_hash="q2", routing={"enabled": False}))
    return [first, second, judged, asked]


def test_marks_say_where_the_measurement_changed() -> None:
    assert changes_along(runs()) == [Mark(3, ("judge",)), Mark(4, ("questions", "routing"))]
    assert changes_along(runs()[:1]) == []


def test_the_plot_fills_its_room_and_shows_the_values() -> None:
    lines = plot_metric(runs(), "faithfulness", 60, 12).splitlines()
    assert len(lines) == 12
    assert {len(line) for line in lines[:10]} == {60}
    assert "".join(lines).count("o") == 4
    assert "\x1b" not in "".join(lines)


def test_a_metric_without_values_says_so() -> None:
    assert plot_metric(runs(), "azure.none", 60, 12) == "no run has a value of this metric"


def test_sparklines_show_gaps_and_flat_lines() -> None:
    assert sparkline([0.0, None, 1.0]) == "▁·█"
    assert sparkline([0.5, 0.5]) == "▄▄"
    assert sparkline([None]) == ""
