"""The words that BM25 counts: identifiers whole and in parts, numbers with their units, folded umlauts, light stems."""

import re
import unicodedata
from functools import lru_cache

_RUN = re.compile(r"\d+(?:[.,]\d+)*(?=[^\W\d_]*\b)|[^\W]+(?:[.\-/:][^\W]+)*")
_PART = re.compile(r"[^\W_]+")
_CAMEL = re.compile(
    r"(?<=[a-zß-öø-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zß-ÿ])|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_QUANTITY = re.compile(
    r"(?<!\d)(?<!\d[.,])(?P<number>\d+(?:[.,]\d+)*)[\s\u00a0\u202f]?(?P<unit>"
    r"%|°C|°F|[µumn]?s|min|h|k?Hz|[MG]Hz|[mkµu]?V|[mkµu]?A|k?Ω|[kM]?W|rpm|U/min|1/min|bar|[hk]?Pa|Nm"
    r"|[kmµ]?g|[kcmµ]?m|[KMGT]i?B|bytes?|[km]?bits?|K)(?![^\W_])"
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "o", "œ": "oe"})


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_STOP_WORDS = {
    "en": _words(
        "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may",
        "me my not of on or our shall should so such than that the their them then there these they this those to was",
        "we were what when where which who why will with would you your",
    ),
    "de": _words(
        "aber als am an auch auf aus bei bis da das dass dem den der des die dies diese dieser dieses doch ein eine",
        "einem einen einer eines er es fuer hat ich ihr im in ist ja kann man mit muss nach nicht noch nur ob oder",
        "sich sie sind so ueber um und uns vom von vor war was welche welcher welches wenn wer werden wie wird wo zu",
        "zum zur",
    ),
}


def terms_of(text: str, language: str = "en") -> list[str]:
    """The terms of a text in their order; `language` (en | de | none) decides on stop words and stems."""
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    terms = [term for run in _RUN.findall(normal) for term in _terms_of_run(run, language)]
    terms += [
        f"{quantity['number'].replace(',', '.')}{_fold(quantity['unit'])}" for quantity in _QUANTITY.finditer(normal)
    ]
    return terms


@lru_cache(maxsize=100_000)
def _terms_of_run(run: str, language: str) -> tuple[str, ...]:
    """A word, number or identifier: whole, then in parts."""
    if _NUMBER.fullmatch(run):
        return (run.replace(",", "."),)
    whole = _fold(run)
    parts = [piece for part in _PART.findall(run) for piece in _CAMEL.split(part)]
    folded = [whole] if len(parts) == 1 else [whole, *(part for part in map(_fold, parts) if part != whole)]
    stop_words = _STOP_WORDS.get(language, frozenset())
    return tuple(_stem(term, language) if term.isalpha() else term for term in folded if term not in stop_words)


def _fold(word: str) -> str:
    """Lower case; umlauts as two letters, other accents dropped."""
    folded = word.casefold().translate(_UMLAUTS)
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFD", folded)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def _stem(word: str, language: str) -> str:
    """A light stem: English plurals (Harman's s-stemmer), German endings of longer words."""
    if language == "en":
        if len(word) > 4 and word.endswith("ies") and word[-4] not in "ae":
            return word[:-3] + "y"
        if len(word) > 4 and word.endswith("es") and word[-3] not in "aeo":
            return word[:-1]
        if len(word) > 3 and word.endswith("s") and word[-2] not in "us":
            return word[:-1]
    elif language == "de" and len(word) > 5:
        for ending in ("ern", "em", "en", "er", "es", "e", "n", "s"):
            if word.endswith(ending):
                return word[: -len(ending)]
    return word
