"""Rules over sentences: the one most like the claim supports it, differs in one place, or says nothing of it."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from rag_audit.judging.lexical.claim import (
    CONTRAST,
    SAME_MATTER,
    SAME_STATEMENT,
    SAYS_SO,
    Finding,
    ReadClaim,
    comparable,
    found,
    has,
    has_all,
    has_unknown_names,
    main_clause,
    negated,
    negated_terms,
    quantities_of,
    share,
    without_contrast,
    without_names,
)
from rag_audit.judging.lexical.phrases import DECISIVE, NEGATION, TIME_WORDS, canonical, opposites, with_phrases
from rag_audit.judging.lexical.quantities import satisfies
from rag_audit.judging.lexical.units import Unit, names_in, terms
from rag_audit.model import Verdict
from rag_audit.text.words import words

_SAYS_SO_WITH_NAMES = 0.5
"""The same where all names and numbers of the claim are there as well (at least one)."""
_NEAR = 0.3
_LEAST = 0.3
"""Only units within `_NEAR` of the most alike, and at least so alike, are looked at."""
_FEW = 0.3
"""Share of the words beside names that is enough where two names or numbers are there."""
_FEWEST_SHARED = 2
"""Words that a nameless claim must share with a unit before their numbers are compared."""
_SHORTEST_SLIP = 5
"""Letters of the shortest part of a name in which two others may be a slip: min is no slip of max."""
_STATES_REQUIRED = re.compile(
    r"\b(?:is|are|as) (?:a )?(?:required|mandatory)\b|\bist (?:erforderlich|zwingend)", re.IGNORECASE
)
_CAUSE = re.compile(
    r"(?:because(?: of)?|caused by|due to|means that|results? from|wegen|aufgrund|verursacht durch|weil)"
    r"\s+(?P<cause>[^.;,]+)",
    re.IGNORECASE,
)
_ONE_WAY = re.compile(
    r"deprecated (?:in|if) favou?r of|overrid(?:es|ing|e)|replace(?:s|d by)|takes? precedence over"
    r"|preferred (?:over|to)|falls? back to|instead of|requires|ersetzt|hat vorrang vor",
    re.IGNORECASE,
)
"""Relations that hold in one direction."""
_ALONE = re.compile(r"\b(?:alone|only|solely|exclusively|nur|allein|ausschließlich)\b", re.IGNORECASE)
_JOINED = re.compile(r"`([^`]+)`\s*(?:\+|plus|and|und|&)\s*`([^`]+)`", re.IGNORECASE)


def by_statement(claim: ReadClaim, units: Sequence[Unit], text: str) -> Finding | None:
    """Go through the units, most words in common first; the first that supports or contradicts decides."""
    ranked = sorted(units, key=lambda unit: (-_likeness(claim, unit), unit.end - unit.start, unit.start))
    best = _likeness(claim, ranked[0])
    for unit in ranked:
        if _likeness(claim, unit) < max(best - _NEAR, _LEAST):
            return None
        finding = _contradiction(claim, unit, text) or _support(claim, unit, text)
        if finding:
            return finding
    return None


def _likeness(claim: ReadClaim, unit: Unit) -> float:
    """Share (0-1) of the claim's words, names and numbers that a unit has."""
    named = sum(has(name, unit.whole) for name in claim.names)
    stated = quantities_of(unit) if claim.numbers else []
    counted = sum(any(satisfies(number, other) for other in stated) for number in claim.numbers)
    wanted = len(claim.terms) + len(claim.names) + len(claim.numbers)
    return (len(claim.terms & terms(unit.whole)) + named + counted) / (wanted or 1)


def _support(claim: ReadClaim, unit: Unit, text: str) -> Finding | None:
    """All names and numbers are there, enough words are, and none that turns the statement round is missing."""
    stated = quantities_of(unit)
    counted = all(any(satisfies(claimed, other) for other in stated) for claimed in claim.numbers)
    if not counted or not has_all(claim.names, unit.whole) or has_unknown_names(claim.text, text):
        return None
    anchors = len(claim.names) + len(claim.numbers)
    beside = terms(without_names(claim.text))
    if beside and share(beside, unit) < (_FEW if anchors > 1 else _SAYS_SO_WITH_NAMES):
        return None
    decisive = DECISIVE | {canonical("required")} if _STATES_REQUIRED.search(claim.text) else DECISIVE
    if not claim.numbers:
        decisive |= TIME_WORDS
    if claim.terms & decisive - terms(unit.whole):
        return None
    positive = not negated(without_contrast(claim.text))
    if positive is negated(unit.text) and (not positive or negated_terms(unit.text) & claim.terms):
        return None
    if _another_word_in_place(claim, unit):
        return None
    had = share(claim.terms, unit)
    if had < (_SAYS_SO_WITH_NAMES if anchors else SAYS_SO):
        return None
    return found(Verdict.VERIFIED, unit, f"it has {had:.0%} of the claim's words")


