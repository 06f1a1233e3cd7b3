"""Numbers with their units as they compare: 5 minutes is 300 seconds, 3.000 may be 3000, `or higher` is a bound."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text: its possible readings (3.000 is 3 or 3000), what it measures, and whether it is a bound.

    A dotted version has no reading: it equals only the same text.
    """

    readings: frozenset[float]
    dimension: str
    """time (in seconds), count (whole, without a unit), decimal (as a version, without a unit), or the unit itself."""
    text: str
    start: int
    bound: str = ""
    """low (at least), high (at most) or nothing."""


NUMBER_WORDS = {
    "zero": 0, "single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "hundred": 100, "thousand": 1000, "null": 0, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
    "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "fünfzehn": 15,
    "zwanzig": 20, "dreißig": 30, "hundert": 100, "tausend": 1000,
}  # fmt: skip
_SECONDS = {
    "ns": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "microsecond": 1e-6, "ms": 1e-3, "millisecond": 1e-3,
    "millisekunde": 1e-3, "s": 1, "sec": 1, "second": 1, "sekunde": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
    "stunde": 3600, "day": 86400, "tag": 86400, "week": 604800, "woche": 604800, "month": 2629800, "monat": 2629800,
    "year": 31557600, "jahr": 31557600, "d": 86400,
}  # fmt: skip
_MEASURES = frozenset(
    {"%", "°c", "°f", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "byte", "bytes", "bit", "bits", "hz", "khz", "mhz"}
    | {
        "ghz",
        "v",
        "mv",
        "kv",
        "w",
        "kw",
        "mw",
        "a",
        "ma",
        "mm",
        "cm",
        "m",
        "km",
        "kg",
        "g",
        "bar",
        "mbar",
        "kpa",
        "hpa",
    }
    | {"mpa", "pa", "nm", "rpm", "u/min", "1/min", "km/h", "px", "dpi", "usd", "eur", "€", "$", "percent", "prozent"}
    | {"k", "ohm", "kohm", "l", "ml"}
)
_QUANTITY = re.compile(
    r"(?:(?<![\w.,])|(?<=[A-Z]{2})(?=\d+\.\d))(?P<number>[-+−]?\d+(?:[.,]\d+)*)(?:\s?(?P<unit>%|°[CF]|€|\$|U/min|1/min|km/h|[A-Za-zµμΩ]{1,12})(?![\w]))?"
    rf"|\b(?P<word>{'|'.join(NUMBER_WORDS)})\b(?:\s(?P<word_unit>[a-z]{{1,12}})\b)?"
    r"|\b(?P<single>an?|one|eine[rn]?)\s(?P<single_unit>second|minute|hour|day|week|month|year|Sekunde|Minute|Stunde)\b"
    r"|\b(?P<exactly>(?:exactly|only|just) one)\b",
    re.IGNORECASE,
)
_LOW_AFTER = re.compile(r"\W*(?:\w+\W+)?or (?:higher|more|above|greater|newer|later|over)|^\W*(?:oder mehr|und mehr)")
_HIGH_AFTER = re.compile(r"\W*(?:\w+\W+)?or (?:lower|less|below|fewer|older|earlier)|^\W*oder weniger")
_LOW_BEFORE = re.compile(
    r"(?:at least|more than|minimum of|no less than|from|above|over|≥|>=?|mindestens|mehr als|ab)\s*[`'\"]?$",
    re.IGNORECASE,
)
_HIGH_BEFORE = re.compile(
    r"(?:at most|up to|less than|maximum of|no more than|below|under|≤|<=?|höchstens|maximal|bis zu|weniger als)"
    r"\s*[`'\"]?$",
    re.IGNORECASE,
)


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text that are not part of a name; number words count, `one` does not."""
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        word = match["word"]
        unit = (match["unit"] or match["word_unit"] or match["single_unit"] or "").lower()
        base = unit if unit in _SECONDS or unit in _MEASURES else re.sub(r"(?:en|s|n|e)$", "", unit)
        readings = _readings(match["number"] or str(NUMBER_WORDS[word.lower()] if word else 1))
        decimal = bool(match["number"]) and not match["number"].lstrip("+-−").isdigit()
        dimension = "decimal" if decimal else "count"
        if base in _SECONDS or unit.rstrip("s") in _SECONDS:
            factor = _SECONDS.get(base) or _SECONDS[unit.rstrip("s")]
            readings = frozenset(round(value * factor, 12) for value in readings)
            dimension = "time"
        elif unit in _MEASURES:
            dimension = unit
        after = text[match.end("number") if match["number"] else match.end() :][:24]
        before = text[max(match.start() - 16, 0) : match.start()]
        shown = match.group().strip() if dimension not in ("count", "decimal") else match["number"] or word or ""
        found.append(Quantity(readings, dimension, shown, match.start(), _bound(before, after)))
    return found


def _bound(before: str, after: str) -> str:
    if _LOW_AFTER.match(after) or _LOW_BEFORE.search(before):
        return "low"
    return "high" if _HIGH_AFTER.match(after) or _HIGH_BEFORE.search(before) else ""


def _readings(number: str) -> frozenset[float]:
    number = number.replace("−", "-")
    values = {number.replace(",", ".")} if number.count(",") + number.count(".") <= 1 else set()
    if re.fullmatch(r"[-+]?\d{1,3}(?:[.,]\d{3})+", number):
        values.add(re.sub(r"[.,]", "", number))
    return frozenset(float(value) for value in values)


def satisfies(claimed: Quantity, stated: Quantity) -> bool:
    """Whether a claimed value is the stated one, or (being no bound itself) lies within the stated bound."""
    if claimed.readings & stated.readings or claimed.text == stated.text:
        return True
    if claimed.bound or not stated.bound or not claimed.readings or not stated.readings:
        return False
    value, limit = min(claimed.readings), min(stated.readings)
    return value >= limit if stated.bound == "low" else value <= limit
