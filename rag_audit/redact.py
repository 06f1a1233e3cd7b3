"""Keys, tokens and what `redact:` names never reach a file: replaced before anything is hashed or stored (pure)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_audit.errors import ConfigError
from rag_audit.model import Claim, ClaimJudgment, Excerpt, Span

REDACTED = "‹redacted›"
_SECRET_NAMES = re.compile(r"(?i)(api_?key|auth_?token|access_?key|secret|password|_token)$")
_SHORTEST_SECRET = 6
_BUILT_IN = (
    (re.compile(r"(?i)\bbearer\s+(?=[^\s\"']*\d)([\w.~+/=-]{16,})"), ("earer", "EARER")),
    (re.compile(r"\b(sk-ant-[\w-]{8,})"), ("sk-ant-",)),
    (
        re.compile(r"(?i)\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+([^\s\"',}]{8,})"),
        ("uthorization", "UTHORIZATION"),
    ),
    (re.compile(r"(?i)\bx-api-key[\"']?\s*[:=]\s*[\"']?([^\s\"',}]{8,})"), ("-api-key", "-API-KEY", "-Api-Key")),
)
"""Pattern, whose group 1 is replaced, and the texts one of which must occur for it to match."""
Range = tuple[int, int]


class Redactor:
    """Replaces secrets in texts and records; knows the keys in an environment and the project's own patterns."""

    def __init__(self, environ: Mapping[str, str], patterns: Sequence[str] = ()) -> None:
        """ConfigError if a pattern of `redact:` is no regular expression."""
        named = {value.strip() for name, value in environ.items() if _SECRET_NAMES.search(name)}
        self._secrets = sorted((secret for secret in named if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True)
        self._patterns = [_compiled(pattern) for pattern in patterns]
        as_encoded = [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in self._secrets]
        self._needles = [
            needle.encode() for needle in (*as_encoded, *(hint for _, hints in _BUILT_IN for hint in hints))
        ]

    def may_touch(self, encoded: bytes) -> bool:
        """Whether encoded JSON may hold a secret: False spares looking at each of its texts."""
        return bool(self._patterns) or any(needle in encoded for needle in self._needles)

    def text(self, text: str) -> str:
        """The text without secrets."""
        return _replaced(text, self._ranges(text))

    def tree(self, value: Any) -> Any:
        """A parsed JSON value without secrets, in its keys too; the same object where there are none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(item) for item in value]
        return value

    def judgment(self, judgment: ClaimJudgment) -> ClaimJudgment:
        """A judgment whose evidence spans still mark the same words after its excerpt was redacted."""
        claims = tuple(replace(claim, evidence_spans=self._moved(claim, judgment.excerpt)) for claim in judgment.claims)
        return replace(judgment, claims=claims)

    def _moved(self, claim: Claim, excerpt: Excerpt) -> tuple[Span, ...]:
        return tuple(
            Span(span.part, _moved(span.start, ranges), _moved(span.end, ranges))
            for span in claim.evidence_spans
            for ranges in [self._excerpt_ranges(excerpt, span.part)]
        )

    def _excerpt_ranges(self, excerpt: Excerpt, part: str) -> list[Range]:
        """What is replaced in one part as it is rendered: passages are redacted one by one."""
        ranges: list[Range] = []
        start = 0
        for passage in excerpt.reference if part == "reference" else excerpt.context:
            ranges += [(start + low, start + high) for low, high in self._ranges(passage.text)]
            start += len(passage.text) + len("\n\n")
        return ranges

    def _ranges(self, text: str) -> list[Range]:
        """What to replace in a text: (start, end), ascending, without overlaps."""
        found: list[Range] = []
        for secret in self._secrets:
            at = text.find(secret)
            while at >= 0:
                found.append((at, at + len(secret)))
                at = text.find(secret, at + len(secret))
        for pattern, hints in _BUILT_IN:
            if any(hint in text for hint in hints):
                found += [match.span(1) for match in pattern.finditer(text)]
        for own in self._patterns:
            found += [match.span() for match in own.finditer(text) if match.end() > match.start()]
        return _merged(found)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"redact: {pattern!r} is no regular expression: {error}", "See the syntax of Python's re."
        ) from error


def _merged(ranges: list[Range]) -> list[Range]:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _replaced(text: str, ranges: list[Range]) -> str:
    if not ranges:
        return text
    pieces: list[str] = []
    kept = 0
    for low, high in ranges:
        pieces += [text[kept:low], REDACTED]
        kept = high
    return "".join([*pieces, text[kept:]])


def _moved(offset: int, ranges: list[Range]) -> int:
    """Where an offset of the text is after replacing; inside a replaced range, where its replacement begins."""
    shift = 0
    for low, high in ranges:
        if offset <= low:
            break
        if offset < high:
            return low + shift
        shift += len(REDACTED) - (high - low)
    return offset + shift
