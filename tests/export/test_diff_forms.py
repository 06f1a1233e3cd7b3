"""A diff as Markdown, JUnit XML and HTML: the same numbers, and hostile text without power."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from rag_audit.export.diff_html import marked_words
from rag_audit.export.markup import code, code_cell
from rag_audit.history import History
from tests.diff.archive import Shell, archive
from tests.diff.made import result

HOSTILE = "q <script>alert(1)</script> `a` ``b`` | @everyone [x](javascript:1) \x1b[2J \u202e ]]>"


@pytest.fixture
def pair(shell: Shell) -> Shell:
    before = [
        result(name, scores={"hit_at_1": 1.0}, chunks=["the port is 5432", HOSTILE], answer="It is 5432.", text=HOSTILE)
        for name in (HOSTILE, *(f"q{at}" for at in range(11)))
    ]
    after = [
        result(name, scores={"hit_at_1": 0.0}, chunks=[HOSTILE], answer=f"It is {HOSTILE}.", text=HOSTILE)
        for name in (HOSTILE, *(f"q{at}" for at in range(11)))
    ]
    archive(shell.project, "before", before)
    archive(shell.project, "after", after, chunking={"docs": {"size": HOSTILE}})
    return shell


def test_junit_fails_exactly_where_the_gate_does(pair: Shell) -> None:
    def suites(*options: str, code: int) -> dict[str, tuple[str | None, str | None]]:
        root = ElementTree.fromstring(pair.run("diff", "before", "after", "--format", "junit", *options, code=code))
        return {str(suite.get("name")): (suite.get("tests"), suite.get("failures")) for suite in root}

    assert suites(code=0) == {"metrics": ("1", "0"), "questions": ("12", "0")}
    assert suites("--fail-on", "regression", code=1) == {"metrics": ("1", "1"), "questions": ("12", "12")}


def test_markdown_fits_a_comment_and_disarms_text(pair: Shell) -> None:
    text = pair.run("diff", "before", "after", "--format", "md", "--fail-on", "regression", code=1)
    assert "**The gate failed.**" in text
    assert len(text) < 65_536
    assert "\x1b" not in text
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    assert "<script" not in outside
    assert "@everyone" not in outside
    assert str(History(pair.project).head()) in text


def test_markdown_of_many_regressions_is_cut_with_a_count(shell: Shell) -> None:
    long = "x" * 300
    for name, value in (("before", 1.0), ("after", 0.0)):
        archive(
            shell.project,
            name,
            [result(f"{long}{at}", scores={"hit_at_1": value}, chunks=[name + long]) for at in range(400)],
        )
    text = shell.run("diff", "before", "after", "--format", "md")
    assert len(text) < 65_536
    assert "**Regressed (400)**" in text
    assert "and 375 more" in text


def test_html_is_one_inert_file(pair: Shell) -> None:
    target = pair.project.parent / "diff.html"
    pair.run("diff", "before", "after", "--format", "html", "--output", str(target))
    page = target.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "javascript:1" in page  # as text
    assert "<a " not in page
    assert " src=" not in page
    assert "default-src 'none'" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "regressed" in page
    assert "not retrieved" in page


def test_words_are_marked_on_both_sides() -> None:
    left, right = marked_words("The port is 5432 <b>.", "The port is 9999 <b>.")
    assert "<del>5432</del>" in left
    assert "<ins>9999</ins>" in right
    assert "&lt;b&gt;" in left


@pytest.mark.parametrize(
    ("text", "span"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a|b", "`a|b`"), ("a\nb", "`a⏎b`"), ("", "` `")],
)
def test_code_spans(text: str, span: str) -> None:
    assert code(text) == span
    assert code_cell(text) == span.replace("|", "\\|")
