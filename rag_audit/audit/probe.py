"""The judge probe: plant known faults into verified claims and see whether the judge notices.

A judge that calls planted faults verified is blind, whatever its average says; one that rejects untouched claims cries
wolf. Everything here is pure and seeded; who asks the judge is elsewhere.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_audit.model import Claim, Excerpt, QuestionResult, Verdict
from rag_audit.statistics.agreement import Bounds, wilson
from rag_audit.summary import corpus_of
from rag_audit.text.identifiers import find_identifiers, occurrences

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w.,]*\d)")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|must|may|should|will|does|do|has|have|ist|sind|wird|werden|kann|können|muss|müssen|hat|darf)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(not|never|no|n't|nicht|nie|kein\w*)\b", re.IGNORECASE)
_GERMAN = re.compile(r"\b(der|die|das|ist|sind|wird|und|mit|kann|nicht)\b")
_TURNED = {"not": "", "never": "always", "nicht": "", "nie": "immer"}
_INVENTED = ("watchdog_grace_ms", "retry_ceiling", "shadow_buffer_kb", "fallback_ratio", "idle_guard_s")


class Fault(StrEnum):
    """What is planted."""

    NUMBER = "number"
    """Another number."""
    IDENTIFIER = "identifier"
    """Another identifier."""
    NEGATION = "negation"
    """The statement turned round."""
    OTHER_CORPUS = "other_corpus"
    """A fact of another corpus."""
    PARAMETER = "parameter"
    """A parameter that does not exist."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One claim as the judge is asked about it; `fault` None: untouched."""

    question_id: str
    claim: Claim
    """As asked: its text is the planted one."""
    original: str
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class Asking:
    """One answer with the claims to judge together."""

    result: QuestionResult
    claims: tuple[Planted, ...]

    @property
    def answer(self) -> str:
        """The answer with every planted claim in place of its original, where that stands in it verbatim."""
        text = self.result.generation.answer if self.result.generation else ""
        for planted in self.claims:
            text = text.replace(planted.original, planted.claim.text)
        return text


@dataclass(frozen=True, slots=True)
class Answered:
    """What the judge said of one claim; None: it gave no usable verdict."""

    planted: Planted
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the claims that the judge decided it did not call verified, with Wilson's 95 % interval."""

    n: int
    rejected: int
    contradicted: int
    failed: int
    """Without a usable verdict; not among n."""
    bounds: Bounds

    @property
    def share(self) -> float | None:
        """Rejected of n; None where nothing was decided."""
        return self.rejected / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """How well the judge tells planted faults from untouched claims."""

    caught: Mapping[Fault, Rate]
    overall: Rate
    """All planted faults."""
    false_alarms: Rate
    """Untouched claims."""
    answers: tuple[Answered, ...]


def plan_probe(results: Sequence[QuestionResult], n: int, seed: int) -> list[Asking]:
    """Choose up to n verified claims for a fault each, the kinds in turn, and as many to leave untouched.

    Every other claim of a seeded order over the whole run is a candidate for a fault; claims of one answer are asked
    about together, as the judge judges them. Claims without an excerpt cannot be used; of repeats the first is.
    """
    order = sorted(_usable(results), key=lambda pair: _place(seed, pair[0].question.id, pair[1].id))
    planted: list[Planted] = []
    for result, claim in order[::2]:
        turn = len(planted) % len(Fault)
        kinds = [*Fault][turn:] + [*Fault][:turn]
        if len(planted) < n and (found := _plant(result, claim, kinds, order, seed)) is not None:
            planted.append(found)
    untouched = [Planted(result.question.id, claim, claim.text, None) for result, claim in order[1::2][:n]]
    by_question: defaultdict[str, list[Planted]] = defaultdict(list)
    for one in (*planted, *untouched):
        by_question[one.question_id].append(one)
    result_of = {result.question.id: result for result, _ in order}
    place_of = {(result.question.id, claim.id): at for at, (result, claim) in enumerate(_usable(results))}
    return [
        Asking(result_of[name], tuple(sorted(claims, key=lambda one: place_of[name, one.claim.id])))
        for name, claims in sorted(by_question.items())
    ]


def _usable(results: Sequence[QuestionResult]) -> list[tuple[QuestionResult, Claim]]:
    return [
        (result, claim)
        for result in results
        if result.claim_judgment and result.repeat in (None, 1) and result.claim_judgment.excerpt != Excerpt()
        for claim in result.claim_judgment.claims
        if claim.verdict is Verdict.VERIFIED
    ]


def _place(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode("utf-8", "surrogatepass")).digest()


