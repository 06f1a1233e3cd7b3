"""What an answer says of itself: nothing, a refusal, or specifics that can be checked."""

import re

from rag_audit.text.identifiers import find_identifiers
from rag_audit.text.sentences import split_sentences
from rag_audit.text.words import content_words

NO_ANSWER = "No answer found in the retrieved text."
"""What the offline generator says when no sentence fits."""

CITATION = re.compile(r"\s?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_REFUSAL = re.compile(
    r"""^\W*(?:
      no\ answer\ (?:was\ )?found | (?:i\ am|i'm|i’m)\ (?:sorry|afraid|unable|not\ able) | sorry\b
    | i\ (?:cannot|can't|can’t|could\ not|couldn't|do\ not|don't|don’t|am\ unable\ to|am\ not\ able\ to|won't|will\ not)
      \ (?:answer|help|assist|provide|determine|find|know|have|comply|fulfil|say|see|tell)
    | (?:the|this|these|those)\ (?:provided\ |given\ |retrieved\ |available\ )*
      (?:context|documents?|documentation|text|texts|excerpts?|passages?|sources?|information|material|chunks?)
      \ (?:does|do|did)\ ?(?:not|n't)\ (?:contain|mention|say|specify|provide|include|answer|state|cover|describe|give)
    | (?:there\ is|there's)\ (?:no|not\ enough|insufficient)\ (?:information|answer|mention|data|context)
    | (?:not\ enough|insufficient|no)\ (?:information|context|data)\b | unknown\W*$ | n/?a\W*$ | none\W*$
    | as\ an\ ai\b
    | keine\ antwort | (?:es\ )?tut\ mir\ leid | leider\b | entschuldigung
    | ich\ (?:kann|konnte|weiß)\ (?:\w+\ ){0,4}(?:nicht|keine?)\b
    | (?:der|die|das|den|in\ den|im)\ (?:\w+\ ){0,3}
      (?:kontext|text|unterlagen|dokumenten?|quellen?|auszügen?|informationen)
      \ (?:enthält|enthalten|nennt|nennen|sagt|sagen|gibt|geben|steht|stehen|beantworte[nt])
      \ (?:\w+\ ){0,4}(?:nicht|keine?\w*|nichts)
    | dazu\ (?:gibt|liegt|liegen)\ (?:\w+\ ){0,2}keine
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def without_citations(answer: str) -> str:
    """The answer without its marks such as [1] or [2, 3]."""
    return CITATION.sub("", answer)


def refusal_of(answer: str) -> str | None:
    """The words that make an answer a refusal or a statement that nothing was found; None where it answers."""
    sentences = split_sentences(without_citations(answer))
    if not sentences:
        return None
    match = _REFUSAL.match(sentences[0].text)
    if match is None or len(sentences) > 3:
        return None
    return sentences[0].text


def states_specifics(answer: str) -> tuple[str, ...]:
    """What in the answer could be checked: identifiers and numbers; empty for refusals and empty talk."""
    if refusal_of(answer):
        return ()
    plain = without_citations(answer)
    names = [identifier.text for identifier in find_identifiers(plain)]
    numbers = [plain[word.start : word.end] for word in content_words(plain) if word.stem[:1].isdigit()]
    return tuple(dict.fromkeys([*names, *numbers]))
