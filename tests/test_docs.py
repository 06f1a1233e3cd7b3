"""The documentation: complete where it can be compared with the program, and true where it shows output."""

import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_audit.cli import VERBS, run_command_line
from rag_audit.history import History

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_verb_is_documented(verb: str) -> None:
    assert f"| `{verb}` |" in _read("README.md")
    assert f"\n## {verb}\n" in _read("docs/verbs.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://)([^)#]+)[^)]*\)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_readme_gives_the_figures_of_the_shipped_runs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "history", tmp_path / "history")
    means = {summary.label: summary.metrics["hit_at_1"].mean for summary in History(tmp_path).summaries()}
    told = re.findall(r"^\| `([\w-]+)` \| (0\.\d{3}) \|", _read("README.md"), flags=re.M)
    assert {label: f"{mean:.3f}" for label, mean in means.items()} == dict(told)


def test_generated_pages_are_up_to_date() -> None:
    pages: dict[Path, str] = runpy.run_path(str(ROOT / "scripts" / "reference.py"))["pages"]()
    outdated = [path.name for path, text in pages.items() if path.read_text("utf-8") != text]
    assert outdated == [], "python scripts/reference.py writes them"


def _sessions(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of the page's console blocks with the lines that are said to follow it."""
    for block in re.findall(r"^```console\n(.*?)^```", _read(page), flags=re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.splitlines()
            yield command.partition(" #")[0].rstrip(), lines


def _first_missing(lines: list[str], printed: str) -> str | None:
    """The first line that does not follow the one before in what was printed; `…` stands for anything."""
    left = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in (line for line in lines if line != "…"):
        pattern = ".*".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        if not any(re.search(pattern, candidate) for candidate in left):
            return line
    return None


def test_tutorial_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("documents", "history"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy2(ROOT / "questions.yml", tmp_path)
    monkeypatch.delenv("RAG_AUDIT_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path)
    commands = list(_sessions("docs/tutorial.md"))
    assert len(commands) > 10
    for command, lines in commands:
        program, *arguments = shlex.split(command)
        assert program == "rag-audit"
        assert run_command_line(arguments) == 0, command
        printed = capsys.readouterr().out
        assert _first_missing(lines, printed) is None, f"{command}\nprinted\n{printed}"