def _plant(
    result: QuestionResult,
    claim: Claim,
    kinds: Sequence[Fault],
    pool: Sequence[tuple[QuestionResult, Claim]],
    seed: int,
) -> Planted | None:
    """The first kind of fault that this claim can take; None if it can take none."""
    excerpt = result.claim_judgment.excerpt if result.claim_judgment else Excerpt()
    source = f"{excerpt.text('reference')}\n{excerpt.text('context')}"
    draw = int.from_bytes(_place(seed, "fault", result.question.id, claim.id)[:8])
    for kind in kinds:
        if kind is Fault.OTHER_CORPUS:
            text = _of_another_corpus(result, pool, source, draw)
        else:
            text = _PLANTERS[kind](claim.text, source, draw)
        if text is not None and text != claim.text:
            return Planted(result.question.id, replace(claim, text=text), claim.text, kind)
    return None


def another_number(text: str, source: str, draw: int) -> str | None:
    """Change one number to one that the source does not hold; None without a number."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    chosen = numbers[draw % len(numbers)]
    written = chosen.group()
    decimals = re.search(r"[.,](\d+)$", written)
    value = float(written.replace(",", "."))
    for factor in (1.5, 2, 3, 0.5, 7, 11):
        changed = value * factor + (draw % 3) + 1
        new = f"{changed:.{len(decimals.group(1))}f}" if decimals else str(round(changed))
        new = new.replace(".", written[decimals.start()]) if decimals else new
        if not re.search(rf"(?<![\w.,]){re.escape(new)}(?!\w)", source):
            return text[: chosen.start()] + new + text[chosen.end() :]
    return None


def another_identifier(text: str, source: str, draw: int) -> str | None:
    """Change one identifier to a likely one that the source does not hold; None without an identifier."""
    names = [found for found in find_identifiers(text) if found.kind not in ("number", "url", "version", "hex")]
    if not names:
        return None
    chosen = names[draw % len(names)]
    for ending in ("Ex", "2", "_alt", "_v2", "Base"):
        stem = re.match(r"[\w.:/-]*\w", chosen.text)
        new = chosen.text[: stem.end()] + ending + chosen.text[stem.end() :] if stem else f"{chosen.text}{ending}"
        if not occurrences(new, source):
            return text[: chosen.start] + new + text[chosen.end :]
    return None


def turned_round(text: str, source: str, draw: int) -> str | None:
    """Negate the statement, or take its negation away, in English or German."""
    negated = _NEGATED.search(text)
    if negated:
        word = negated.group().lower()
        if word not in _TURNED:
            return None
        return re.sub(r"  +", " ", text[: negated.start()] + _TURNED[word] + text[negated.end() :])
    auxiliary = _AUXILIARY.search(text)
    german = len(_GERMAN.findall(text)) >= 2
    if auxiliary:
        return f"{text[: auxiliary.end()]} {'nicht' if german else 'not'}{text[auxiliary.end() :]}"
    opening = "Es trifft nicht zu, dass gilt:" if german else "It is not the case that"
    return f"{opening} {text}"


def invented_parameter(text: str, source: str, draw: int) -> str | None:
    """Add a parameter that does not exist."""
    name = _INVENTED[draw % len(_INVENTED)]
    if name in source:
        return None
    body, stop = (text[:-1], text[-1]) if text[-1:] in ".!;" else (text, "")
    return f"{body}, and `{name}` limits it to {17 + draw % 60}{stop}"


_PLANTERS: Mapping[Fault, Callable[[str, str, int], str | None]] = {
    Fault.NUMBER: another_number,
    Fault.IDENTIFIER: another_identifier,
    Fault.NEGATION: turned_round,
    Fault.PARAMETER: invented_parameter,
}
"""How each kind is planted in a claim's text, given the source it must not be found in and a draw; None: it cannot."""


def _of_another_corpus(
    result: QuestionResult, pool: Sequence[tuple[QuestionResult, Claim]], source: str, draw: int
) -> str | None:
    """A verified claim of another corpus that has something to look up which this source does not hold."""
    home = corpus_of(result)
    foreign = [
        claim.text
        for other, claim in pool
        if corpus_of(other) != home
        and claim.text not in source
        and any(not occurrences(found.text, source) for found in find_identifiers(claim.text))
    ]
    return foreign[draw % len(foreign)] if foreign else None


def summarise_probe(answers: Sequence[Answered]) -> ProbeReport:
    """Catch rates per kind and the false-alarm rate; a claim without a usable verdict is counted apart."""
    planted = [answer for answer in answers if answer.planted.fault is not None]
    return ProbeReport(
        caught={kind: _rate([a for a in planted if a.planted.fault is kind]) for kind in Fault},
        overall=_rate(planted),
        false_alarms=_rate([answer for answer in answers if answer.planted.fault is None]),
        answers=tuple(answers),
    )


def _rate(answers: Sequence[Answered]) -> Rate:
    decided = [answer.verdict for answer in answers if answer.verdict not in (None, Verdict.UNPARSED)]
    rejected = sum(verdict is not Verdict.VERIFIED for verdict in decided)
    return Rate(
        n=len(decided),
        rejected=rejected,
        contradicted=decided.count(Verdict.CONTRADICTED),
        failed=len(answers) - len(decided),
        bounds=wilson(rejected, len(decided)),
    )
