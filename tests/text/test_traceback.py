"""A traceback that must be cut keeps the frames of the project and the exception."""

from rag_audit.text.traceback import shorten_context

LIBRARY = (
    '  File "/usr/lib/python3.11/site-packages/web/app.py", line {0}, in layer_{0}\n    return self.next(request)\n'
)
PROJECT = '  File "/srv/shop/views.py", line {0}, in handler_{0}\n    total = compute(order)\n'
TRACEBACK = (
    "Traceback (most recent call last):\n"
    + PROJECT.format(10)
    + "".join(LIBRARY.format(number) for number in range(40))
    + PROJECT.format(20)
    + "".join(LIBRARY.format(number) for number in range(40, 60))
    + "ValueError: no price for 'x'"
)


def test_a_short_context_is_left_alone() -> None:
    assert shorten_context("short", 10) == ("short", ())


def test_library_frames_go_before_the_projects_own() -> None:
    text, cut = shorten_context(TRACEBACK, 600)
    assert len(text) <= 600
    assert "handler_10" in text
    assert "handler_20" in text
    assert text.startswith("Traceback (most recent call last):")
    assert text.endswith("ValueError: no price for 'x'")
    assert "frames left out" in text
    (note,) = cut
    assert note.endswith("library frames left out")


def test_a_tail_that_is_all_library_does_not_push_out_the_failing_function() -> None:
    text, _ = shorten_context(TRACEBACK, 320)
    assert "in handler_20" in text
    assert "layer_59" not in text


def test_the_projects_innermost_frame_stays_longest() -> None:
    own = (
        "Traceback (most recent call last):\n" + "".join(PROJECT.format(number) for number in range(30)) + "KeyError: 1"
    )
    text, cut = shorten_context(own, 400)
    assert "in handler_29" in text
    assert "in handler_0\n" not in text
    assert any("project frames" in note for note in cut)


def test_other_text_keeps_its_beginning_and_its_end() -> None:
    text, cut = shorten_context("a" * 500 + "b" * 500, 100)
    assert text.startswith("a" * 50)
    assert text.endswith("b" * 50)
    assert cut == ("context: 900 characters left out",)
