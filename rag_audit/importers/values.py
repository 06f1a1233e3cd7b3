"""Reading single values of files that nobody checked: numbers, texts, verdict words, names of metrics."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from rag_audit.model import Verdict

_MISSING_WORDS = frozenset({"", "nan", "none", "null", "n/a", "na", "<na>", "#n/a", "nat", "-", "–"})
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d{1,400}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,5})?", re.ASCII)
_BOOLEANS = {"true": 1.0, "false": 0.0}
_SURROGATE = re.compile("[\ud800-\udfff]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"\W+|_+")
_CONTAINER = re.compile(r"(scores?|metrics?|evaluation)\.")

VERDICT_WORDS: Mapping[str, Verdict] = {
    "verified": Verdict.VERIFIED,
    "contradicted": Verdict.CONTRADICTED,
    "absent": Verdict.ABSENT,
}


def clean(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, by the replacement character."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def clean_tree(value: Any) -> Any:
    """Clean every text of a parsed JSON value."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_tree(member) for member in value]
    if isinstance(value, dict):
        return {clean_tree(key): clean_tree(member) for key, member in value.items()}
    return value


def is_blank(value: Any) -> bool:
    """Whether a cell says nothing: empty, null, or a word that spreadsheets and pandas write for it."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, str):
        word = value.strip()
        return word.lower() in _MISSING_WORDS or _INFINITE.fullmatch(word) is not None
    return value is None


def number_of(value: Any) -> float | None:
    """Read a finite number: numbers, booleans (1 or 0), and texts of them, also with a decimal comma; else None."""
    if isinstance(value, str):
        word = value.strip()
        if word.lower() in _BOOLEANS:
            return _BOOLEANS[word.lower()]
        if _NUMBER.fullmatch(word) is None:
            return None
        value = float(word.replace(",", "."))
    if not isinstance(value, bool | int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def missing_reason(value: Any) -> str:
    """Why a value that is no number gives no score: there is none, or it cannot be read."""
    return "no_score" if is_blank(value) else "unparsed"


def count_of(value: Any) -> int | None:
    """A whole number from 0 up; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def repeat_of(value: Any) -> int | None:
    """The number of a repeat or epoch, from 1, also as a text; None where it is none."""
    number = None if isinstance(value, bool) else number_of(value)
    return int(number) if number is not None and number.is_integer() and 1 <= number < 2**31 else None


def text_of(value: Any) -> str | None:
    """A text as it stands; numbers and structures as JSON; None where there is nothing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return json_text(value)


def json_text(value: Any) -> str:
    """A parsed value as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def name_of(value: Any) -> str | None:
    """A name or id: a stripped, non-empty text; numbers as they are written."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    return None if is_blank(text) else text


def list_of(value: Any) -> list[Any]:
    """The value if it is a list, else nothing."""
    return value if isinstance(value, list) else []


def map_of(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else nothing."""
    return value if isinstance(value, dict) else {}


def maps_of(value: Any) -> list[dict[str, Any]]:
    """The JSON objects of a list; anything else in it is left out."""
    return [member for member in list_of(value) if isinstance(member, dict)]


def verdict_of(word: Any, words: Mapping[str, Verdict] = VERDICT_WORDS) -> Verdict:
    """The verdict a word stands for, whatever its case; an unknown word is unparsed, never a guess.

    Booleans and numbers are words as JSON writes them, for mappings that say what `true` or `1` means.
    """
    said = word if isinstance(word, str) else json_text(word)
    return words.get(said.strip().lower(), Verdict.UNPARSED)


def snake_name(name: str) -> str:
    """A tool's metric name in snake case: `Answer Relevancy` becomes `answer_relevancy`."""
    words = _NOT_WORD.split(_CAMEL.sub("_", name.strip()))
    return "_".join(word for word in words if word).lower() or "unnamed"


def metric_names(tool: str, names: Iterable[str]) -> dict[str, str]:
    """Give every name of a tool's metrics its own `<tool>.<snake_name>`, numbering those that would collide.

    The name of an object that only holds scores (`scores.faithfulness`) is no part of a metric's name.
    """
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        bare = name[found.end() :] if (found := _CONTAINER.match(name)) else name
        base = f"{tool}.{snake_name(bare.removeprefix(f'{tool}.'))}"
        unique, number = base, 2
        while unique in taken:
            unique, number = f"{base}_{number}", number + 1
        taken.add(unique)
        given[name] = unique
    return given


def utc_time(value: Any) -> str | None:
    """A moment as ISO-8601 UTC, from seconds since 1970 or a text; None where it is neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        elif isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
