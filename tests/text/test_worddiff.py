import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_audit.text.worddiff import LONGEST_BY_WORD, word_changes


def changed(before: str, after: str) -> list[tuple[str, str, str]]:
    return [
        (change.kind, before[slice(*change.before)], after[slice(*change.after)])
        for change in word_changes(before, after)
        if change.kind != "same"
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("same words", "same words", []),
        ("same  words", "same\nwords", []),
        ("limits to 84 degrees", "limits to 90 degrees", [("replaced", "84", "90")]),
        ("every 12.5 ms", "every 12.7 ms", [("replaced", "12.5", "12.7")]),
        ("call max_open.angle() now", "call max_open.speed() now", [("replaced", "max_open.angle", "max_open.speed")]),
        ("a b", "a x b", [("added", "", "x ")]),
        ("a x b", "a b", [("removed", "x ", "")]),
        ("温度は高い", "温度は低い", [("replaced", "高", "低")]),
        ("cafe\u0301 au lait", "cafe au lait", [("replaced", "cafe\u0301", "cafe")]),
        ("one two, three four", "one 2, 3 four", [("replaced", "two, three", "2, 3")]),
        ("", "new", [("added", "", "new")]),
    ],
)
def test_changes_are_whole_words(before: str, after: str, expected: list[tuple[str, str, str]]) -> None:
    assert changed(before, after) == expected


TEXT = st.text(alphabet="ab c.\n漢", max_size=40)


@given(TEXT, TEXT)
@settings(max_examples=150, deadline=None)
def test_the_spans_cover_both_texts_in_order(before: str, after: str) -> None:
    changes = word_changes(before, after)
    assert "".join(before[slice(*change.before)] for change in changes) == before
    assert "".join(after[slice(*change.after)] for change in changes) == after
    for change in changes:
        if change.kind == "same":
            assert before[slice(*change.before)].split() == after[slice(*change.after)].split()


def test_long_texts_are_compared_by_sentence() -> None:
    sentences = [f"Sentence number {n} says nothing new." for n in range(LONGEST_BY_WORD // 4)]
    before = " ".join(sentences)
    sentences[7] = "Sentence number 7 says something else."
    assert changed(before, " ".join(sentences)) == [
        ("replaced", "Sentence number 7 says nothing new. ", "Sentence number 7 says something else. ")
    ]
