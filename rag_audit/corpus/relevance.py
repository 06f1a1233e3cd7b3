"""Which chunks are relevant to a question: those of its documents, narrowed to the gold passages where given."""

import re
from collections.abc import Callable, Sequence

from rag_audit.model import Chunk, Question


def find_passage(text: str, passage: str) -> list[tuple[int, int]]:
    """Every (start, end) of a passage in a text: verbatim, else with other white space, else in another case too."""
    wanted = passage.strip()
    if not wanted:
        return []
    loose = r"\s+".join(map(re.escape, wanted.split()))
    for pattern, flags in ((re.escape(wanted), 0), (loose, 0), (loose, re.IGNORECASE)):
        if found := [match.span() for match in re.finditer(pattern, text, flags)]:
            return found
    return []


class Relevance:
    """Decides for the chunks of one question."""

    def __init__(self, question: Question, source_text: Callable[[str], str]) -> None:
        self._documents = frozenset(question.relevant_docs)
        self._gold: dict[str, list[tuple[int, int]]] | None = None
        if question.gold:
            self._gold = {}
            for doc_id in question.relevant_docs:
                text = source_text(doc_id)
                self._gold[doc_id] = [span for gold in question.gold for span in find_passage(text, gold)]

    def of(self, chunk: Chunk) -> bool | None:
        """Whether a chunk is relevant; None where the question knows no document."""
        if not self._documents:
            return None
        if chunk.doc_id not in self._documents:
            return False
        if self._gold is None or chunk.start is None:
            return True
        return any(_overlap(chunk.text, chunk.start, span) for span in self._gold[chunk.doc_id])


def _overlap(text: str, start: int, span: tuple[int, int]) -> bool:
    """Whether a span holds any character of the text that is not white space."""
    return bool(text[max(0, span[0] - start) : max(0, span[1] - start)].strip())


def missing_gold(question: Question, texts: Sequence[str]) -> list[str]:
    """The gold passages that none of the texts holds."""
    return [gold for gold in question.gold if not any(find_passage(text, gold) for text in texts)]
