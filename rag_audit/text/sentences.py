"""Sentences of prose, list items, table rows and code lines, in English and German, with their offsets.

A table row, a list item and a line of code each stand for themselves: technical documents say most facts there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

_FENCE = re.compile(r"^[ \t>]*(```|~~~)")
_HEADING = re.compile(r"^(?: {0,3}|[ >]*>[ >]*)#{1,6}\s")
_TABLE_ROW = re.compile(r"^[ \t>]*\|.*\|[ \t]*$")
_TABLE_RULE = re.compile(r"^[ \t>]*\|?[ \t]*:?-{2,}:?[ \t]*(\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_LIST_ITEM = re.compile(r"^[ \t>]*(?:[-*+•]|\d{1,3}[.)])\s+")
_INDENTED_CODE = re.compile(r"^(?: {4}|\t)\s*\S")
_KEY_LINE = re.compile(r"^\s*(?:- )?[\w.-]+:(?:\s|$)")
"""`key: value`; two such lines below each other are configuration, not prose."""
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”“»)\]*_`]*(?=\s)|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[„\"'])(?:e\.g|i\.e|cf|etc|vs|approx|no|fig|eq|sec|dr|mr|mrs|st|resp|incl|excl|max|min|ca|vgl|bzw|z\.\s?B"
    r"|d\.\s?h|u\.\s?a|o\.\s?ä|s\.\s?o|s\.\s?u|i\.\s?d\.\s?R|z\.\s?T|ggf|evtl|inkl|exkl|nr|abb|tab|kap|bsp|usw|sog|abs|art"
    r"|mind|zzgl|gem|[A-Za-zÄÖÜäöü])\.$",
    re.IGNORECASE,
)
_UNIT = re.compile(r"\d\s?[A-Za-z]\.$")
"""A number with a unit of one letter, which may end a sentence: `4.02 V.`"""
_ENUMERATOR = re.compile(r"(?:^|\s)\d{1,2}\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, list item, heading, table row or code line; `text` is the slice [start:end] of the source."""

    text: str
    start: int
    end: int
    kind: str = "prose"
    """prose | item | heading | header (of a table) | row | code."""


def split_sentences(text: str) -> list[Sentence]:
    """Split a text (Markdown or plain) into sentences in their order; rules of tables and blank lines are dropped."""
    sentences: list[Sentence] = []
    for start, end, kind in _blocks(text):
        spans = _prose_spans(text, start, end) if kind in ("prose", "item") else [(start, end)]
        sentences.extend(Sentence(text[low:high], low, high, kind) for low, high in spans if high > low)
    return sentences


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of one kind, trimmed: a paragraph or list item over its lines, else single lines."""
    open_block: tuple[int, int, str] | None = None
    in_fence = in_keys = False
    position = 0
    lines = text.splitlines(keepends=True)
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        start, position = position, position + len(line)
        body = line.strip()
        if _FENCE.match(line):
            in_fence = not in_fence
            kind = "break"
        else:
            kind = _kind_of_line(line, body, in_fence, open_block)
            if kind in ("prose", "more") and _KEY_LINE.match(line) and (in_keys or _KEY_LINE.match(following)):
                kind = "code"
            if kind == "row" and _TABLE_RULE.match(following):
                kind = "header"
        in_keys = kind == "code"
        if kind == "more" and open_block:
            open_block = (open_block[0], start + len(line.rstrip()), open_block[2])
            continue
        if open_block:
            yield open_block
            open_block = None
        if kind == "break":
            continue
        span = (start + len(line) - len(line.lstrip()), start + len(line.rstrip()), kind)
        if kind in ("prose", "item"):
            open_block = span
        else:
            yield span
    if open_block:
        yield open_block


def _kind_of_line(line: str, body: str, in_fence: bool, open_block: tuple[int, int, str] | None) -> str:
    """What a line is: break (belongs to nothing), more (goes on with the open block), or the kind it opens."""
    if not body or body in (">", "> "):
        return "break"
    if in_fence:
        return "code"
    if _TABLE_RULE.match(line):
        return "break"
    if _HEADING.match(line):
        return "heading"
    if _TABLE_ROW.match(line):
        return "row"
    if _LIST_ITEM.match(line):
        return "item"
    if open_block is None:
        return "code" if _INDENTED_CODE.match(line) else "prose"
    return "more"


def _prose_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a paragraph after sentence ends, but not after abbreviations, initials, ordinals or list numbers."""
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        before = text[begin : match.start() + 1]
        following = text[match.end() : end].lstrip()
        if not following:
            break
        if match.group().startswith(".") and not _ends_sentence(before, following):
            continue
        spans.append((begin, match.end()))
        begin = match.end() + len(text[match.end() : end]) - len(following)
    if begin < end:
        spans.append((begin, end))
    return spans


def _ends_sentence(before: str, following: str) -> bool:
    """Whether the full stop that ends `before` ends a sentence; a parenthesis after it still belongs to it."""
    if following[0] == "(":
        return False
    if _ABBREVIATION.search(before[-14:]) and not _UNIT.search(before[-14:]):
        return False
    if _ENUMERATOR.search(before[-5:]):
        return len(before.split()) > 2 and not following[:1].islower() and not _MONTH.match(following)
    return not following[:1].islower() or following[:1] in "`"


_MONTH = re.compile(
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Generation|Gen)\b"
)
