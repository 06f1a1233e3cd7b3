"""Facts that technical documents state in set forms: defaults, closed lists of values, required or optional."""

import re
from dataclasses import dataclass

from rag_audit.judging.lexical.units import Unit, cells_of

_NUMBER = r"[-+]?\d+(?:[.,]\d+)*\s?(?:[A-Za-z%°µ]{1,12}(?![\w]))?"
_MARKED = rf"`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'|{_NUMBER}|[A-Z][A-Z0-9]*_[A-Z0-9_]+"
"""A value that is marked as one: code, quoted, a number, a constant."""
_DEFAULT = re.compile(
    rf"(?:\bdefault(?:s|ing)?(?:\s+(?:value|setting))?|\bStandard(?:wert)?|\bVoreinstellung|\bVorgabe(?:wert)?)"
    rf"(?:\s+(?:`[^`\n]+`|for [\w`. ]{{1,40}}?))?"
    rf"(?:\s*(?:[:=]|\bis\b|\bare\b|\bto\b|\bof\b|\bist\b|\blautet\b|\bbeträgt\b)\s*"
    rf"(?P<value>{_MARKED}|[\w./-]*\w)|\s+(?P<bare>{_MARKED}))",
    re.IGNORECASE,
)
_DEFAULT_MARK = re.compile(
    r"(?P<value>`[^`\n]+`|[\w./-]*\w)\s*\((?:the )?(?:default|Standard)(?:[ ,][^)]*)?\)", re.IGNORECASE
)
_PARENTHESIS = re.compile(
    r"by default,? (?:it['’]?s|it is|this is|the value is)\s*(?P<value>[^.;]{1,40})", re.IGNORECASE
)
_LIST = re.compile(
    r"(?:\b(?:allowed |accepted |supported |possible |valid |available |mögliche |erlaubte )?"
    r"(?:values?|options?|modes?|types?|choices|Werte)\b[^:\n.]{0,40}:"
    r"|\b(?:values?|options?|types?|choices) are\b|\b(?:one of|either|entweder)\b|\bcan be\b|\bmay be\b|\ballowed:)"
    r"\s*(?P<list>(?:\(?(?:`[^`\n]+`|\"[^\"\n]+\")\)?(?:\s*\([^)\n]*\))?\s*(?:,|\bor\b|\band\b|\boder\b|\bund\b|/|\|)*\s*)+)",
    re.IGNORECASE,
)
_BARS = re.compile(r"[:=]\s*(?P<list>[\w.-]+(?:\s*\|\s*[\w.-]+)+)")
_ITEM = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"")
_REQUIRED = re.compile(
    r"\b(?:Required|Mandatory|Erforderlich|Pflicht(?:feld|angabe)?)\b(?! (?:if|when|for|wenn))", re.IGNORECASE
)
_OPTIONAL = re.compile(r"\bOptional\b", re.IGNORECASE)
_NOT_REQUIRED = re.compile(r"\b(?:not|nicht)\s+(?:required|mandatory|erforderlich)\b", re.IGNORECASE)
_NO_VALUE = frozenset(
    {"value", "values", "is", "the", "a", "an", "this", "it", "and", "or", "behavior", "behaviour", "for"}
)
_DENIAL = re.compile(
    r"^\W*(?:(?:this is |it is |currently )?not (?:yet )?(?:supported|available|implemented|applicable)(?: yet)?"
    r"|none|n/a|nicht (?:unterstützt|verfügbar)|keine)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What one unit states in a set form."""

    defaults: tuple[str, ...] = ()
    """The default as written, with other forms of it (5 minutes, 300 seconds)."""
    values: tuple[str, ...] = ()
    """The closed list of values."""
    requirement: str = ""
    """required | optional | nothing said."""


def facts_of(unit: Unit) -> Facts:
    """Read the facts of one unit."""
    return Facts(_defaults(unit), _values(unit), _requirement(unit))


def denies(unit: Unit) -> bool:
    """Whether the unit says of its heading's topic that there is no such thing (`Not supported yet.`)."""
    return bool(unit.heading) and bool(_DENIAL.match(unit.text))


def bare(value: str) -> str:
    """A value without quotes, back-ticks and final punctuation."""
    return value.strip().strip("`\"'").strip().rstrip(".,;")


def _defaults(unit: Unit) -> tuple[str, ...]:
    found: list[str] = []
    for at, name in enumerate(unit.header):
        cells = cells_of(unit.text)
        if re.search(r"default|standard|voreinstellung|vorgabe", name, re.IGNORECASE) and at < len(cells):
            found.append(cells[at])
    for match in _PARENTHESIS.finditer(unit.text):
        found.extend(part for part in re.split(r"[()]", match["value"]) if part.strip())
    for pattern in (_DEFAULT_MARK, _DEFAULT):
        for match in pattern.finditer(unit.text):
            value = match["value"] or match.groupdict().get("bare") or ""
            if bare(value).lower() not in _NO_VALUE and not re.match(r"\w+ing\b", value):
                found.append(value)
    return tuple(dict.fromkeys(bare(value) for value in found if bare(value)))


def _values(unit: Unit) -> tuple[str, ...]:
    found: list[str] = []
    for match in _LIST.finditer(unit.text):
        items = [one or other for one, other in _ITEM.findall(match["list"])]
        if len(items) > 1:
            found.extend(items)
    if unit.kind in ("code", "row") or not found:
        for match in _BARS.finditer(unit.text):
            found.extend(part.strip() for part in match["list"].split("|"))
    return tuple(dict.fromkeys(found))


def _requirement(unit: Unit) -> str:
    text = unit.whole if unit.kind == "code" else unit.text
    if _NOT_REQUIRED.search(text):
        return "optional"
    required, optional = bool(_REQUIRED.search(text)), bool(_OPTIONAL.search(text))
    if required == optional:
        return ""
    return "required" if required else "optional"
