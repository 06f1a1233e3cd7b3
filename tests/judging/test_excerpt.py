from rag_audit.judging.excerpt import build_excerpt, context_parity, overlap
from rag_audit.model import Chunk, Excerpt, Passage, Question, RetrievedChunk

FILLER = "".join(f"Line {number} of filler says nothing of use here.\n\n" for number in range(300))
DOCUMENT = f"# Unit\n\n{FILLER}## Timing\n\nThe CAN delay is 12 ms.\n\n## Other\n\n{FILLER}"


def chunk(text: str, start: int | None, doc_id: str = "a/doc", corpus: str = "a", rank: int = 1) -> RetrievedChunk:
    return RetrievedChunk(Chunk(doc_id, corpus, text, start), rank)


def excerpt_for(question: Question, *retrieved: RetrievedChunk, reference: int = 12_000, context: int = 9) -> Excerpt:
    return build_excerpt(
        question,
        retrieved,
        {"a/doc": DOCUMENT, "a/short": "Short text."}.get,
        reference_chars=reference,
        context_chars=context,
    )


def test_the_reference_is_the_section_that_answers_not_three_hundred_lines_around_it() -> None:
    question = Question("q", "How long is the delay?", "12 ms.", "a/doc", keywords=("CAN",))
    (passage,) = excerpt_for(question).reference
    assert passage.text == "## Timing\n\nThe CAN delay is 12 ms."
    assert passage.heading == ("Unit", "Timing")
    assert DOCUMENT[passage.start : passage.start + len(passage.text)] == passage.text  # type: ignore[operator]
    assert DOCUMENT.splitlines()[(passage.line or 0) - 1] == "## Timing"


def test_gold_decides_where_it_is_given() -> None:
    question = Question("q", "?", "12 ms CAN delay", "a/doc", gold=("Line 7 of\nfiller",))
    texts = [passage.text for passage in excerpt_for(question).reference]
    assert "Line 7 of filler" in texts[0]


def test_the_reference_does_not_depend_on_what_was_retrieved() -> None:
    question = Question("q", "How long is the delay?", "12 ms.", "a/doc")
    assert excerpt_for(question).reference == excerpt_for(question, chunk("Line 5", 20)).reference


def test_what_does_not_fit_is_recorded() -> None:
    question = Question("q", "?", "12 ms CAN delay", "a/doc", also_docs=("a/none",))
    found = excerpt_for(question, chunk("0123456789", 0), chunk("more", 40, rank=2), reference=20)
    assert sum(len(passage.text) for passage in found.reference) <= 20
    assert [passage.text for passage in found.context] == ["012345678"]
    assert [line.split(":")[0] for line in found.cut] == ["reference", "reference", "context", "context"]
    assert "a/none has no text" in found.cut[1]


def test_parity_is_the_share_of_the_generators_context_that_the_judge_saw() -> None:
    retrieved = (chunk("0123456789", 100),)
    assert context_parity(retrieved, Excerpt(context=(Passage("01234", "a/doc", start=100),))) == 0.5
    assert context_parity(retrieved, Excerpt(reference=(Passage("x56789y", "a/doc", start=104),))) == 0.6
    assert context_parity(retrieved, Excerpt()) == 0.0
    assert context_parity((), Excerpt()) is None


def test_overlap_is_the_share_of_the_reference_that_the_generator_saw() -> None:
    found = Excerpt(reference=(Passage("0123456789", "a/doc", start=100),))
    assert overlap((chunk("56789abc", 105),), found) == 0.5
    assert overlap((chunk("xx0123456789", None),), found) == 1.0
    assert overlap((chunk("56789", 105, doc_id="b/other"), chunk("5678", 105)), found) == 0.5
    assert overlap((), Excerpt()) is None
