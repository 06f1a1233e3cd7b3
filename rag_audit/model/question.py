"""A question, the corpora it is routed to, and the chunks that come back."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of questions.yml, or the question side of an imported row."""

    id: str
    question: str
    reference_answer: str | None = None
    doc_id: str | None = None
    """The document that answers it; None for imported rows that do not say."""
    keywords: tuple[str, ...] = ()
    also_docs: tuple[str, ...] = ()
    """Other documents that answer it; comparisons need them."""
    gold: tuple[str, ...] = ()
    """Verbatim texts that mark the relevant passages."""
    cross_corpus: bool | None = None
    """True or False as written; None lets the comparison pattern decide."""
    corpora: tuple[str, ...] = ()
    """The corpora it names for itself."""
    context: str | None = None
    """Text that goes to the generator and the judge with the question, such as a traceback."""
    source: str | None = None
    """`file:line` of the code the question is about."""
    answerable: bool = True
    tags: tuple[str, ...] = ()
    origin: str | None = None
    """generated | written | production."""
    drafted_by: str | None = None
    """The model that drafted the question."""
    reviewed: bool | None = None
    """False: reported, and excluded from gates."""
    line: int | None = None
    """Line in questions.yml, 1-based; not part of the question's identity."""

    @property
    def relevant_docs(self) -> tuple[str, ...]:
        """The doc_ids whose chunks are relevant; empty when none is known."""
        return ((self.doc_id,) if self.doc_id else ()) + self.also_docs


@dataclass(frozen=True, slots=True)
class Route:
    """The corpora a question was sent to, the rule that chose them, and where its documents live."""

    corpora: tuple[str, ...]
    rule: str
    """doc_id | cross_corpus | pattern | named | no_routing | off (no retrieval) | imported."""
    home: tuple[str, ...] = ()
    """The corpora that hold the question's own documents; empty when unknown."""

    @property
    def misrouted(self) -> bool:
        """Whether a corpus that holds the question's documents was never asked."""
        return self.rule != "off" and not set(self.home) <= set(self.corpora)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim slice of one document."""

    doc_id: str
    corpus: str
    text: str
    """The raw slice of the file, without the heading path."""
    start: int | None = None
    """Offset of the slice in the document's text, in characters; None for imported chunks."""
    heading: tuple[str, ...] = ()
    """The headings above the slice, outermost first; shown to models, never part of `text`."""


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """A chunk with its place in the retrieved list."""

    chunk: Chunk
    rank: int
    """1 is first."""
    score: float | None = None
    """The fused score the order follows; None where an imported file has none."""
    score_parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of the score: bm25, vector, bm25_rank, vector_rank, rerank."""
    relevant: bool | None = None
    """Whether the chunk counts as relevant for hit@k; None when no relevant document is known."""
