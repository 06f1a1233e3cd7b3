"""What the terminal gets: without colour, with ASCII only, on a small one, as real bytes."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from rag_audit.history import History
from rag_audit.model.settings import Settings
from rag_audit.tui.app import ReviewApp
from rag_audit.tui.source import Source
from rag_audit.tui.theme import CHANGES, STATUSES, THEMES, TONES, VERDICTS
from tests.tui.drive import opened, screen_lines, sees
from tests.tui.hostile import hostile_history

LEAST_CONTRAST = 4.5


def contrast(one: Color, other: Color) -> float:
    """WCAG contrast ratio."""

    def luminance(color: Color) -> float:
        parts = [part / 255 for part in color.rgb]
        r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_tone_can_be_read_on_every_ground(theme: Theme) -> None:
    variables = theme.variables
    grounds = [Color.parse(getattr(theme, name)) for name in ("background", "surface", "panel")]
    for name in ("quiet", "info", "good", "bad", "warn", "identifier", "evidence"):
        for ground in grounds:
            assert contrast(Color.parse(variables[name]), ground) >= LEAST_CONTRAST, name
    assert contrast(Color.parse(variables["on-cursor"]), Color.parse(variables["cursor"])) >= LEAST_CONTRAST


def test_every_status_is_a_glyph_and_a_word() -> None:
    for table in (VERDICTS, STATUSES, CHANGES):
        assert len({sign.word for sign in table.values()}) == len(table)
        for sign in table.values():
            assert sign.glyph
            assert sign.word
            assert sign.tone in TONES


async def test_no_color_leaves_no_colour_and_the_cursor_visible(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(tmp_path) as pilot:
        await sees(pilot, "chunks-1200")
        strips = pilot.app.screen._compositor.render_strips()
        filtered = [
            segment
            for strip in strips
            for line_filter in [pilot.app.get_line_filters()]
            for segment in _through(line_filter, list(strip))
        ]
        plain = {None, RichColor.default()}
        assert {s.style.color for s in filtered if s.style} | {s.style.bgcolor for s in filtered if s.style} <= plain
        assert any(s.style and s.style.reverse and "chunks-1200" in s.text for s in filtered)


def _through(filters: Sequence[LineFilter], segments: list[Segment]) -> list[Segment]:
    for line_filter in filters:
        segments = line_filter.apply(segments, Color(0, 0, 0))
    return segments


async def test_ascii_only_paints_ascii(history: History, tmp_path: Path) -> None:
    app = ReviewApp(Source(tmp_path, Settings(), History(tmp_path), reviewer="ada"), ascii_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, "chunks-1200")
        await pilot.press("enter", "c")
        await sees(pilot, "not decided")
        for strip in app.screen._compositor.render_strips():
            text = "".join(segment.text for segment in _through(app.get_line_filters(), list(strip)))
            assert text.isascii(), text


async def test_a_small_terminal_says_what_it_needs(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path, size=(59, 24)) as pilot:
        await sees(pilot, "needs 60x20")
        await pilot.resize_terminal(80, 19)
        await sees(pilot, "needs 60x20")
        await pilot.resize_terminal(60, 20)
        await sees(pilot, "chunks-1200")
        assert "needs" not in "".join(screen_lines(pilot.app.screen))


async def test_themes_go_round(history: History, tmp_path: Path) -> None:
    async with opened(tmp_path) as pilot:
        await sees(pilot, "chunks-1200")
        seen = [pilot.app.theme]
        for _ in THEMES:
            await pilot.press("ctrl+t")
            await sees(pilot, "chunks-1200")
            seen.append(pilot.app.theme)
        assert seen == ["dark", "light", "contrast", "dark"]


def test_the_byte_stream_of_a_hostile_run_steers_nothing(tmp_path: Path) -> None:
    hostile_history(tmp_path)
    received = _session(tmp_path, [b"\r", b"\r", b"2", b"\x1b", b"c", b"v", b"q"])
    # What the application itself says: CSI sequences and modes. OSC (clipboard, titles) and C1 would be the document's.
    assert b"\x1b]52" not in received
    assert "\x9b".encode() not in received
    assert "\u202e".encode() not in received
    assert "␛".encode() in received


def test_a_mark_that_was_painted_survives_a_kill(history: History, tmp_path: Path) -> None:
    received = _session(tmp_path, [b"\r", b"c", b"v"], kill_at=b"1/3 decided")
    assert b"1/3 decided" in received
    (decision,) = History(tmp_path).decisions("r2")
    assert (decision.claim_id, decision.verdict) == ("c1", "verified")


def _session(project: Path, keys: list[bytes], *, kill_at: bytes | None = None) -> bytes:
    """Run the application on a real terminal, press keys one after the other, return every byte it wrote.

    With `kill_at` it is killed as soon as these bytes were written.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_audit", "--project", str(project), "review", "--reviewer", "ada"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    os.close(follower)
    received = b""
    pressed = list(keys)
    deadline = monotonic() + 60
    while monotonic() < deadline:
        ready, _, _ = select.select([leader], [], [], 0.4)
        if ready:
            try:
                received += os.read(leader, 65536)
            except OSError:
                break
            if kill_at is not None and kill_at in received:
                process.kill()
                break
        elif pressed and len(received) > 2000:
            os.write(leader, pressed.pop(0))
        elif process.poll() is not None:
            break
    process.wait(timeout=20)
    os.close(leader)
    return received
