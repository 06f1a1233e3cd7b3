"""The generator's request: the question with the chunks that fit, and a record of what was cut."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_audit.judging.prompts import fenced, fenced_chunks, fenced_context, load_prompt
from rag_audit.judging.tracebacks import cut_context
from rag_audit.model import Question, RetrievedChunk

_LARGEST_SHARE = 2
"""The text that comes with a question gets at most one part in so many of the room."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """What is sent, and what was cut to fit, one readable line each."""

    text: str
    cut: tuple[str, ...]


def generation_request(
    question: Question, retrieved: Sequence[RetrievedChunk], context_chars: int
) -> GenerationRequest:
    """Fill in the prompt with at most `context_chars` characters of passages and context together."""
    cut: list[str] = []
    context = question.context
    if context:
        context, note = cut_context(context, context_chars // _LARGEST_SHARE)
        cut.extend([note] if note else [])
    left = context_chars - len(context or "")
    fitting: list[RetrievedChunk] = []
    for item in retrieved:
        size = len(item.chunk.text)
        if left <= 0:
            cut.append(f"chunk {item.rank} of {item.chunk.doc_id} left out ({size:,} characters)")
            continue
        if size > left:
            cut.append(f"chunk {item.rank} of {item.chunk.doc_id} cut to {left:,} of {size:,} characters")
            item = replace(item, chunk=replace(item.chunk, text=item.chunk.text[:left]))
        left -= len(item.chunk.text)
        fitting.append(item)
    parts = {
        "passages": fenced_chunks(fitting),
        "context": fenced_context(context),
        "question": fenced(question.question),
    }
    return GenerationRequest(load_prompt("generate").filled(parts), tuple(cut))
