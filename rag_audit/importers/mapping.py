"""The mapping of a table or of JSON lines of one's own: `--map FIELD=COLUMN`, dots are paths into nested objects."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from rag_audit.errors import UsageError
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.record import MetricKind
from rag_audit.importers.values import VERDICT_WORDS, number_of
from rag_audit.metrics import METRICS
from rag_audit.model import Direction, Verdict

FIELDS: Mapping[str, str] = {
    "question": "the question's text (required)",
    "answer": "the answer that was judged",
    "reference": "the reference answer",
    "id": "the question's id (else a hash of its text)",
    "repeat": "which repeat of the same question this is, from 1",
    "doc_id": "the document that answers the question",
    "keywords": "a list of keywords, or a text with commas",
    "error": "the error the system or the judge recorded",
    "contexts": "the retrieved texts: a list, or one text",
    "contexts.separator": "what separates the texts where they are one text",
    "contexts.text": "inside a retrieved object: its text",
    "contexts.doc_id": "inside a retrieved object: its document",
    "contexts.score": "inside a retrieved object: its score",
    "scores.NAME": "a metric; our own names (faithfulness, mrr, ...) mean our metrics",
    "scores.NAME.direction": "up | down | none: which way the metric gets better",
    "scores.NAME.range": "LOW..HIGH: the range of the metric",
    "claims": "the list of claims",
    "claims.text": "inside a claim: its text",
    "claims.verdict": "inside a claim: the verdict word",
    "claims.evidence": "inside a claim: the quote",
    "claims.verdicts.WORD": "verified | contradicted | absent: what a verdict word stands for",
    "rows": "where in a JSON document the list of questions is",
}
"""Every field of `--map` and what it takes."""

_ALIASES = {
    "reference_answer": "reference",
    "ground_truth": "reference",
    "context": "contexts",
    "contexts.doc": "contexts.doc_id",
    "claims.label": "claims.verdict",
}
_PREFIX_ALIASES = {
    "score.": "scores.",
    "metric.": "scores.",
    "metrics.": "scores.",
    "claims.verdict.": "claims.verdicts.",
    "verdicts.": "claims.verdicts.",
    "verdict.": "claims.verdicts.",
}
_SIMPLE = frozenset(name for name in FIELDS if not re.search("[A-Z]", name))
_LITERAL = frozenset({"contexts.separator", "rows"})
"""Fields whose value is no column of the file."""
_INSIDE = {
    "contexts.text": "contexts",
    "contexts.doc_id": "contexts",
    "contexts.score": "contexts",
    "claims.text": "claims",
    "claims.verdict": "claims",
    "claims.evidence": "claims",
}
"""Fields that are looked up inside a member of a list."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Where each field of a row is found in an entry."""

    paths: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    """Metric to path."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Verdict words beside our own, in lower case."""
    directions: Mapping[str, Direction] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """Field to the path that every file of this mapping must have."""
        columns = {name: path for name, path in self.paths.items() if name not in _LITERAL and name not in _INSIDE}
        return {**columns, **{f"scores.{name}": path for name, path in self.scores.items()}}

    @property
    def words(self) -> dict[str, Verdict]:
        """Every verdict word that is understood."""
        return {**VERDICT_WORDS, **self.verdicts}

    def kind(self, metric: str) -> MetricKind:
        """Range and direction of a mapped metric: as the mapping says, else as its name is known."""
        range_, direction = known_kind(metric)
        return self.ranges.get(metric, range_), self.directions.get(metric, direction)

    def as_options(self) -> str:
        """The command line options that give this mapping."""
        pairs = [*self.paths.items(), *((f"scores.{name}", path) for name, path in self.scores.items())]
        return " ".join(f"--map {shlex.quote(f'{name}={path}')}" for name, path in pairs)