def _another_word_in_place(claim: ReadClaim, unit: Unit) -> bool:
    """Between words that both have, each has another one: `logged to stdout if` beside `logged to stderr if`."""
    said, stated = (words(with_phrases(text)) for text in (claim.text, unit.text))
    steps = SequenceMatcher(None, [*map(canonical, said)], [*map(canonical, stated)], autojunk=False).get_opcodes()
    for before, step, after in zip(steps, steps[1:], steps[2:], strict=False):
        kind, low, high, other_low, other_high = step
        if (
            kind != "replace"
            or before[0] != "equal"
            or after[0] != "equal"
            or (high - low, other_high - other_low) != (1, 1)
        ):
            continue
        own, other = terms(said[low]), terms(stated[other_low])
        if own and other and not own & terms(unit.whole) and not other & claim.terms:
            return True
    return False


def _contradiction(claim: ReadClaim, unit: Unit, text: str) -> Finding | None:
    if has_unknown_names(claim.text, text):
        return None
    for rule in (
        _other_way_round,
        _other_contrast,
        _other_number,
        _other_polarity,
        _opposite,
        _not_alone,
        _other_cause,
    ):
        reason = rule(claim, unit)
        if reason:
            return found(Verdict.CONTRADICTED, unit, reason)
    return None


def _other_number(claim: ReadClaim, unit: Unit) -> str:
    """Same statement, another number of the same dimension."""
    if share(claim.terms, unit) < SAME_MATTER or not has_all(claim.names, unit.whole):
        return ""
    if not claim.names and len(claim.terms & terms(unit.whole)) < _FEWEST_SHARED:
        return ""
    stated = quantities_of(unit)
    for quantity in claim.numbers:
        alike = [other for other in stated if comparable(quantity, other)]
        if any(satisfies(quantity, other) for other in alike):
            continue
        # A number that another number of the claim accounts for does not stand in this one's place.
        free = [other for other in alike if not any(satisfies(claimed, other) for claimed in claim.numbers)]
        if free:
            return f"the text has {free[0].text}, not {quantity.text}"
    return ""


def _other_polarity(claim: ReadClaim, unit: Unit) -> str:
    """One side negates a word that the other asserts."""
    matter = share(claim.terms - {canonical("default")}, unit)
    if matter < SAYS_SO or not has_all(claim.names, unit.whole):
        return ""
    plain = without_contrast(claim.text)
    text_is_plain = not NEGATION.search(main_clause(with_phrases(unit.text)))
    if negated(plain) and text_is_plain and matter >= SAME_STATEMENT:
        return "the text says it without the negation"
    if negated(plain) == negated(unit.text):
        return ""
    denied, said_not = negated_terms(plain), negated_terms(unit.text)
    own = terms(unit.text)
    for word in sorted(denied - said_not):
        if word in own:
            return f"the text does not negate “{word}”"
    for word in sorted(said_not - denied):
        if word in claim.terms:
            return f"the text negates “{word}”"
    return ""


def _opposite(claim: ReadClaim, unit: Unit) -> str:
    """A word of the claim stands where the text has its opposite."""
    own, whole = terms(unit.text), terms(unit.whole)
    if not has_all(claim.names, unit.whole):
        return ""
    for word in sorted(claim.terms - whole):
        against = opposites().get(word, frozenset()) & own
        if word != canonical("outside"):  # `outside the window between A and B` has its opposite beside it
            against -= claim.terms
        if not against or (against & TIME_WORDS and claim.numbers):
            continue
        rest = claim.terms - {word}
        named = len(claim.names)
        if len(rest & whole) + named >= SAME_MATTER * (len(rest) + named):
            return f"the text says “{min(against)}” where the claim says “{word}”"
    return ""


def _other_way_round(claim: ReadClaim, unit: Unit) -> str:
    """`A is deprecated in favor of B` where the text has it of B and A."""
    if len(claim.names) != 2:
        return ""
    one, other = claim.names
    said = _ONE_WAY.search(claim.text)
    stated = _ONE_WAY.search(unit.text)
    if not said or not stated or not claim.text.index(one) < said.start() < claim.text.index(other):
        return ""
    before, after = unit.text[: stated.start()], unit.text[stated.end() :]
    turned = has(other, before) and has(one, after) and not has(one, before)
    return f"the text has it of {other} and {one}, the other way round" if turned else ""


