"""Which corpora a question is sent to, and the rule that chose them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rag_audit.fingerprint import fingerprint
from rag_audit.model import Document, Question, Route
from rag_audit.model.settings import Settings
from rag_audit.text.comparison import COMPARISON

_GAP = r"[\s_\-./]*"
"""What may stand between the words of a corpus's name."""


class ScannedDocuments(Protocol):
    """What the routing table is built from."""

    @property
    def corpora(self) -> Mapping[str, Sequence[Document]]:
        """Corpus name to its documents."""


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Every doc_id with its corpus, and the names a question may call a corpus by."""

    corpora: tuple[str, ...]
    """In the order of their names."""
    corpus_of: Mapping[str, str]
    names: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Corpus to the pattern that finds its name in a question."""

    def fingerprint(self) -> str:
        """Hash of what the table says."""
        return fingerprint(part for entry in sorted(self.corpus_of.items()) for part in entry)

    def homes(self, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """The corpora that hold these documents, in the order of the documents."""
        return tuple(dict.fromkeys(self.corpus_of[doc_id] for doc_id in doc_ids if doc_id in self.corpus_of))

    def named_in(self, text: str) -> tuple[str, ...]:
        """The corpora that a text calls by name."""
        return tuple(corpus for corpus in self.corpora if corpus in self.names and self.names[corpus].search(text))


def build_routing_table(documents: ScannedDocuments) -> RoutingTable:
    """Build the table that is consulted for every question."""
    corpora = tuple(sorted(documents.corpora))
    corpus_of = {document.doc_id: corpus for corpus in corpora for document in documents.corpora[corpus]}
    return RoutingTable(corpora, corpus_of, _name_patterns(corpora))


def default_corpus(table: RoutingTable, settings: Settings) -> str:
    """Where everything goes without routing: `routing.default_corpus`, else the first corpus by name."""
    return settings.optional("routing.default_corpus") or table.corpora[0]


def route_question(question: Question, table: RoutingTable, settings: Settings) -> Route:
    """Choose the corpora for one question.

    In this order: no retrieval (`off`), no routing (`no_routing`), corpora that the question lists (`named`), marked as
    cross-corpus (`cross_corpus`), two or more corpora called by name in its text (`named`), the comparison pattern
    (`pattern`), its documents (`doc_id`). A question marked `cross_corpus: false` is never taken for a comparison.
    A cross-corpus question that names two or more corpora goes to those, and always to the homes of its documents.
    """
    home = table.homes(question.relevant_docs)
    if settings.text("retriever.mode") == "off":
        return Route((), "off", home)
    if not settings.flag("routing.enabled"):
        return Route((default_corpus(table, settings),), "no_routing", home)
    if question.corpora:
        return Route(_in_order(table, question.corpora), "named", home)
    named = table.named_in(question.question)
    several = len(named) > 1
    compared = _in_order(table, (*named, *home)) if several else table.corpora
    if question.cross_corpus:
        return Route(compared, "cross_corpus", home)
    if question.cross_corpus is None:
        if several:
            return Route(compared, "named", home)
        if _compares(question.question, settings.text("routing.comparison_pattern")):
            return Route(table.corpora, "pattern", home)
    if home:
        return Route(home, "doc_id", home)
    return Route(named, "named") if named else Route(table.corpora, "cross_corpus")


def _compares(text: str, pattern: str) -> bool:
    """Whether a question compares, by `routing.comparison_pattern`."""
    if pattern == "off":
        return False
    comparison = COMPARISON if pattern == "builtin" else re.compile(pattern, re.IGNORECASE)
    return comparison.search(text) is not None


def _in_order(table: RoutingTable, corpora: Sequence[str]) -> tuple[str, ...]:
    return tuple(corpus for corpus in table.corpora if corpus in corpora)


def _name_patterns(corpora: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """What finds each corpus's name in a text.

    A name with a digit or several words is found as it is (`keda-1.5` also as `KEDA 1.5`), and by the part with a
    digit that sets it apart from its siblings (`1.5`). A name that is an ordinary word only counts in quotes.
    """
    words = {corpus: re.findall(r"[^\W_]+(?:\.[^\W_]+)*", corpus) for corpus in corpora}
    uses = Counter(word for own in words.values() for word in set(own))
    patterns = {}
    for corpus, own in words.items():
        apart = [word for word in own if uses[word] == 1]
        if len(own) == 1 and own[0].isalpha():
            patterns[corpus] = re.compile(rf"[`'\"“”„«‘’]{re.escape(corpus)}[`'\"“”»‘’]", re.IGNORECASE)
        elif own:
            spellings = [_GAP.join(map(re.escape, own))]
            if len(apart) < len(own) and any(sign.isdigit() for word in apart for sign in word):
                spellings.append(_GAP.join(map(re.escape, apart)))
            name = "|".join(spellings)
            patterns[corpus] = re.compile(rf"(?<![^\W_])(?<![\d.]\.)v?(?:{name})(?![^\W_]|[.,]\d)", re.IGNORECASE)
    return patterns
