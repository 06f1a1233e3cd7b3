"""What the claim judge gets to see: a reference part that no run can change, and the generator's own context.

The reference part is chosen from the question's documents by gold, reference answer and keywords, or by the line of
code that it is about, never by what a run retrieved: verdicts of two runs are comparable only where it is equal. The
context part is what the generator was given, so that the judge never knows less than the generator.
"""

from collections.abc import Callable, Iterable, Sequence

from rag_audit.judging.code import code_stretches, split_source
from rag_audit.judging.sections import Stretch, choose_stretches
from rag_audit.model import Excerpt, Passage, Question, RetrievedChunk

SourceText = Callable[[str], str | None]


def build_excerpt(
    question: Question,
    retrieved: Sequence[RetrievedChunk],
    source_text: SourceText,
    *,
    reference_chars: int,
    context_chars: int,
) -> Excerpt:
    """Choose the excerpt for one question, both parts bounded in characters, with what was left out in `cut`."""
    reference, reference_cut = _reference(question, source_text, reference_chars)
    context, context_cut = _context(retrieved, context_chars)
    return Excerpt(reference=reference, context=context, cut=(*reference_cut, *context_cut))


def _reference(question: Question, source_text: SourceText, limit: int) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    passages, cut, code_doc = _code(question, source_text, limit)
    documents = [doc_id for doc_id in question.relevant_docs if doc_id != code_doc]
    for position, doc_id in enumerate(documents):
        text = source_text(doc_id)
        if not text or not text.strip():
            cut.append(f"reference: {doc_id} has no text")
            continue
        used = sum(len(passage.text) for passage in passages)
        stretches, left_out = choose_stretches(
            text,
            gold=question.gold,
            answer=question.reference_answer or "",
            keywords=question.keywords,
            question=question.question,
            limit=(limit - used) // (len(documents) - position),
        )
        passages.extend(_passage(text, doc_id, stretch) for stretch in stretches)
        if left_out:
            cut.append(f"reference: {left_out:,} characters of {doc_id} that would answer it did not fit")
    return tuple(passages), tuple(cut)


def _code(question: Question, source_text: SourceText, limit: int) -> tuple[list[Passage], list[str], str | None]:
    """The code that `source: file:line` points at, what was cut, and the document it is in."""
    place = split_source(question.source) if question.source else None
    if place is None:
        return [], [], None
    file, line = place
    for doc_id in _documents_of(file, question):
        text = source_text(doc_id)
        stretches, left_out = code_stretches(text, line, limit) if text else ([], 0)
        if text and stretches:
            cut = [f"reference: {left_out:,} characters of code around {question.source} did not fit"]
            return [_passage(text, doc_id, stretch) for stretch in stretches], cut if left_out else [], doc_id
    return [], [f"reference: {question.source} is in no document"], None


def _documents_of(file: str, question: Question) -> list[str]:
    """The doc_ids that a file may have: its path below documents/ without suffix, else the question's own document."""
    path = file.replace("\\", "/").removeprefix("./").removeprefix("documents/")
    stem = path.rsplit(".", 1)[0] if "." in path.rsplit("/", 1)[-1] else path
    ending = [doc_id for doc_id in question.relevant_docs if doc_id.endswith(stem)]
    return list(dict.fromkeys([stem, path, *ending, *question.relevant_docs[:1]]))


def _passage(text: str, doc_id: str, stretch: Stretch) -> Passage:
    return Passage(
        text=text[stretch.start : stretch.end],
        doc_id=doc_id,
        start=stretch.start,
        line=text.count("\n", 0, stretch.start) + 1,
        heading=stretch.heading,
    )


def _context(retrieved: Sequence[RetrievedChunk], limit: int) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    passages: list[Passage] = []
    cut: list[str] = []
    left = limit
    for item in retrieved:
        chunk = item.chunk
        if left <= 0:
            cut.append(f"context: chunk {item.rank} of {chunk.doc_id} left out ({len(chunk.text):,} characters)")
            continue
        text = chunk.text[:left]
        if len(text) < len(chunk.text):
            cut.append(f"context: chunk {item.rank} of {chunk.doc_id} cut to {len(text):,} of {len(chunk.text):,}")
        left -= len(text)
        passages.append(Passage(text, chunk.doc_id, chunk.corpus, chunk.start, heading=chunk.heading))
    return tuple(passages), tuple(cut)


def context_parity(retrieved: Sequence[RetrievedChunk], excerpt: Excerpt) -> float | None:
    """Share (0-1) of the characters of the generator's context that the judge could see; None without a context."""
    seen = (*excerpt.context, *excerpt.reference)
    return _share((_as_passage(item) for item in retrieved), seen)


def overlap(retrieved: Sequence[RetrievedChunk], excerpt: Excerpt) -> float | None:
    """Share (0-1) of the characters of the reference part that the generator saw; None without a reference part."""
    return _share(excerpt.reference, [_as_passage(item) for item in retrieved])


def _as_passage(item: RetrievedChunk) -> Passage:
    return Passage(item.chunk.text, item.chunk.doc_id, item.chunk.corpus, item.chunk.start)


def _share(wanted: Iterable[Passage], seen: Sequence[Passage]) -> float | None:
    covered = total = 0
    for passage in wanted:
        total += len(passage.text)
        covered += _covered(passage, seen)
    return covered / total if total else None


def _covered(wanted: Passage, seen: Sequence[Passage]) -> int:
    """Characters of one passage that others contain: by offsets in the same document, else by their text."""
    length = len(wanted.text)
    spans: list[tuple[int, int]] = []
    for other in seen:
        if wanted.start is not None and other.start is not None and wanted.doc_id == other.doc_id:
            low = max(other.start - wanted.start, 0)
            high = min(other.start + len(other.text) - wanted.start, length)
            spans.append((low, high))
        elif wanted.text in other.text:
            return length
        elif other.text and (at := wanted.text.find(other.text)) >= 0:
            spans.append((at, at + len(other.text)))
    covered = reached = 0
    for low, high in sorted(spans):
        low = max(low, reached)
        if high > low:
            covered += high - low
            reached = high
    return covered
