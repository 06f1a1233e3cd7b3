"""Identifiers: what a reader could look up in a source, as against ordinary words.

A code span, snake_case, camelCase, a dotted or slashed name, a call, a file name, a flag, a number with its unit, an
upper-case code. Everything here works on offsets, so that each match can be marked where it stands.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

UNITS = (
    r"%|‰|°C|°F|°|ms|µs|μs|us|ns|sec(?:ond)?s?|s|min(?:ute)?s?|h(?:ours?)?|days?|weeks?|months?|years?"
    r"|Sekunden?|Minuten?|Stunden?|Tagen?|Tage?|Wochen?|Monaten?|Monate?|Jahren?|Jahre?|Millisekunden?"
    r"|milliseconds?|microseconds?|[kKMGT]i?B(?:it/s|/s|ps)?|[kMGT]?bit(?:/s)?|[kMG]?bps|bytes?|Bytes?|B|bits?"
    r"|[kMGTµm]?Hz|[kMGmµn]?V(?:AC|DC)?|[kMGmµ]?W(?:h)?|[kmµ]?A(?:h)?|[kM]?Ω|[kM]?Ohm|[pnµm]?F|[nµm]?H"
    r"|[kcmµn]?m(?:[²³23])?(?:/s[²2]?)?|km/h|mph|rpm|U/min|1/min|[kmµ]?g|t|lbs?|l|L|ml|m[lL]|[kMh]?Pa|m?bar|psi|N|kN|Nm|K|J|kJ"
    r"|dB[am]?|px|pt|dpi|fps|x|×|USD|EUR|€|\$|tokens?|Tokens?|messages?|replicas?|pods?|retries|attempts?|characters?|Zeichen"
)
NUMBER = r"[-+]?\d+(?:[.,']\d+)*(?:[eE][-+]?\d+)?"
_SUFFIXES = (
    r"md|rst|txt|py|pyi|ya?ml|jsonl?|toml|cfg|ini|conf|env|html?|s?css|js|tsx?|jsx|c|h|cc|cpp|hpp|rs|go|java|kt|cs|rb|php"
    r"|sh|bash|ps1|bat|sql|csv|tsv|xml|lock|log|pdf|docx?|xlsx?|png|jpe?g|svg|zip|gz|tar|exe|dll|so|bin|hex|ipynb|proto"
)
_CODE_SPAN = re.compile(r"``(?!`)(.+?)``(?!`)|`([^`\n]+)`")
_FENCED = re.compile(r"^[ \t>]*(```|~~~).*?^[ \t>]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("url", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s`<>\"')\]]+[^\s`<>\"')\].,;:!?]")),
    ("call", re.compile(r"\b[A-Za-z_][\w.]*(?:::\w+)*\((?:[\w\s,.=*'\"-]{0,40})\)")),
    ("flag", re.compile(r"(?<![\w-])--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*(?![\w])")),
    ("version", re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+[\w.+-]*\b|(?<![\w.])v\d+(?:\.\d+)*\b")),
    ("hex", re.compile(r"\b0[xX][0-9A-Fa-f]+\b|(?<!\w)\$[0-9A-Fa-f]{2,8}\b")),
    ("number", re.compile(rf"(?<![\w.,-]){NUMBER}\s?(?:{UNITS})(?![\w])")),
    ("file", re.compile(rf"(?<![\w/.])[\w-]+(?:\.[\w-]+)*\.(?:{_SUFFIXES})(?!\w)(?!\.\w)")),
    (
        "slashed",
        re.compile(r"(?<![\w/.])(?:[.~]{0,2}/)?[\w.-]*[A-Za-z_][\w.-]*(?:/[\w.*{}-]*[\w*}])+|(?<![\w/.])/[\w.-]*\w"),
    ),
    ("dotted", re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w(])")),
    ("scoped", re.compile(r"\b\w+(?:::\w+)+")),
    ("snake", re.compile(r"(?<![\w])_*[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+_*(?!\w)|(?<!\w)__?[a-z]\w*(?!\w)")),
    (
        "camel",
        re.compile(
            r"\b[a-zß-ÿ]+[0-9]*(?:[A-ZÄÖÜ][a-z0-9ß-ÿ]*)+\b|\b(?:[A-ZÄÖÜ][a-z0-9ß-ÿ]+){2,}\b|\b[A-Z]{2,}[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]+\w*\b"
        ),
    ),
    (
        "code",
        re.compile(
            r"\b(?=[A-Z0-9_.-]*[A-Z])[A-Z][A-Z0-9]*(?:[-.][A-Z0-9]+)*\d[A-Z0-9]*(?:[-.][A-Z0-9]+)*\b|\b[A-Z]{2,}(?:[-_][A-Z0-9]+)*s?\b|\b\d+[A-Z]+\d+\w*\b"
        ),
    ),
)
_DOTTED_ABBREVIATIONS = frozenset({"e.g", "i.e", "z.b", "d.h", "u.a", "o.ä", "s.o", "s.u", "a.k.a"})
_SLASHED_WORDS = re.compile(r"[a-zäöüß-]+/[a-zäöüß-]+", re.IGNORECASE)
_FOLDERS = frozenset(
    {
        "src",
        "docs",
        "doc",
        "lib",
        "bin",
        "etc",
        "usr",
        "var",
        "tmp",
        "opt",
        "home",
        "test",
        "tests",
        "app",
        "api",
        "config",
    }
    | {"scripts", "include", "data", "documents", "history", "cmd", "pkg", "internal", "static", "templates", "tools"}
)
_SPACE = re.compile(r"\s+")
_ENDLESS = re.compile(r"[\w./:*{}'+,~-]{400,}")
"""A run of characters too long to be a name; the patterns would need quadratic time to find that out."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier: as it stands, where, and what makes it one."""

    text: str
    """Without back-ticks."""
    start: int
    """Offset of `text` in the source text."""
    end: int
    kind: str
    """span | url | call | flag | version | hex | number | file | slashed | dotted | scoped | snake | camel | code."""


