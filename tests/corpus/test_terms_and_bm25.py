import random

import pytest
from rank_bm25 import BM25Okapi

from rag_audit.corpus.bm25 import PostingsBM25
from rag_audit.corpus.terms import terms_of


@pytest.mark.parametrize(
    ("text", "holds", "language"),
    [
        ("set evt_delay_ms", {"evt_delay_ms", "evt", "delay", "ms"}, "en"),
        ("hostFromEnv", {"hostfromenv", "host", "from", "env"}, "none"),
        ("HTTPServer", {"httpserver", "http", "server"}, "en"),
        ("keda.sh/v1alpha1", {"keda.sh/v1alpha1", "keda", "sh"}, "en"),
        ("aws-sqs", {"aws-sqs", "aws", "sqs"}, "en"),
        ("12 ms", {"12", "ms", "12ms"}, "en"),
        ("12ms", {"12ms"}, "en"),
        ("1,5 bar", {"1.5", "1.5bar"}, "de"),
        ("Kühlwasser für Öl", {"kuehlwass", "oel"}, "de"),
        ("queries caches status", {"query", "cache", "status"}, "en"),
        ("café", {"cafe"}, "en"),
        ("0x1F", {"0x1f"}, "en"),
    ],
)
def test_terms_hold_wholes_and_parts(text: str, holds: set[str], language: str) -> None:
    assert holds <= set(terms_of(text, language))


def test_query_and_document_meet() -> None:
    for query, document in (
        ("Delay 12ms?", "a delay of 12 ms"),
        ("Kuehlwasser", "das Kühlwasser"),
        ("scalers", "one scaler"),
        ("delay of evt", "evt_delay"),
        ("2.5 V", "2,5 V"),
    ):
        assert set(terms_of(query)) & set(terms_of(document))


def test_stop_words_go_only_with_their_language() -> None:
    assert terms_of("the delay of it", "en") == ["delay"]
    assert terms_of("die Zeit und der Wert", "de") == ["zeit", "wert"]
    assert terms_of("the delay", "none") == ["the", "delay"]


def documents(seed: int, count: int) -> list[list[str]]:
    draw = random.Random(seed)
    words = [f"w{n}" for n in range(40)]
    return [draw.choices(words, weights=range(40, 0, -1), k=draw.randrange(30)) for _ in range(count)]


@pytest.mark.parametrize(("seed", "count"), [(1, 1), (2, 3), (3, 50), (4, 400)])
def test_scores_are_those_of_rank_bm25_bit_for_bit(seed: int, count: int) -> None:
    corpus = [*documents(seed, count), ["w1"]]
    reference, ours = BM25Okapi(corpus), PostingsBM25(corpus)
    again = PostingsBM25.unpack(ours.pack())
    for query in [*documents(seed + 100, 20), ["absent"], ["w1", "w1"], []]:
        expected = reference.get_scores(query)
        assert (ours.get_scores(query) == expected).all()
        assert (again.get_scores(query) == expected).all()


def test_rank_lists_only_what_holds_a_term_and_breaks_ties_by_order() -> None:
    ranked = PostingsBM25([["a"], ["b"], ["a"], ["c", "b"], ["d"]]).rank(["a", "b"], 3)
    assert [number for number, _ in ranked] == [0, 1, 2]
    assert PostingsBM25([["a"]]).rank(["z"], 3) == []


@pytest.mark.parametrize("corpus", [[], [[]], [[], []]])
def test_nothing_to_index_is_no_error(corpus: list[list[str]]) -> None:
    assert PostingsBM25.unpack(PostingsBM25(corpus).pack()).rank(["a"], 3) == []


@pytest.mark.parametrize("text", ["1" * 300_000, "1." * 150_000, "a_" * 150_000, "aB" * 150_000, "1 " * 150_000])
def test_time_grows_with_the_length_alone(text: str) -> None:
    assert terms_of(text)
