"""Retrieved chunks, excerpts and what only one side saw, as sections of a passage."""

from collections.abc import Iterable, Mapping, Sequence

from rag_audit.model import UNKNOWN, Excerpt, QuestionResult
from rag_audit.model import Passage as SourcePassage
from rag_audit.tui.blindness import HIDDEN
from rag_audit.tui.content import Piece
from rag_audit.tui.widgets.passage import Mark, Section

GAP = 2
"""Characters between the passages of one part of an excerpt, in which its spans count."""


def retrieved_sections(result: QuestionResult) -> list[Section]:
    """The chunks in rank order, each with the index that it came from."""
    if not result.retrieved:
        return [Section(f"Nothing was retrieved{': ' + result.error if result.error else ''}.", tone="quiet")]
    sections = []
    for found in result.retrieved:
        chunk = found.chunk
        relevant: Piece = {
            True: ("  ✓ relevant", "good"),
            False: ("  ○ not relevant", "quiet"),
            None: ("", "quiet"),
        }[found.relevant]
        home = result.route.home
        stray: Piece = ("  ! wrong index", "warn") if home and chunk.corpus not in home else ("", "quiet")
        score = "" if found.score is None else f"  {found.score:.4g}"
        parts = "".join(f"  {name} {value:.3g}" for name, value in found.score_parts.items())
        title = (
            (f"{found.rank}. ", "title"),
            (f"[{chunk.corpus}] " if chunk.corpus != UNKNOWN else "", "info"),
            (chunk.doc_id, "strong"),
            relevant,
            stray,
            (score, "quiet"),
        )
        heading = "\n".join(filter(None, (parts.strip(), " › ".join(chunk.heading))))
        if heading:
            sections.append(Section(heading, title, tone="quiet"))
            sections.append(Section(chunk.text))
        else:
            sections.append(Section(chunk.text, title))
    return sections


def passage_title(part: str, passage: SourcePassage, rank: int) -> tuple[Piece, ...]:
    """Part, file and line of one passage of an excerpt."""
    where = passage.doc_id or "unnamed source"
    if passage.line is not None:
        where += f":{passage.line}"
    name = part if part == "reference" else f"context {rank}"
    heading = f"  {' › '.join(passage.heading)}" if passage.heading else ""
    corpus = f"[{passage.corpus}] " if passage.corpus and passage.corpus != UNKNOWN else ""
    return ((f"{name} ", "title"), (corpus, "info"), (where, "strong"), (heading, "quiet"))


def excerpt_sections(result: QuestionResult, marks: Mapping[str, Sequence[Mark]] | None = None) -> list[Section]:
    """What the claim judge could see; `marks` count in the rendering of each part (reference, context)."""
    judgment = result.claim_judgment
    if judgment is None or not (judgment.excerpt.reference or judgment.excerpt.context):
        note = "No excerpt was recorded for this question: what the judge saw is unknown."
        if not result.retrieved:
            return [Section(note, tone="quiet")]
        fill = " Below is what was retrieved; `rag-audit rejudge` judges the answers against it."
        return [Section(note + fill, tone="quiet"), *retrieved_sections(result)]
    sections = [section for part in ("reference", "context") for section in _part(judgment.excerpt, part, marks or {})]
    if judgment.excerpt.cut:
        sections.append(Section("\n".join(judgment.excerpt.cut), (("cut to fit", "title"),), tone="warn"))
    return sections


def _part(excerpt: Excerpt, part: str, marks: Mapping[str, Sequence[Mark]]) -> Iterable[Section]:
    start = 0
    passages = excerpt.reference if part == "reference" else excerpt.context
    for rank, passage in enumerate(passages, start=1):
        end = start + len(passage.text)
        own = tuple(
            Mark(max(mark.start, start) - start, min(mark.end, end) - start, mark.tone)
            for mark in marks.get(part, ())
            if mark.start < end and mark.end > start
        )
        yield Section(passage.text, passage_title(part, passage, rank), own, passage.line)
        start = end + GAP


def place_of(excerpt: Excerpt, part: str, offset: int) -> tuple[int, int]:
    """Section number and offset within it of an offset in the rendering of one part."""
    before = len(excerpt.reference) if part == "context" else 0
    start = 0
    passages = excerpt.reference if part == "reference" else excerpt.context
    for at, passage in enumerate(passages):
        if offset <= start + len(passage.text):
            return before + at, max(offset - start, 0)
        start += len(passage.text) + GAP
    return before, 0


def difference_sections(result: QuestionResult) -> list[Section]:
    """What only the generator or only the judge saw, line by line."""
    judgment = result.claim_judgment
    if judgment is None:
        return [Section("No claim judge was asked, so there is nothing to compare.", tone="quiet")]
    judge_texts = [p.text for p in (*judgment.excerpt.reference, *judgment.excerpt.context)]
    generator_texts = [found.chunk.text for found in result.retrieved]
    numbers = [
        ("context parity", result.context_parity, "of the generator's context was visible to the judge"),
        ("overlap", result.overlap, "of the reference excerpt was seen by the generator"),
    ]
    text = "\n".join(f"{name} {'–' if value is None else f'{value:.0%}'} {rest}" for name, value, rest in numbers)
    sections = [Section(text, (("who saw what", "title"),))]
    sections += _only("only the generator saw", generator_texts, judge_texts)
    sections += _only("only the judge saw", judge_texts, generator_texts)
    return sections


def _only(title: str, texts: Sequence[str], others: Sequence[str]) -> list[Section]:
    known = {line.strip() for text in others for line in text.splitlines()}
    whole = "\n".join(others)
    sections = []
    for text in texts:
        lines = [line for line in text.splitlines() if line.strip()]
        missing = [line for line in lines if line.strip() not in known and line.strip() not in whole]
        if missing:
            sections.append(Section("\n".join(missing), ((title, "title"),), tone="only"))
    return sections or [Section("nothing", ((title, "title"),), tone="quiet")]


def generator_sections(result: QuestionResult) -> list[Section]:
    """The prompt exactly as sent."""
    generation = result.generation
    if generation is None or generation.prompt is None:
        return [Section("The prompt was not recorded: the answer was imported, or there was none.", tone="quiet")]
    sections = [Section(generation.prompt, _title("prompt as sent", f"  {generation.model or ''}"))]
    if generation.cut:
        sections.append(Section("\n".join(generation.cut), _title("cut to fit"), tone="warn"))
    return sections


def _without_calls(result: QuestionResult) -> str:
    judged = (result.claim_judgment, result.score_judgment)
    if any(judgment.identity and judgment.identity.model == "offline" for judgment in judged if judgment):
        return "The offline judges call no model: they apply rules to what tab 4 shows."
    return "No judge call was recorded."


def call_sections(result: QuestionResult, *, blind: bool) -> list[Section]:
    """The judge's calls as sent and as answered."""
    if blind:
        return [Section(HIDDEN, tone="quiet")]
    if not result.judge_calls:
        return [Section(_without_calls(result), tone="quiet")]
    sections: list[Section] = []
    for call in result.judge_calls:
        about = f"  {call.model or ''}" + ("  from the reply cache" if call.cached else "")
        sections.append(Section(call.reply, _title(f"{call.judge} judge: reply", about)))
        if call.error:
            sections.append(Section(call.error, _title("failed"), tone="warn"))
        sections.append(Section(call.prompt, _title(f"{call.judge} judge: prompt as sent")))
    return sections


def _title(text: str, rest: str = "") -> tuple[Piece, ...]:
    return ((text, "title"), (rest, "quiet"))
