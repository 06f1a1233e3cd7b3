"""Rules over stated facts: not supported, defaults, closed lists of values, required or optional."""

import re
from collections.abc import Sequence

from rag_audit.judging.lexical.claim import (
    NUMERIC,
    SAME_MATTER,
    SAYS_SO,
    Finding,
    ReadClaim,
    codes,
    comparable,
    found,
    has,
    negated,
    same,
    share,
)
from rag_audit.judging.lexical.facts import Facts, bare, denies, facts_of
from rag_audit.judging.lexical.phrases import NEGATION, canonical, opposites
from rag_audit.judging.lexical.quantities import quantities, satisfies
from rag_audit.judging.lexical.units import Unit, terms
from rag_audit.model import Verdict

_AVAILABLE = re.compile(
    r"\b(?:can|may|available|supported|supports?|possible|allows?|offers?|kann|können|verfügbar|möglich|unterstützt)\b",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"\b(?:one of|can be (?:set|chosen|selected|used|picked)|can be|may be|allowed|possible|supported|valid"
    r"|accept(?:s|ed)?|available|selected with|eine[rs]? der|erlaubt|möglich)\b",
    re.IGNORECASE,
)
_SWITCHED = re.compile(
    r"\b(?:is|are|ist|sind) (?:not |nicht )?(?:by default )?"
    r"(?:(?P<on>enabled|active|activated|(?:turned |switched )?on|aktiviert|aktiv|eingeschaltet)"
    r"|(?P<off>disabled|inactive|deactivated|(?:turned |switched )?off|deaktiviert|inaktiv|ausgeschaltet))\b",
    re.IGNORECASE,
)
"""The state of a switch: `x` is enabled, is turned off."""
_PLAIN_WORD = re.compile(r"[a-z]+")
_LITERALS = frozenset({"true", "false", "null", "none", "yes", "no", "on", "off"})


def by_denial(claim: ReadClaim, units: Sequence[Unit]) -> Finding | None:
    """`Not supported yet.` under a heading excludes what a claim says is available there."""
    if not _AVAILABLE.search(claim.text) or NEGATION.search(claim.text):
        return None
    for unit in units:
        if denies(unit):
            topic = terms(unit.heading) - {canonical("parameters")}
            if topic and len(topic & claim.terms) >= 0.5 * len(topic):
                return found(Verdict.CONTRADICTED, unit, f"under “{unit.heading}” the text says: {unit.text.strip()}")
    return None


def by_facts(claim: ReadClaim, units: Sequence[Unit], text: str) -> Finding | None:
    """The first unit on the claim's subject whose stated default, list of values or requirement decides."""
    default = canonical("default")
    for unit, facts in ((unit, facts_of(unit)) for unit in _about(claim, units)):
        finding = None
        if default in claim.terms and facts.defaults:
            finding = _default(claim, unit, facts) or _default_switch(claim, unit, facts)
        if finding is None and facts.values and _MEMBER.search(claim.text):
            finding = _membership(claim, unit, facts, text)
        if finding is None and facts.requirement:
            finding = _requirement(claim, unit, facts)
        if finding:
            return finding
    return None


def _about(claim: ReadClaim, units: Sequence[Unit]) -> list[Unit]:
    """Units on the claim's subject: led by a name of the claim, then those that share at least half of its words."""
    led = [unit for unit in units if unit.lead and any(same(unit.lead, name) for name in claim.names)]
    topical = [unit for unit in units if share(claim.topic, unit) >= SAME_MATTER and unit not in led]
    topical.sort(key=lambda unit: (-share(claim.topic, unit), unit.end - unit.start))
    named = terms(" ".join(claim.names))
    listing = [unit for unit in units if named & terms(" ".join(facts_of(unit).values))]
    return [*led, *topical, *(unit for unit in listing if unit not in led and unit not in topical)]


def _default(claim: ReadClaim, unit: Unit, facts: Facts) -> Finding | None:
    """The claimed default against the stated one; the claim must have exactly one value to compare."""
    others = [name for name in claim.names if not same(name, unit.lead)]
    values = [
        name
        for name in others
        if _is_value(name) or name in facts.values or _stands_as_value(name, claim.text) or not has(name, unit.whole)
    ]
    if any(not (_is_value(name) or _stands_as_value(name, claim.text) or has(name, unit.whole)) for name in values):
        return None
    if len(values) == 1:
        claimed = values[0]
        agrees = any(bare(claimed).lower() == value.lower() for value in facts.defaults)
    elif claim.numbers and not values:
        claimed = claim.numbers[0].text
        stated = [quantity for value in facts.defaults for quantity in quantities(value)]
        agrees = any(satisfies(q, other) and comparable(q, other) for q in claim.numbers for other in stated)
        if not stated or (not agrees and len(claim.numbers) > 1):
            return None
    else:
        return None
    said = f"the stated default is {', '.join(facts.defaults)}"
    if not agrees:
        return found(Verdict.CONTRADICTED, unit, f"{said}, not {claimed}")
    on_subject = unit.lead in claim.names or share(claim.topic, unit) >= SAME_MATTER
    return found(Verdict.VERIFIED, unit, said) if on_subject else None


