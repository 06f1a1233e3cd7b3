"""A claim read for judging: its words, names and numbers, and whether it is negative."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_audit.judging.lexical.phrases import NEGATION, canonical, with_phrases
from rag_audit.judging.lexical.quantities import Quantity, quantities
from rag_audit.judging.lexical.units import Unit, names_in, terms
from rag_audit.model import Verdict
from rag_audit.text.identifiers import find_identifiers, identifier_key, occurrences
from rag_audit.text.words import STOP_WORDS, stem, words

SAYS_SO = 0.7
"""Share of the claim's words that a unit must have to support it."""
SAME_MATTER = 0.5
"""Share of the claim's other words that a unit must have before a difference in one place is a contradiction."""
SAME_STATEMENT = 0.8
"""The same where the difference is the name itself, or a negation."""
_OPENING = re.compile(r"^\s*(?:yes|no|none|ja|nein|keine[rs]?)\s*[,:;.–-]\s+", re.IGNORECASE)
"""How an answer opens; what follows is the claim."""
_CONDITION = re.compile(
    r"\b(?:if|when|unless|whenever|wenn|falls|sofern|since|because|weil|da)\b[^,.;]*", re.IGNORECASE
)
"""A condition or reason: what is negated in it does not negate the statement."""
_SPAN = re.compile(r"`([^`\n]+)`")
NUMERIC = re.compile(r"[-+]?\d+(?:[.,]\d+)*\s?\w{0,12}")
"""A name that is a value: a number, perhaps with a unit."""
CONTRAST = re.compile(
    r"(?P<said>[^,;]+),? (?:rather than|and not|but not|instead of|statt|und nicht) (?P<denied>[^,;.]+)"
    r"|(?P<said2>[^,;]+), (?:not|nicht) (?P<denied2>[^,;.]+)",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s")
_PLAIN_WORD = re.compile(r"[a-zäöüß]+")
_LITERALS = frozenset({"true", "false", "null", "none", "yes", "no", "on", "off"})
_FORMS = frozenset(
    canonical(word)
    for word in ("default", "required", "optional", "allow", "use", "set", "field", "select", "value", "one", "that")
)
"""Words that facts are put in; they say nothing of what the fact is about."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with the sentence it rests on, as characters [start, end) of the judged text, and the rule."""

    verdict: Verdict
    start: int = 0
    end: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """One claim as the rules see it."""

    text: str
    terms: frozenset[str]
    """Its canonical content words, those inside names included."""
    names: tuple[str, ...]
    numbers: tuple[Quantity, ...]

    @property
    def topic(self) -> frozenset[str]:
        """Its words without the forms that facts take."""
        return self.terms - _FORMS


def read_claim(text: str) -> ReadClaim:
    """Read one claim; a leading `Yes,` or `No,` belongs to the answer, not to the claim."""
    text = _LIST_NUMBER.sub("", _OPENING.sub("", text))
    return ReadClaim(text, terms(text), names_in(text), tuple(quantities(without_names(text))))


def without_names(text: str) -> str:
    """Names blanked out, so that the digits in them are no quantities; a span that is a number stays."""
    return _SPAN.sub(lambda span: f" {span[1]} " if NUMERIC.fullmatch(span[1]) else " § ", text)


def share(wanted: frozenset[str], unit: Unit) -> float:
    """Share (0-1) of the words that a unit has, with what it leans on."""
    return len(wanted & terms(unit.whole)) / len(wanted) if wanted else 0.0


def has_all(names: Sequence[str], text: str) -> bool:
    """Whether every name stands in the text."""
    return all(has(name, text) for name in names)


def has(name: str, text: str) -> bool:
    """Whether a name stands in a text as a whole token.

    A name that is a plain word (`broker`) must be marked as a name where the text marks its names: the ordinary word is
    something else.
    """
    if _PLAIN_WORD.fullmatch(name) and name not in _LITERALS:
        marked = _SPAN.findall(text)
        if marked:
            return any(occurrences(name, span) for span in marked) or _is_key(name, text)
    return bool(occurrences(name, text))


def _is_key(name: str, text: str) -> bool:
    """Whether a line, a cell or an alternative of the text begins with the name."""
    return bool(re.search(rf"(?:^|[|\n=]|- )\s*{re.escape(name)}\s*(?:[:=|\n(]|$)|[:|]\s*{re.escape(name)}\b", text))


def same(one: str, other: str) -> bool:
    """Whether two names are one."""
    return identifier_key(one) == identifier_key(other)


def found(verdict: Verdict, unit: Unit, reason: str) -> Finding:
    """A finding that rests on one unit."""
    return Finding(verdict, unit.start, unit.end, reason)


def codes(text: str) -> list[str]:
    """Upper-case codes such as TLS13, which are names only where a list has their like."""
    return [found.text for found in find_identifiers(text) if found.kind == "code"]


def quantities_of(unit: Unit) -> list[Quantity]:
    """The numbers a unit states, the number of a list item left out."""
    return quantities(without_names(f"{unit.leaning}\n{_LIST_NUMBER.sub('', unit.text)}"))


def has_unknown_names(claim: str, text: str) -> bool:
    """Whether the claim has a proper name or code (a capital within a sentence) that the text never mentions."""
    plain = re.sub(r"`[^`\n]+`", " ", claim)
    names = [match.group() for match in re.finditer(r"(?<=[\w,;)] )[A-Z][\w.]*\w", plain)] + codes(plain)
    known = {stem(word) for word in words(text)}
    return any(not {stem(word) for word in words(name)} <= known for name in names)


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two numbers measure the same thing; a bare whole number may stand for any unit but a percentage."""
    dimensions = {one.dimension, other.dimension}
    return len(dimensions) == 1 or ("count" in dimensions and not dimensions & {"%", "decimal"})


def negated(text: str) -> bool:
    """Whether a clause is negative: two negations cancel."""
    return len(NEGATION.findall(main_clause(with_phrases(without_names(text))))) % 2 == 1


def main_clause(text: str) -> str:
    """The text without its conditions: what is negated in them does not negate the statement."""
    return _CONDITION.sub(" ", text)


def without_contrast(text: str) -> str:
    """The text without what it denies in `A rather than B` or `A, not B`."""
    match = CONTRAST.search(text)
    denied = (match["denied"] or match["denied2"]) if match else ""
    return text.replace(denied, "").replace(", not ", " ") if denied else text


def negated_terms(text: str) -> frozenset[str]:
    """The first content word after each negation of a text that is negative on the whole."""
    if not negated(text):
        return frozenset()
    plain = main_clause(with_phrases(text.replace("`", "")))
    found: set[str] = set()
    for match in NEGATION.finditer(plain):
        following = [word for word in words(plain[match.end() : match.end() + 60]) if word not in STOP_WORDS]
        if following:
            found.add(canonical(following[0]))
    return frozenset(found)
