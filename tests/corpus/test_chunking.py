import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_audit.corpus.chunking import Chunking, chunk_document, cut_text
from rag_audit.model import Document, SourceFile
from rag_audit.text.headings import document_title, find_headings, has_body, outline

PAGE = """\
+++
title = "Valve timing"
+++

# Valves

Intro paragraph about valves. It has two sentences.

## Delays

| name | value |
|------|-------|
| evt_delay_ms | 12 ms |
| evt_limit | 40 |

```yaml
# not a heading
delay: 12

limit: 40
```

### Deep

Last words.
"""


def chunks(text: str, size: int, overlap: int = 0, unit: str = "chars", path: str = "documents/a/x.md") -> list[str]:
    return [text[start:end] for start, end in cut_text(text, outline(text, path), Chunking(size, overlap, unit))]


def test_headings_titles_and_front_matter() -> None:
    assert [(heading.level, heading.title) for heading in find_headings(PAGE)] == [
        (1, "Valves"),
        (2, "Delays"),
        (3, "Deep"),
    ]
    assert document_title(PAGE) == "Valve timing"
    assert document_title("One\n===\n\ntext\n") == "One"
    assert document_title("no heading") is None
    assert [heading.title for heading in find_headings("a\nb\n---\n\nTitle\n---\n\n---\n")] == ["Title"]
    assert [heading.title for heading in outline("class A:\n    def b(self):\n        # c\n", "x.py")] == ["A", "b"]
    assert (has_body("\n+++\ntitle = 'x'\n+++\n \n"), has_body(PAGE)) == (False, True)


def test_chunks_break_at_headings_and_keep_the_path_apart() -> None:
    document = Document("a/x", "a", "documents/a/x.md", None, (SourceFile("documents/a/x.md", 0, len(PAGE)),), "a", "")
    found = list(chunk_document(document, PAGE, Chunking(160, 0)))
    assert all(PAGE[chunk.start : (chunk.start or 0) + len(chunk.text)] == chunk.text for chunk in found)
    by_start = {chunk.text.splitlines()[0]: chunk for chunk in found}
    assert by_start["## Delays"].heading == ("Valves",)
    assert by_start["### Deep"].heading == ("Valves", "Delays")
    assert "| evt_limit | 40 |" in by_start["## Delays"].text


def test_rows_and_code_lines_stay_whole() -> None:
    rows = "".join(f"| parameter_{n} | value {n} |\n" for n in range(40))
    for chunk in chunks(rows, 200):
        assert all(line.startswith("| parameter_") and line.endswith("|") for line in chunk.splitlines())


def test_heading_is_not_left_at_the_end_of_a_chunk() -> None:
    text = "word " * 30 + "\n\n# Next\n\n" + "more " * 30
    assert not any(chunk.endswith("# Next") for chunk in chunks(text, 165))


def test_overlap_repeats_whole_sentences_or_words() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(40))
    found = list(cut_text(text, [], Chunking(200, 60)))
    for (_, end), (start, _) in pairwise(found):
        assert 0 < end - start <= 60
        assert text[start:].startswith("Sentence")


def test_tokens_count_words_not_characters() -> None:
    text = "alpha beta gamma delta " * 50
    for chunk in chunks(text, 10, unit="tokens"):
        assert len(chunk.split()) <= 10


@pytest.mark.parametrize(
    "sign", ["e\u0301", "👩\u200d🔧", "👍\U0001f3fd", "🇩🇪", "❤\ufe0f", "각", "नि"], ids=lambda sign: ascii(sign)
)
def test_no_character_is_torn_apart(sign: str) -> None:
    text = sign * 200
    for size in (50, 51, 52, 53):
        found = chunks(text, size)
        assert "".join(found) == text
        assert all(len(chunk) % len(sign) == 0 for chunk in found)


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.sampled_from("ab .\n\r#|`-—ä\u0301\u200d🇩\ufeff\t1"), max_size=400),
    st.integers(5, 60),
    st.integers(0, 30),
    st.sampled_from(["chars", "tokens"]),
)
def test_chunks_are_slices_in_order_that_cover_the_text(text: str, size: int, overlap: int, unit: str) -> None:
    found = list(cut_text(text, find_headings(text), Chunking(size, min(overlap, size - 1), unit)))
    covered: set[int] = set()
    before = (-1, -1)
    for start, end in found:
        assert before[0] < start < end
        assert before[1] < end
        before = (start, end)
        covered.update(range(start, end))
        assert not text[end - 1].isspace()
    assert {at for at, sign in enumerate(text) if not sign.isspace() and sign != "\ufeff"} <= covered
    assert not any(unicodedata.combining(text[start]) and text[start - 1 : start].isalpha() for start, _ in found)


@pytest.mark.parametrize(
    "text",
    [
        " " * 300_000 + "x",
        "# " + " " * 300_000 + "#x",
        "." + " " * 300_000 + "x",
        "+++\n" + "\n" * 300_000 + "title = x",
        "#" * 300_000,
        "-" * 300_000,
        "`" * 300_000,
        "\u0301" * 300_000,
        "🇩" * 3_000,
        "." * 300_000,
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_time_grows_with_the_length_alone(text: str) -> None:
    assert len(chunks(text, 800, 100)) < 400_000
    document_title(text)
    has_body(text)


def test_marks_at_the_end_of_a_heading_are_not_its_title() -> None:
    text = "# One #\n## Two#\n### # Three ##\n#\n####\n#nospace\n"
    assert [heading.title for heading in find_headings(text)] == ["One", "Two#", "# Three"]
