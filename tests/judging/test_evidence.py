from rag_audit.judging.evidence import locate, locate_quote, support_of
from rag_audit.model import Excerpt, Passage, Span, Support

TEXT = "The `host` holds the “name”\nof the server – see **below**. It waits 12\u00a0ms, then it stops."


def found(quote: str) -> list[str]:
    return [TEXT[low:high] for low, high in locate(quote, TEXT)]


def test_a_quote_is_found_exactly_or_with_other_white_space_and_quote_marks() -> None:
    assert found("holds the “name”") == ["holds the “name”"]
    assert found('host holds the "name" of the server') == ["host` holds the “name”\nof the server"]
    assert found("server - see below") == ["server – see **below"]
    assert found("It waits 12 ms") == ["It waits 12\u00a0ms"]


def test_the_pieces_around_an_ellipsis_are_found_in_their_order() -> None:
    assert found("holds the … it stops") == ["holds the", "it stops"]
    assert found("it stops ... holds the") == []


def test_what_is_not_there_is_not_found() -> None:
    assert found("holds a name") == []
    assert found("It waits 13 ms") == []
    assert found("  ") == []
    assert found("...") == []


def test_a_quote_that_tears_a_word_or_a_number_is_not_there() -> None:
    assert locate("4 ms", "It waits 14 ms.") == []
    assert locate("able", "It is unable.") == []
    assert locate("`a`  1", "`a` 12") == []
    assert locate("4 ms", "It waits 14 ms, then 4 ms.") == [(21, 25)]
    assert locate("5", "Default: `5`.") == [(10, 11)]
    assert locate("重试", "最多重试三次") == [(2, 4)]


def test_support_says_which_parts_of_the_excerpt_hold_the_quote() -> None:
    excerpt = Excerpt(reference=(Passage("It waits."), Passage("Then it stops.")), context=(Passage("Then it stops."),))
    spans = locate_quote("Then it stops.", excerpt)
    assert spans == (Span("reference", 11, 25), Span("context", 0, 14))
    assert excerpt.text("reference")[11:25] == "Then it stops."
    assert support_of(spans) is Support.BOTH
    assert support_of(spans[:1]) is Support.REFERENCE
    assert support_of(()) is Support.NONE
