from pathlib import Path

import pytest

from rag_audit.corpus.documents import scan_documents
from rag_audit.model import Route
from rag_audit.routing import RoutingTable, build_routing_table, route_question
from rag_audit.text.comparison import COMPARISON
from tests.corpus.projects import asked, settings_of, write_files

COMPARISONS = """\
Compare the idle speed of A and B.
How does the limit differ between the versions?
What is the difference between the old and the new unit?
Differences between MSS54 and MSS60?
Kafka auth settings, 1.5 vs 2.17?
MSS54 versus MSS60: idle speed
Which limits apply in both generations?
What has changed between the two releases?
How does the new sensor compare to the old one?
Worin unterscheiden sich die beiden Steuergeräte?
Wie unterscheidet sich die Leerlaufdrehzahl?
Was ist der Unterschied zwischen A und B?
Vergleiche die Zündzeitpunkte.
Im Vergleich zur alten Version, welche Grenze gilt?
Quelle est la différence entre les deux systèmes ?
¿Cuál es la diferencia entre A y B?
Qual è la differenza tra A e B?
两个版本有什么区别？"""

ORDINARY = """\
Which different values does the field take?
Are both fields required?
What pressure difference triggers the fault?
Which value is the signal compared against?
With what does the comparator compare the measured value?
Does the scaler behave differently at night?
How many versions are kept?
Welche unterschiedlichen Werte gibt es?
Sind beide Felder erforderlich?
Womit vergleicht das Steuergerät den Druck?
Wie groß ist der Druckunterschied?
Quelles sont les différentes valeurs ?
¿Qué valores diferentes hay?"""


@pytest.fixture
def table(tmp_path: Path) -> RoutingTable:
    names = ("keda-1.5", "keda-2.17", "other")
    project = write_files(tmp_path, {f"documents/{name}/a.md": "text" for name in names})
    return build_routing_table(scan_documents(project, settings_of(project)))


def route(table: RoutingTable, text: str, *overrides: str, **fields: object) -> Route:
    return route_question(asked(text, **fields), table, settings_of(Path("/nonexistent"), *overrides))


@pytest.mark.parametrize("question", COMPARISONS.splitlines())
def test_comparisons_are_recognised(question: str) -> None:
    assert COMPARISON.search(question)


@pytest.mark.parametrize("question", ORDINARY.splitlines())
def test_ordinary_questions_are_no_comparisons(question: str) -> None:
    assert not COMPARISON.search(question)


def test_document_decides(table: RoutingTable) -> None:
    found = route(table, "What is the default?", doc_id="keda-2.17/a")
    assert found == Route(("keda-2.17",), "doc_id", ("keda-2.17",))
    assert not found.misrouted


def test_documents_in_two_corpora_reach_both(table: RoutingTable) -> None:
    found = route(table, "What is it?", doc_id="keda-2.17/a", also_docs=("keda-1.5/a",))
    assert (set(found.corpora), found.rule) == ({"keda-1.5", "keda-2.17"}, "doc_id")


def test_comparisons_reach_all_corpora_or_those_they_name(table: RoutingTable) -> None:
    everywhere = ("keda-1.5", "keda-2.17", "other")
    assert route(table, "x", doc_id="other/a", cross_corpus=True) == Route(everywhere, "cross_corpus", ("other",))
    found = route(table, "KEDA 1.5 against 2.17: x?", doc_id="keda-1.5/a", cross_corpus=True)
    assert (found.corpora, found.rule) == (("keda-1.5", "keda-2.17"), "cross_corpus")
    assert route(table, "Compare the limits.", doc_id="other/a") == Route(everywhere, "pattern", ("other",))
    assert route(table, "Compare the limits.", doc_id="other/a", cross_corpus=False).rule == "doc_id"
    assert route(table, "How from keda-1.5 to KEDA v2.17?", doc_id="keda-2.17/a").rule == "named"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("In KEDA 1.5, which field?", ("keda-1.5",)),
        ("on v2.17 and keda_1.5", ("keda-1.5", "keda-2.17")),
        ("version 11.5 or 1.55 or 1.5.2", ()),
        ("the other day, another", ()),
        ("in `other`, where", ("other",)),
    ],
)
def test_names_in_a_text(table: RoutingTable, text: str, named: tuple[str, ...]) -> None:
    assert table.named_in(text) == named


def test_naming_one_corpus_does_not_overrule_the_document(table: RoutingTable) -> None:
    assert route(table, "Unlike KEDA 1.5, what is it now?", doc_id="keda-2.17/a").corpora == ("keda-2.17",)


def test_listed_corpora_win_and_misrouting_shows(table: RoutingTable) -> None:
    found = route(table, "x", doc_id="keda-1.5/a", corpora=("other",))
    assert (found, found.misrouted) == (Route(("other",), "named", ("keda-1.5",)), True)


def test_question_without_document(table: RoutingTable) -> None:
    assert route(table, "Who wrote it?", answerable=False).corpora == ("keda-1.5", "keda-2.17", "other")
    assert route(table, "Who wrote KEDA 2.17?", answerable=False) == Route(("keda-2.17",), "named")


def test_no_routing_sends_everything_to_one_corpus(table: RoutingTable) -> None:
    found = route(table, "Compare.", "routing.enabled=false", doc_id="keda-2.17/a", cross_corpus=True)
    assert (found, found.misrouted) == (Route(("keda-1.5",), "no_routing", ("keda-2.17",)), True)
    chosen = route(table, "x", "routing.enabled=no", "routing.default_corpus=other", doc_id="keda-1.5/a")
    assert chosen.corpora == ("other",)


def test_without_retrieval_nothing_is_misrouted(table: RoutingTable) -> None:
    found = route(table, "x", "retriever.mode=off", doc_id="keda-1.5/a")
    assert (found, found.misrouted) == (Route((), "off", ("keda-1.5",)), False)


def test_own_pattern_and_no_pattern(table: RoutingTable) -> None:
    assert route(table, "FROB it", r"routing.comparison_pattern=\bfrob\b", doc_id="other/a").rule == "pattern"
    assert route(table, "Compare it", r"routing.comparison_pattern=\bfrob\b", doc_id="other/a").rule == "doc_id"
    assert route(table, "Compare it", "routing.comparison_pattern=off", doc_id="other/a").rule == "doc_id"