def find_identifiers(text: str) -> list[Identifier]:
    """Every identifier of the text in its order; none overlaps another, the outermost reading wins."""
    taken, fenced = bytearray(len(text)), bytearray(len(text))
    found: list[Identifier] = []
    for match in _FENCED.finditer(text):
        _take(match, fenced)
    for match in _CODE_SPAN.finditer(text):
        group = 1 if match.group(1) is not None else 2
        if _overlaps(match, fenced):
            continue
        low, high = _trimmed(text, *match.span(group))
        if low < high:
            _take(match, taken)
            found.append(Identifier(text[low:high], low, high, "span"))
    short = _ENDLESS.sub(lambda run: " " * len(run.group()), text)
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(short):
            if _overlaps(match, taken) or _ordinary(kind, match.group()):
                continue
            _take(match, taken)
            found.append(Identifier(match.group(), match.start(), match.end(), kind))
    return sorted(found, key=lambda identifier: identifier.start)


def identifier_key(text: str) -> str:
    """The form identifiers are compared in: numbers without the space before the unit, calls without arguments."""
    key = _SPACE.sub(" ", text.strip().strip("`\"'"))
    number = re.fullmatch(rf"({NUMBER})\s?({UNITS})", key)
    if number:
        return f"{number.group(1).replace(',', '.').replace(chr(39), '')}{number.group(2)}"
    call = re.fullmatch(r"([\w.:]+)\(.*\)", key)
    return call.group(1) if call else key


def occurrences(identifier: str, text: str) -> list[tuple[int, int]]:
    """Where an identifier stands in a text as a whole token (12 ms = 12ms; a call without its arguments)."""
    return [match.span() for match in _token_pattern(identifier_key(identifier)).finditer(text)]


def found_in(identifiers: Iterable[str], text: str) -> tuple[str, ...]:
    """Those of the identifiers that occur in the text, each once, in their order."""
    return tuple(dict.fromkeys(name for name in identifiers if occurrences(name, text)))


def _token_pattern(key: str) -> re.Pattern[str]:
    number = re.fullmatch(rf"({NUMBER})({UNITS})", key)
    if number:
        digits = re.escape(number.group(1)).replace(r"\.", "[.,]")
        return re.compile(rf"(?<![\w.,]){digits}[\s*_`-]{{0,3}}{re.escape(number.group(2))}(?!\w)")
    body = r"\s+".join(re.escape(part) for part in key.split(" "))
    left = r"(?<!\w)(?<!\w[.-])" if key[:1].isalnum() or key[:1] == "_" else ""
    right = r"(?!\w)(?!-\w)" if key[-1:].isalnum() or key[-1:] == "_" else ""
    return re.compile(f"{left}{body}{right}")


def _trimmed(text: str, low: int, high: int) -> tuple[int, int]:
    inner = text[low:high]
    return low + len(inner) - len(inner.lstrip()), high - (len(inner) - len(inner.rstrip()))


def _take(match: re.Match[str], places: bytearray) -> None:
    places[match.start() : match.end()] = b"\1" * (match.end() - match.start())


def _overlaps(match: re.Match[str], places: bytearray) -> bool:
    return any(places[match.start() : match.end()])


def _ordinary(kind: str, text: str) -> bool:
    """Words that only look like names: abbreviations with dots, `and/or`, a sentence's dash."""
    folded = text.casefold().rstrip(".")
    if folded in _DOTTED_ABBREVIATIONS:
        return True
    if kind == "slashed" and _SLASHED_WORDS.fullmatch(folded):
        return not _FOLDERS.intersection(folded.split("/"))
    return kind == "flag" and len(text.lstrip("-")) == 1 and text[:2] != "--" and not text[1:].isalpha()
