"""Content words of English and German text: folded, without stop words, lightly stemmed, with their offsets."""

import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_WORDS = frozenset(files("rag_audit.text").joinpath("stop_words.txt").read_text("utf-8").split())


_SUFFIXES = (
    ("ization", "ize"), ("isation", "ize"), ("ising", "ize"), ("izing", "ize"), ("ised", "ize"), ("ized", "ize"),
    ("ement", ""), ("ment", ""), ("ation", ""), ("ating", ""), ("ated", ""), ("ate", ""), ("ungen", ""), ("ung", ""),
    ("lich", ""), ("ingly", ""), ("edly", ""), ("ing", ""), ("ion", ""), ("ied", "y"), ("ily", "y"), ("er", ""),
    ("ern", ""), ("en", ""), ("em", ""), ("ed", ""), ("ly", ""), ("al", ""), ("e", ""),
)  # fmt: skip


class Word(NamedTuple):
    """One content word: its stem and where it stands."""

    stem: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """Every token of the text, folded, stop words included; camelCase and snake_case are taken apart."""
    return [token.text for token in _tokens(text)]


def content_words(text: str) -> list[Word]:
    """The content words of the text in their order; numbers stay as they are (with a decimal point)."""
    return [
        Word(stem(token.text), token.start, token.end)
        for token in _tokens(text)
        if token.text not in STOP_WORDS and (len(token.text) > 1 or token.text.isdigit())
    ]


def content_stems(text: str) -> frozenset[str]:
    """The distinct stems of the content words."""
    return frozenset(word.stem for word in content_words(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light stem: one or two suffixes off while at least three letters stay; umlauts and ß folded."""
    if word[:1].isdigit():
        return word.replace(",", ".")
    folded = word.replace("ä", "a").replace("ö", "o").replace("ü", "u").replace("ß", "ss").replace("’", "'")
    folded = _singular(folded.removesuffix("'s"))
    for suffix, ending in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            folded = folded[: len(folded) - len(suffix)] + ending
            break
    if len(folded) > 3 and folded[-1] == "e" and folded[-2] != "e":
        folded = folded[:-1]
    return folded[:-1] if len(folded) > 3 and folded[-1] == folded[-2] and folded[-1] not in "aeious" else folded


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" else word


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        start = match.start()
        for piece in _HUMP.split(match.group()):
            if piece:
                tokens.append(_Token(piece.casefold() if piece.isascii() else piece.lower(), start, start + len(piece)))
                start += len(piece)
    return tokens