def parse_field_map(options: Iterable[str]) -> FieldMap | None:
    """Read the values of `--map`; None without any, a UsageError for a field that does not exist."""
    paths: dict[str, str] = {}
    scores: dict[str, str] = {}
    verdicts: dict[str, Verdict] = {}
    directions: dict[str, Direction] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for option in options:
        name, mark, value = option.partition("=")
        name = _field_name(name.strip())
        if not mark or not name or not value:
            raise UsageError(f"--map {option} is not FIELD=COLUMN", "For example --map question=Frage.")
        metric, _, aspect = name.removeprefix("scores.").rpartition(".")
        if name in _SIMPLE:
            paths[name] = _separator(value) if name == "contexts.separator" else value
        elif name.startswith("scores.") and aspect == "direction" and metric:
            directions[metric] = _one_of(Direction, value, option)
        elif name.startswith("scores.") and aspect == "range" and metric:
            ranges[metric] = _range(value, option)
        elif name.startswith("scores.") and name != "scores.":
            scores[name.removeprefix("scores.")] = value
        elif name.startswith("claims.verdicts.") and name != "claims.verdicts.":
            verdicts[name.removeprefix("claims.verdicts.").strip().lower()] = _one_of(Verdict, value, option)
        elif name in METRICS:
            scores[name] = value
        else:
            raise _unknown_field(name, value)
    found = FieldMap(paths, scores, verdicts, directions, ranges)
    if not (paths or scores):
        return None
    if "question" not in paths:
        raise UsageError("the mapping names no question", "Add --map question=COLUMN.")
    return found


def _field_name(said: str) -> str:
    """The field that a name or one of its other spellings means."""
    prefix = next((prefix for prefix in _PREFIX_ALIASES if said.startswith(prefix)), None)
    if prefix is not None:
        return _PREFIX_ALIASES[prefix] + said.removeprefix(prefix)
    return _ALIASES.get(said, said)


def _unknown_field(name: str, value: str) -> UsageError:
    near = get_close_matches(name, _SIMPLE, 1)
    hint = (
        f"Did you mean {near[0]}?" if near else f"A metric is --map scores.{name}={value}; `import --help` lists all."
    )
    return UsageError(f"--map knows no field {name}", hint)


def _one_of(kind: Any, word: str, option: str) -> Any:
    try:
        return kind(word.strip().lower())
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        raise UsageError(f"--map {option}: {word} is none of {choices}", "Choose one of them.") from None


def _range(text: str, option: str) -> tuple[float, float]:
    low, high = (number_of(end) for end in [*text.split(".."), "", ""][:2])
    if low is None or high is None or low >= high:
        raise UsageError(f"--map {option} is not LOW..HIGH", "For example --map scores.quality.range=0..10.")
    return low, high


def _separator(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


def look_up(values: Any, path: str) -> Any:
    """The value at a path (`out.text`, `items.0.text`); None where there is none. Names may themselves hold dots."""
    if isinstance(values, Mapping) and path in values:
        return values[path]
    head, dot, rest = path.partition(".")
    if not dot:
        return _member(values, path)
    for name, remainder in _prefixes(head, rest):
        inner = _member(values, name)
        if inner is not None:
            return look_up(inner, remainder)
    return None


def _prefixes(head: str, rest: str) -> Iterator[tuple[str, str]]:
    """Every way to cut a path in two: a name may itself hold dots."""
    yield head, rest
    while "." in rest:
        part, _, rest = rest.partition(".")
        head = f"{head}.{part}"
        yield head, rest


def _member(values: Any, name: str) -> Any:
    if isinstance(values, Mapping):
        return values.get(name)
    if isinstance(values, list) and name.isdecimal() and int(name[:9]) < len(values):
        return values[int(name[:9])]
    return None


def has_path(values: Any, path: str) -> bool:
    """Whether an entry has a place for the path, even if it is null there."""
    if isinstance(values, Mapping) and path in values:
        return True
    head, dot, rest = path.partition(".")
    if not dot:
        return _member(values, path) is not None
    return any(has_path(_member(values, name), remainder) for name, remainder in _prefixes(head, rest))
