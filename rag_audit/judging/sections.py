"""The stretches of a document that answer a question, found by gold, reference answer and keywords alone."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.text.words import content_stems

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"^[ \t>]*(```|~~~)")
_SMALL_DOCUMENT = 1_500
"""A document of so many characters is shown whole."""
_SMALL_SECTION = 2_000
"""A section of so many characters is shown whole, a longer one by the blocks around the hit."""
_LEAST_GAIN = 0.1
"""A further block must add this share of what the reference answer names."""
_MOST_BLOCKS = 6


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters [start, end) of a document under one heading path."""

    start: int
    end: int
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    section: int


def choose_stretches(
    text: str, *, gold: Sequence[str], answer: str, keywords: Sequence[str], question: str, limit: int
) -> tuple[list[Stretch], int]:
    """The stretches that answer, in document order and at most `limit` characters, and how many did not fit.

    Blocks that hold gold come first; then the blocks that cover most of what the reference answer and the keywords
    name and no earlier block did, rare words counting more (log of the inverse share of blocks).
    """
    if len(text) <= min(_SMALL_DOCUMENT, limit):
        return [Stretch(0, len(text.rstrip()))], 0
    sections = split_sections(text)
    blocks = [block for at, section in enumerate(sections) for block in _blocks(text, section, at)]
    wanted = [_widened(blocks, at, sections) for at in _ranked_blocks(text, blocks, gold, answer, keywords, question)]
    return _within(text, wanted, sections, limit)


def split_sections(text: str) -> list[Stretch]:
    """Split Markdown at its headings (not those inside fences); each section begins with its heading line."""
    sections: list[Stretch] = []
    path: list[tuple[int, str]] = []
    start = position = 0
    in_fence = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            in_fence = not in_fence
        match = None if in_fence else _HEADING.match(line.rstrip("\r\n"))
        if match:
            if text[start:position].strip():
                sections.append(Stretch(start, position, tuple(title for _, title in path)))
            start = position
            level = len(match.group(1))
            path = [(depth, title) for depth, title in path if depth < level] + [(level, match.group(2))]
        position += len(line)
    if text[start:].strip():
        sections.append(Stretch(start, len(text), tuple(title for _, title in path)))
    return sections


def _blocks(text: str, section: Stretch, index: int) -> list[_Block]:
    """Paragraphs, lists, tables and whole fences of a section."""
    blocks: list[_Block] = []
    position = start = section.start
    in_fence = False
    for line in text[section.start : section.end].splitlines(keepends=True):
        if _FENCE.match(line):
            in_fence = not in_fence
        if not line.strip() and not in_fence:
            if text[start:position].strip():
                blocks.append(_Block(start, position, index))
            start = position + len(line)
        position += len(line)
    if text[start:position].strip():
        blocks.append(_Block(start, position, index))
    return blocks


def _ranked_blocks(
    text: str, blocks: Sequence[_Block], gold: Sequence[str], answer: str, keywords: Sequence[str], question: str
) -> list[int]:
    """Block numbers, most telling first: those with gold, then greedily by what they add."""
    stems = [content_stems(text[block.start : block.end]) for block in blocks]
    chosen: list[int] = []
    for passage in gold:
        span = find_loosely(passage, text)
        if span:
            chosen.extend(at for at, block in enumerate(blocks) if block.start < span[1] and span[0] < block.end)
    chosen = list(dict.fromkeys(chosen))
    terms = content_stems(" ".join((answer, *keywords))) or content_stems(question)
    spread = Counter(stem for found in stems for stem in found & terms)
    weight = {stem: math.log(1 + len(blocks) / count) for stem, count in spread.items()}
    total = sum(weight.values())
    open_terms = set(weight).difference(*(stems[at] for at in chosen)) if chosen else set(weight)
    # The words of the question break ties between blocks that name the same facts.
    asked = content_stems(question)
    while total and len(chosen) < _MOST_BLOCKS + len(gold):
        gains = {at: sum(weight[stem] for stem in found & open_terms) for at, found in enumerate(stems)}
        best = max(gains, key=lambda at: (gains[at], len(stems[at] & asked), -at))
        if gains[best] < _LEAST_GAIN * total or best in chosen:
            break
        chosen.append(best)
        open_terms -= stems[best]
    return chosen


def _widened(blocks: Sequence[_Block], at: int, sections: Sequence[Stretch]) -> Stretch:
    """The whole section where it is small, else the block with its neighbours in the section."""
    section = sections[blocks[at].section]
    if section.end - section.start <= _SMALL_SECTION:
        return section
    near = [block for block in blocks[max(at - 1, 0) : at + 2] if block.section == blocks[at].section]
    if near[-1].end - near[0].start > 2 * _SMALL_SECTION:
        near = [blocks[at]]
    return Stretch(near[0].start, near[-1].end, section.heading)


def _within(text: str, wanted: Sequence[Stretch], sections: Sequence[Stretch], limit: int) -> tuple[list[Stretch], int]:
    """Keep what fits, most telling first, then join what touches, in document order."""
    kept: list[Stretch] = []
    left_out = 0
    left = limit
    for stretch in wanted:
        if any(other.start <= stretch.start and stretch.end <= other.end for other in kept):
            continue
        end = min(stretch.end, stretch.start + left)
        left_out += stretch.end - end
        if end > stretch.start:
            kept.append(Stretch(stretch.start, end, stretch.heading))
            left -= end - stretch.start
    joined: list[Stretch] = []
    for stretch in sorted(kept, key=lambda stretch: stretch.start):
        if joined and stretch.start <= joined[-1].end:
            joined[-1] = Stretch(joined[-1].start, max(joined[-1].end, stretch.end), joined[-1].heading)
        else:
            joined.append(stretch)
    return [Stretch(s.start, s.start + len(text[s.start : s.end].rstrip()), s.heading) for s in joined], left_out


def find_loosely(passage: str, text: str) -> tuple[int, int] | None:
    """Where a passage stands in a text, exactly or with other white space; None if it does not."""
    at = text.find(passage)
    if passage and at >= 0:
        return at, at + len(passage)
    pieces = passage.split()
    match = re.search(r"\s+".join(re.escape(piece) for piece in pieces), text) if pieces else None
    return match.span() if match else None