def _default_switch(claim: ReadClaim, unit: Unit, facts: Facts) -> Finding | None:
    """What happens by default, against a switch that is on or off by default: `Set to true to …` (Default: false)."""
    states = {value.lower().split("=")[-1].strip() for value in facts.defaults}
    others = [name for name in claim.names if not has(name, unit.whole)]
    effect = claim.terms - {canonical("default")}
    if len(states) != 1 or not states <= {"true", "false"} or others or claim.numbers or not effect:
        return None
    if any(name.lower() in _LITERALS for name in claim.names):
        return None
    stated_on = states == {"true"}
    switched = _SWITCHED.search(claim.text)
    if switched and any(same(unit.lead, name) for name in claim.names):
        claimed_on = (switched["on"] is not None) != negated(claim.text)
        verdict = Verdict.VERIFIED if claimed_on == stated_on else Verdict.CONTRADICTED
        return found(verdict, unit, f"the switch is {states.pop()} by default")
    known = terms(unit.whole)
    switch = terms(" ".join((unit.lead, *(value.split("=")[0] for value in facts.defaults if "=" in value))))
    if len(effect & switch) < SAME_MATTER * len(effect):
        return None
    reversed_words = {word for word in effect - known if opposites().get(word, frozenset()) & known}
    if len((effect & known) | reversed_words) < SAYS_SO * len(effect):
        return None
    asserted = negated(claim.text) == bool(len(reversed_words) % 2)
    verdict = Verdict.VERIFIED if asserted == stated_on else Verdict.CONTRADICTED
    return found(verdict, unit, f"the switch is {states.pop()} by default")


def _stands_as_value(name: str, claim: str) -> bool:
    """Whether a name stands where a claim has the default: `defaults to X`, `is X by default`, `X is used`."""
    quoted = rf"[`\"']?{re.escape(name)}[`\"']?"
    before = rf"(?:defaults? to|default (?:value )?(?:of [^.]{{1,40}} )?is|\bis|\bare|[=:]|\bist) {quoted}"
    after = rf"{quoted} (?:by default|is used|is taken|is the default|unless|if nothing)"
    return bool(re.search(f"{before}|{after}", claim))


def _is_value(name: str) -> bool:
    """Whether a name can be a value: true, a number, a plain word."""
    return name.lower() in _LITERALS or bool(NUMERIC.fullmatch(name) or _PLAIN_WORD.fullmatch(name))


def _membership(claim: ReadClaim, unit: Unit, facts: Facts, text: str) -> Finding | None:
    """A value that is claimed to be possible, against the closed list of those that are."""
    subject = [
        name for name in claim.names if same(name, unit.lead) or (has(name, unit.whole) and name not in facts.values)
    ]
    claimed = [name for name in claim.names if name not in subject]
    topic = claim.topic - terms(" ".join(claimed))
    if not claimed:
        claimed, topic = codes(claim.text), frozenset()
    alike = topic or (terms(" ".join(claimed)) & terms(" ".join(facts.values)))
    if not claimed or not alike or (topic and share(topic, unit) < SAME_MATTER):
        return None
    outside = [name for name in claimed if not any(same(name, value) for value in facts.values)]
    elsewhere = [name for name in outside if has(name, text) and not _is_value(name)]
    if len(outside) == len(elsewhere) < len(claimed):
        return None if negated(claim.text) else found(Verdict.VERIFIED, unit, "it is in the list of values")
    unknown = [name for name in outside if name not in elsewhere]
    if len(unknown) != 1 or negated(claim.text):
        return None
    return found(Verdict.CONTRADICTED, unit, f"{unknown[0]} is not among the values {', '.join(facts.values)}")


def _requirement(claim: ReadClaim, unit: Unit, facts: Facts) -> Finding | None:
    """Required against optional, of the name that leads the unit."""
    if not any(same(unit.lead, name) for name in claim.names):
        return None
    said = {word for word in ("required", "optional") if canonical(word) in claim.terms}
    others = [name for name in claim.names if not same(name, unit.lead)]
    if len(said) != 1 or others or len(claim.topic - terms(unit.lead)) > 2:
        return None
    claimed = said.pop()
    if negated(claim.text) and claimed == "required":
        claimed = "optional"
    verdict = Verdict.VERIFIED if claimed == facts.requirement else Verdict.CONTRADICTED
    return found(verdict, unit, f"{unit.lead} is stated to be {facts.requirement}")
