from time import monotonic

import pytest

from rag_audit.text.identifiers import find_identifiers, found_in, occurrences


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("Use `queueLength` here.", ["queueLength"]),
        ("the snake_case name", ["snake_case"]),
        ("a camelCase and a PascalCase name", ["camelCase", "PascalCase"]),
        ("import os.path first", ["os.path"]),
        ("in mss54/evt and /etc/hosts.", ["mss54/evt", "/etc/hosts"]),
        ("call retry(3) again", ["retry(3)"]),
        ("edit config.yml.", ["config.yml"]),
        ("with --dry-run or -v", ["--dry-run", "-v"]),
        ("after 12 ms at 5% and 3.000 U/min", ["12 ms", "5%", "3.000 U/min"]),
        ("set TLS13 or KEDA_HTTP_PORT", ["TLS13", "KEDA_HTTP_PORT"]),
        ("the ECU answers", ["ECU"]),
        ("since v2.17 and 1.5.0", ["v2.17", "1.5.0"]),
        ("`a b` and ``c ` d``", ["a b", "c ` d"]),
    ],
)
def test_finds_what_a_reader_could_look_up(text: str, identifiers: list[str]) -> None:
    assert [identifier.text for identifier in find_identifiers(text)] == identifiers


@pytest.mark.parametrize(
    "text",
    [
        "The queue is scaled when it grows, e.g. at night, and/or by hand.",
        "Ja/Nein, d.h. der Wert wird gelesen (z.B. im Leerlauf).",
        "In 2024 three of 10 people read well-known books - twice.",
        "",
    ],
)
def test_ordinary_words_are_not_identifiers(text: str) -> None:
    assert find_identifiers(text) == []


def test_offsets_leave_the_back_ticks_out() -> None:
    text = "Use `host` now"
    (identifier,) = find_identifiers(text)
    assert text[identifier.start : identifier.end] == "host"


def test_an_identifier_is_found_only_as_a_whole_token() -> None:
    assert occurrences("host", "the host, not hostname nor my_host") == [(4, 8)]
    assert occurrences("aws", "aws-eks and aws-kiam") == []
    assert occurrences("12 ms", "a delay of 12ms, not 112 ms") == [(11, 15)]
    assert occurrences("retry(3)", "def retry(times): ...") == [(4, 9)]
    assert found_in(["TLS13", "TLS1", "TLS13"], "TLS13 only") == ("TLS13",)


@pytest.mark.parametrize("piece", ["x", "a_", "A.", "a/", "a-", "1,", "漢", "12 ms ", "a_b ", "`a_b` "])
def test_a_text_of_100_000_characters_is_read_in_a_moment(piece: str) -> None:
    text = "The limit `max_open_angle` is 84 ms. " + piece * (100_000 // len(piece))
    started = monotonic()
    names = [found.text for found in find_identifiers(text)]
    assert names[:2] == ["max_open_angle", "84 ms"]
    assert monotonic() - started < 20, "a quadratic scan takes minutes"
