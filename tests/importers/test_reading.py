"""Reading files that nobody checked: encodings, separators, odd numbers, lists as text, damaged lines."""

import codecs
import math
import os
from pathlib import Path
from typing import Any

import pytest

from rag_audit.errors import InputError
from rag_audit.importers.listing import parse_listing
from rag_audit.importers.mapping import has_path, look_up
from rag_audit.importers.record import LeftOut, Record
from rag_audit.importers.source import open_source, parse_json
from rag_audit.importers.values import clean, is_blank, metric_names, number_of, snake_name, utc_time


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0), (True, 1.0), ("False", 0.0), ("0.5", 0.5), (" -1,25 ", -1.25), (".5", 0.5), ("1e3", 1000.0),
        ("+2", 2.0), ("", None), ("nan", None), (math.nan, None), (math.inf, None), ("inf", None), ("1e400", None),
        (10**400, None),
        ("1_000", None), ("0x10", None), ("12%", None), ("1.000,5", None), ("٣", None), (None, None), ([1], None),
        ("9" * 5000, None),
    ],
)  # fmt: skip
def test_numbers(value: Any, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize("word", ["", "  ", "NaN", "None", "n/a", "-", None, math.nan, "Infinity", "-inf"])
def test_blank(word: Any) -> None:
    assert is_blank(word)


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("Answer Relevancy", "answer_relevancy"), ("answerRelevancy", "answer_relevancy"),
        ("Clarity [GEval]", "clarity_geval"), ("factual_correctness(mode=f1)", "factual_correctness_mode_f1"),
        ("回答召回率", "回答召回率"), ("***", "unnamed"),
    ],
)  # fmt: skip
def test_metric_names_in_snake_case(name: str, snake: str) -> None:
    assert snake_name(name) == snake


def test_colliding_metric_names_are_numbered() -> None:
    assert metric_names("t", ["A B", "a_b", "t.x"]) == {"A B": "t.a_b", "a_b": "t.a_b_2", "t.x": "t.x"}


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("['a', 'b']", ["a", "b"]), ("['a' 'b']", ["a", "b"]), ("['a'\n 'b']", ["a", "b"]), ("[]", []),
        ('["a", \'it\\\'s\']', ["a", "it's"]), ('["x", 1]', ["x", 1]), ("[{'k': 'v'}]", [{"k": "v"}]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]), ("('a', 'b')", ["a", "b"]), ("['a\nb']", ["a\nb"]),
        ("['cut", None), ("['a' ... 'b']", None), ("plain", None), ("[f('x')]", None), ("[__import__('os')]", None),
        ("[" * 400, None), ("", None), ("['\\ud800']", ["\ufffd"]),
    ],
)  # fmt: skip
def test_lists_as_text(text: str, members: Any) -> None:
    assert parse_listing(text) == members


def test_json_with_what_json_does_not_have() -> None:
    assert parse_json('{"a": NaN, "b": -Infinity, "c": "\\ud800"}') == {"a": None, "b": None, "c": "\ufffd"}
    assert parse_json("1" * 500) == math.inf
    assert parse_json("{") is None
    assert parse_json("[" * 100_000) is None


def test_lone_surrogates_are_replaced_and_pairs_kept() -> None:
    assert clean("a\ud800b") == "a\ufffdb"
    assert clean("😀") == "😀"


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (0, "1970-01-01T00:00:00Z"), (1724265437, "2024-08-21T18:37:17Z"), ("20260301T080000Z", "2026-03-01T08:00:00Z"),
        ("2026-03-01T08:00:00.123+02:00", "2026-03-01T06:00:00Z"), ("2026-03-01 08:00", "2026-03-01T08:00:00Z"),
        ("yesterday", None), (True, None), (1e300, None), (math.nan, None), (None, None),
    ],
)  # fmt: skip
def test_times(value: Any, time: str | None) -> None:
    assert utc_time(value) == time


@pytest.mark.parametrize(
    ("data", "encoding", "header"),
    [
        ("a;ü\n1;2\n".encode(), "utf-8", ("a", "ü")),
        (codecs.BOM_UTF8 + "a,ü\n".encode(), "utf-8-sig", ("a", "ü")),
        ("a\tü\n".encode("utf-16"), "utf-16", ("a", "ü")),
        ("abcdef,gü\n1,2\n".encode("utf-16-le"), "utf-16-le", ("abcdef", "gü")),
        ("a|ü\n".encode("latin-1"), "cp1252", ("a", "ü")),
        (b"a,\x81\n", "latin-1", ("a", "\x81")),
        (b"sep=;\na;b,c\n1;2\n", "utf-8", ("a", "b,c")),
        (b"a,a,\n", "utf-8", ("a", "a (2)", "")),
        (b"\n\n\na;b,b;c\n1;2;3\n", "utf-8", ("a", "b,b", "c")),
    ],
)
def test_tables_of_every_encoding(data: bytes, encoding: str, header: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    source = open_source(path)
    assert (source.kind, source.encoding, source.header) == ("table", encoding, header)


def _entries(path: Path) -> list[Record | LeftOut]:
    source = open_source(path)
    assert source.entries is not None
    return list(source.entries())


def test_what_is_no_file_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError) as refused:
        open_source(tmp_path / "pipe.csv")
    assert refused.value.message == "neither a file nor a folder"


def test_ragged_rows_keep_what_they_have(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('q,a\n"two\nlines",x\nshort\ntoo,many,cells\n\n', encoding="utf-8")
    entries = _entries(path)
    assert [entry.line for entry in entries] == [3, 4, 5]
    assert [entry.values for entry in entries if isinstance(entry, Record)] == [
        {"q": "two\nlines", "a": "x"},
        {"q": "short", "a": ""},
        {"q": "too", "a": "many"},
    ]
    assert [entry.problem for entry in entries if isinstance(entry, Record)] == [
        None, "1 cells under 2 columns", "3 cells under 2 columns"]  # fmt: skip


def test_a_cell_without_end_is_refused_or_read_but_never_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('q,a\nx,"never closed\n' + "y,z\n" * 50, encoding="utf-8")
    assert len(_entries(path)) == 1


def test_lines_that_cannot_be_read_are_left_out_by_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('\ufeff{"q": 1}\n\nnot json\n[1]\n{"q": NaN}\n{"cut": "in the mid', encoding="utf-8")
    entries = _entries(path)
    assert [(entry.line, isinstance(entry, Record)) for entry in entries] == [
        (1, True), (3, False), (4, False), (5, True), (6, False)]  # fmt: skip


def test_lines_with_a_broken_first_one_are_still_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"cut": \n{"q": 1}\n{"q": 2}\n', encoding="utf-8")
    source = open_source(path)
    assert source.kind == "lines"


def test_a_parquet_file_without_a_reader_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    path = tmp_path / "results.parquet"
    path.write_bytes(b"PAR1....PAR1")
    with pytest.raises(InputError) as refused:
        open_source(path)
    assert "rag-audit[parquet]" in refused.value.hint


def test_paths_into_nested_objects() -> None:
    values = {"a": {"b": [{"c": 1}], "d.e": 2}, "x.y": 3, "n": None}
    assert look_up(values, "a.b.0.c") == 1
    assert look_up(values, "a.d.e") == 2
    assert look_up(values, "x.y") == 3
    assert look_up(values, "a.b.7.c") is None
    assert has_path(values, "n")
    assert not has_path(values, "a.z")
