from rag_audit.text.sentences import split_sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def test_sentences_end_at_full_stops_but_not_at_abbreviations_or_numbers() -> None:
    assert texts("It waits 1.5 s, e.g. at start. Then it stops. See v2.17.") == [
        "It waits 1.5 s, e.g. at start.",
        "Then it stops.",
        "See v2.17.",
    ]
    assert texts("Die Grenze ist 3.000 U/min (z. B. im Leerlauf). Am 3. Oktober endet sie.") == [
        "Die Grenze ist 3.000 U/min (z. B. im Leerlauf).",
        "Am 3. Oktober endet sie.",
    ]


def test_table_rows_list_items_and_code_lines_stand_alone() -> None:
    text = (
        "| Name | ms |\n|------|---:|\n| tx | 12 |\n| rx | 8 |\n\n- one\n  goes on\n- two\n\n```\na = 1\nb = 2\n```\n"
    )
    assert [(s.kind, s.text) for s in split_sentences(text)] == [
        ("header", "| Name | ms |"),
        ("row", "| tx | 12 |"),
        ("row", "| rx | 8 |"),
        ("item", "- one\n  goes on"),
        ("item", "- two"),
        ("code", "a = 1"),
        ("code", "b = 2"),
    ]


def test_every_sentence_is_the_slice_its_offsets_name() -> None:
    text = "# Title\r\n\r\nFirst one. Second\r\none!  Third?\r\n> quoted. more\r\n"
    for sentence in split_sentences(text):
        assert sentence.text == text[sentence.start : sentence.end]
        assert sentence.text == sentence.text.strip()


def test_an_empty_text_has_no_sentences() -> None:
    assert texts("") == []
    assert texts(" \n\n```\n```\n|---|\n") == []