def _other_contrast(claim: ReadClaim, unit: Unit) -> str:
    """`A, not B` where the text says B."""
    match = CONTRAST.search(claim.text)
    if not match:
        return ""
    said, denied = match["said"] or match["said2"], match["denied"] or match["denied2"]
    said_names, denied_names = names_in(said), names_in(denied)
    whole = terms(unit.whole)
    if said_names and denied_names and has_all(denied_names, unit.text):
        rest = claim.terms - terms(" ".join((*said_names, *denied_names)))
        other = not any(has(name, unit.whole) for name in said_names)
        alike = len(rest & whole) >= SAME_MATTER * len(rest)
        return f"the text has {denied_names[0]}, not {said_names[0]}" if other and alike else ""
    only_said, only_denied = terms(said) - terms(denied), terms(denied) - terms(said)
    says_denied = bool(only_denied) and only_denied <= whole and not only_said <= whole
    return "the text says what the claim denies" if says_denied and share(claim.terms, unit) >= SAME_MATTER else ""


def _not_alone(claim: ReadClaim, unit: Unit) -> str:
    """`X alone` where the text joins X with something else."""
    if not _ALONE.search(claim.text):
        return ""
    for match in _JOINED.finditer(unit.text):
        pair = {match[1], match[2]}
        if len(pair & set(claim.names)) == 1 and canonical("default") in claim.terms & terms(unit.text):
            return f"the text joins {match[1]} and {match[2]}"
    return ""


def _other_cause(claim: ReadClaim, unit: Unit) -> str:
    """Same effect, another cause."""
    claimed, stated = _CAUSE.search(claim.text), _CAUSE.search(unit.text)
    if not claimed or not stated or terms(claimed["cause"]) & terms(stated["cause"]):
        return ""
    effect = terms(claim.text[: claimed.start()])
    same_effect = bool(effect) and share(effect, unit) >= SAYS_SO
    return f"the text gives another cause: {stated['cause'].strip()}" if same_effect else ""


def by_other_name(claim: ReadClaim, units: Sequence[Unit], text: str) -> Finding | None:
    """Same statement about another name, or a garbled form of a name that is there: contradicted, else absent."""
    unknown = [name for name in claim.names if not has(name, text)]
    if len(unknown) != 1 or negated(claim.text):
        return None
    name = unknown[0]
    rest = terms(claim.text.replace(name, " "))
    known = [other for other in claim.names if other != name]
    for unit in sorted(units, key=lambda unit: (-len(rest & terms(unit.whole)), unit.end - unit.start)):
        share = len(rest & terms(unit.whole)) / len(rest) if rest else 0.0
        if share < SAME_MATTER:
            return None
        if not all(has(other, unit.whole) for other in known):
            continue
        others = [other for other in names_in(unit.text) if other not in claim.names and "://" not in other]
        garbled = next((other for other in others if _garbled(name, other)), None)
        if garbled or (share >= SAME_STATEMENT and len(rest) >= 3 and others):
            return found(Verdict.CONTRADICTED, unit, f"the text names {garbled or others[0]}, not {name}")
    return None


def _garbled(name: str, other: str) -> bool:
    """Whether a name is another one with parts missing, exchanged or in another order, or with a slip of the pen."""
    parts, whole = words(name), words(other)
    if len(parts) > 1 and set(parts) <= set(whole) and parts != whole:
        return True
    if len(parts) == len(whole) > 2 and sum(a == b for a, b in zip(parts, whole, strict=True)) >= 0.75 * len(parts):
        return True
    slips = [(a, b) for a, b in zip(parts, whole, strict=False) if a != b] if len(parts) == len(whole) else []
    return len(slips) == 1 and len(slips[0][0]) >= _SHORTEST_SLIP and _distance(*slips[0]) <= 2


def _distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        previous, row[0] = row[0], at
        for to, against in enumerate(other, start=1):
            previous, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, previous + (letter != against))
    return row[-1]


_CONTRADICTIONS = (
    _other_way_round,
    _other_contrast,
    _other_number,
    _other_polarity,
    _opposite,
    _not_alone,
    _other_cause,
)
"""In the order in which they are tried; each returns the reason, or nothing."""
