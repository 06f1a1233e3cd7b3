"""Draw the README's picture: the claims of one shipped question beside their source, as the screen paints them."""

import asyncio
import re
import shutil
import tempfile
from pathlib import Path
from time import monotonic

from textual.pilot import Pilot

from rag_audit.history import History
from rag_audit.model.settings import Settings
from rag_audit.tui.app import ReviewApp
from rag_audit.tui.source import Source

ROOT = Path(__file__).resolve().parent.parent
RUN, QUESTION = "no-routing", "B-DIA-01"
SIZE = (110, 30)
PATIENCE_S = 20.0


async def draw(project: Path) -> str:
    """Open a question's claims and return the screen as SVG."""
    app = ReviewApp(Source(project, Settings(), History(project), reviewer="ada"))
    async with app.run_test(size=SIZE) as pilot:
        await _painted(pilot, f"› {RUN}")
        await pilot.press("enter")
        await _painted(pilot, "EVT-02")
        await pilot.press("slash", *QUESTION.lower(), "enter")
        await _painted(pilot, QUESTION)
        await pilot.press("enter")
        await _painted(pilot, "reference answer")
        await pilot.press("c")
        await _painted(pilot, "c1")
        await pilot.press("n")
        await pilot.pause()
        return app.export_screenshot(title="rag-audit")


async def _painted(pilot: Pilot[None], text: str) -> None:
    """Wait until a text is on the screen."""
    deadline = monotonic() + PATIENCE_S
    while text not in _screen(pilot):
        if monotonic() > deadline:
            raise TimeoutError(f"{text!r} was never painted:\n{_screen(pilot)}")
        await asyncio.sleep(0.02)


def _screen(pilot: Pilot[None]) -> str:
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def main() -> None:
    """Write docs/claims.svg; the fonts of the reader's machine are used instead of fetched ones."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "engine-controllers"
        project.mkdir()
        shutil.copytree(ROOT / "history", project / "history")
        shutil.copytree(ROOT / "documents", project / "documents")
        shutil.copy2(ROOT / "questions.yml", project)
        svg = asyncio.run(draw(project))
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    (ROOT / "docs" / "claims.svg").write_text(svg, "utf-8")
    print("wrote docs/claims.svg")


if __name__ == "__main__":
    main()
