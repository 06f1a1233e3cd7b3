"""The outline of a text: front matter, title, and which headings stand above a place."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FRONT_MATTER = re.compile(
    r"\A\ufeff?\s*(\+\+\+|---)[ \t]*\r?\n(?P<body>.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t])")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=+|-+|~+|\^+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")

_DEFINITION = re.compile(r"^(?P<indent>[ \t]*)(?:async[ \t]+def|def|class)[ \t]+(?P<name>\w+)[^\n]*\n?", re.MULTILINE)
_UNDERLINE_LEVEL = {"=": 1, "-": 2, "~": 3, "^": 4}
_NO_TITLE = ("|", "-", "*", ">", "+")


class Heading(NamedTuple):
    """One heading: where its line starts, the end of the line, its level (1 is outermost) and its text."""

    start: int
    end: int
    level: int
    title: str


def front_matter_end(text: str) -> int:
    """Where the body begins: after TOML or YAML front matter, 0 without any."""
    found = _FRONT_MATTER.match(text)
    return found.end() if found else 0


def has_body(text: str) -> bool:
    """Whether there is any text beyond front matter and white space."""
    return bool(text[front_matter_end(text) :].strip("\ufeff \t\r\n\f\v"))


def document_title(text: str) -> str | None:
    """The title that the front matter or the first heading gives; None without either."""
    found = _FRONT_MATTER.match(text)
    if found and (title := _front_matter_title(found["body"])):
        return title
    return next((heading.title for heading in find_headings(text)), None)


def _front_matter_title(front_matter: str) -> str | None:
    for line in front_matter.splitlines():
        key, separator, value = line.replace("=", ":", 1).partition(":")
        if separator and key.strip() == "title":
            return value.strip().strip("\"'").strip() or None
    return None


def find_headings(text: str) -> list[Heading]:
    """The headings of a text in order (`#` lines and underlined titles), none inside code fences or front matter."""
    headings: list[Heading] = []
    fence: str | None = None
    paragraph: list[tuple[int, str]] = []
    for start, line in lines_of(text, front_matter_end(text)):
        bare = line.strip()
        opening = _FENCE.match(line)
        if fence is not None:
            if opening and opening["fence"].startswith(fence) and not bare.strip(fence[0]):
                fence = None
        elif opening:
            fence = opening["fence"]
            paragraph.clear()
        elif (atx := _ATX.match(line)) and (title := _atx_title(bare)):
            headings.append(Heading(start, start + len(line), len(atx["marks"]), title))
            paragraph.clear()
        elif (underline := _UNDERLINE.match(line.rstrip("\r\n"))) and len(paragraph) == 1:
            title_start, above = paragraph.pop()
            if len(bare) >= 3 and not above.startswith(_NO_TITLE):
                level = _UNDERLINE_LEVEL[underline["mark"][0]]
                headings.append(Heading(title_start, start + len(line), level, above))
        elif bare:
            paragraph.append((start, bare))
        else:
            paragraph.clear()
    return headings


def _atx_title(line: str) -> str:
    """The text of a `#` line, without marks at its end that stand apart from it."""
    title = line.lstrip("#").strip()
    unmarked = title.rstrip("#")
    return unmarked.rstrip() if unmarked != title and unmarked.endswith((" ", "\t")) else title if unmarked else ""


def find_definitions(text: str) -> list[Heading]:
    """The classes and functions of Python source as headings; the level follows the indentation."""
    return [
        Heading(found.start(), found.end(), 1 + len(found["indent"].expandtabs(4)) // 4, found["name"])
        for found in _DEFINITION.finditer(text)
    ]


def outline(text: str, path: str) -> list[Heading]:
    """The headings of a file, by what kind of file it is."""
    return find_definitions(text) if path.endswith((".py", ".pyi")) else find_headings(text)


def lines_of(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Each line with its offset, line end included; only \\n and \\r\\n end lines, as in an editor."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, text[start:end]
        start = end
