"""A CSV cell runs in no spreadsheet and steers no terminal."""

import pytest

from rag_audit.export.run_csv import safe_cell


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("  =1+1", "'  =1+1"),
        ("\t=1+1", "'    =1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-3 is less", "'-3 is less"),
        ("plain\nsecond line", "plain\nsecond line"),
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("a\x9b2Jb", "a‹U+009B›2Jb"),
        ("abc\u202etxt", "abc‹U+202E›txt"),
        (-3.5, -3.5),
        (0, 0),
        (None, ""),
    ],
)
def test_text_is_made_visible_and_numbers_stay_numbers(value: str | float | None, written: str | float) -> None:
    assert safe_cell(value) == written
