"""Recognising a question that compares whole systems, in several languages.

Words that questions about one document hold as well do not count: "different", "compared against the threshold",
"pressure difference", "both fields", "unterschiedlich". What remains is a request to compare, or a noun or verb with
what it relates.
"""

import re

_THINGS = "versions|generations|releases|editions|systems|units|products|models|manuals|documents|corpora|variants"
_SACHEN = "versionen|generationen|ausgaben|systemen?|geräten?|steuergeräten?|einheiten|baureihen|varianten|handbüchern?"

COMPARISON = re.compile(
    "|".join(
        (
            # English
            r"(?:^|[.;:!?,]\s*|\bplease )compare\b|\bcompares? (?:to|with)\b|\bcompare\?",
            r"\bcomparison (?:of|between)\b",
            r"\bcompared (?:to|with) (?:the )?(?:other|old(?:er)?|new(?:er)?|previous|former|earlier|later)\b",
            r"(?:^|\b(?:what|which|the|any|are|is|main|key|important) )differences? (?:between|from|in|to)\b",
            r"\bdiffers?\b|\bversus\b|\bvs\b|\bin contrast to\b|\bas opposed to\b",
            r"\bwhat (?:has )?changed (?:between|from|since)\b",
            rf"\b(?:both|(?:the )?two|across|between)(?: of)?(?: the)?(?: two)? (?:{_THINGS})\b",
            rf"\beach of the (?:{_THINGS})\b",
            # German
            r"\bvergleiche\b|\bim vergleich (?:zu|mit|zwischen)|\bvergleich (?:zwischen|von|der|mit)\b",
            r"\bim gegensatz zu",
            r"\bunterschiede? (?:zwischen|zu|gibt|bestehen)\b|\bunterscheide[nt]\b",
            r"\bgegenüber (?:der|dem|den) (?:alten|neuen|älteren|neueren|vorherigen|früheren|anderen|vorgänger)",
            rf"\bbeiden? (?:{_SACHEN})\b",
            # French, Spanish, Portuguese, Italian, Dutch
            r"\bdifférences? entre\b|\bcompare[rz]\b|\bcomparaison\b|\bdiffèrent?\b|\ben quoi diffère",
            r"\bdiferencias? entre\b|\bcompar(?:ar?|ación)\b|\bdifieren?\b|\bdiferenças? entre\b|\bcomparação\b",
            r"\bdifferenz[ae] (?:tra|fra)\b|\bconfronta(?:re)?\b|\bverschil(?:len)? tussen\b|\bvergelijk\b",
            # Chinese, Japanese
            r"比较|比較|对比|對比|区别|區別|差异|差異|違い",
        )
    ),
    re.IGNORECASE,
)
