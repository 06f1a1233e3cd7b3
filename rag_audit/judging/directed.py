"""Text that addresses the judge instead of the reader: instructions, self-praise with a mark, claims of a verdict."""

import re

_DIRECTED = re.compile(
    r"""
      \b(?:ignore|disregard|forget)
        \ (?:(?:all|any|the|your|these|those|previous|prior|above|earlier|preceding|other)\ ){1,4}
        (?:instructions?|prompts?|rules?|rubrics?|guidelines|criteria|directions)
    | \b(?:dear|hey|attention|note\ to(?:\ the)?|to\ the|hello)[,:]?
        \ (?:(?:ai|llm)\ )?(?:judge|grader|evaluator|assessor|reviewer\ model)\b
    | \byou\ are\ (?:now\ )?(?:the|a|an)\ (?:\w+\ ){0,2}(?:judge|grader|evaluator)\b
    | \b(?:as\ (?:the|a|an)\ )(?:ai\ |llm\ )?(?:judge|grader|evaluator),?\ (?:you|please)\b
    | \b(?:rate|score|grade|mark|give|award)\ (?:this|the|my)\ (?:answer|response|reply|output|text)
        \ (?:\w+\ ){0,3}(?:10|ten|full|maximum|highest|perfect|5/5|10/10|100)
    | \b(?:rate|score|grade)\ (?:this|the|my)\ (?:answer|response|reply|output)
        \ (?:very\ )?(?:highly|favou?rably|generously|leniently)
    | \b(?:rate|score|grade|mark|give|award)\ (?:it|this)\ (?:(?:a|an|as|at|with|the)\ )*
        (?:10/10|5/5|100/100|10\ out\ of\ 10|ten\ out\ of\ ten
          |(?:full|maximum|highest|top|perfect)\ (?:marks?|scores?|points)\b)
    | \b(?:to|if\ you\ are)\ (?:the|an|any)\ (?:ai|llm|language\ model|model|assistant)
        \ (?:(?:that|who)\ is\ )?(?:evaluating|grading|judging|scoring|assessing)\b
    | (?:^|<!--)[ ]{0,8}(?:system|judge|grader|evaluator)[ ]?:[^\n]{0,60}?
        \b(?:verdict\ (?:is\ )?verified|claims?\ (?:are|is)\ (?:verified|supported)|10/10|full\ marks)\b
    | \b(?:mark|label|treat|consider|classify|count)
        \ (?:all\ |every\ |each\ |these\ |the\ |this\ )+(?:claims?|statements?|answers?)
        \ (?:\w+\ ){0,2}(?:as\ )?(?:verified|correct|true|supported|faithful)\b
    | \b(?:output|return|respond\ with|answer\ with)
        \ (?:only\ )?[`"'{]*\s*["']?(?:verdict|score|faithfulness|completeness)\b
    | </?(?:system|instructions?|judge|grader)>
    | \b(?:ignoriere|vergiss|missachte)\ (?:(?:alle|die|deine|bisherigen|vorherigen|obigen|anderen)\ ){1,3}
        (?:anweisungen|anleitungen|regeln|vorgaben|prompts?)
    | \b(?:an\ den|lieber|liebe|hinweis\ (?:an|für)\ den)\ (?:ki-?)?(?:prüfer|bewerter|gutachter|richter|judge)\b
    | \bbewerte\ (?:diese|die|meine)\ (?:antwort|ausgabe)\ (?:\w+\ ){0,2}(?:10|zehn|volle|höchste|maximal)
    | \b(?:vergib|gib|vergeben\ sie|geben\ sie)\ (?:\w+\ ){0,3}(?:volle|höchste|maximale)n?
        \ (?:punktzahl|bewertung|note|punkte)\b
    | \b(?:werte|markiere|behandle)\ (?:alle|jede)\ (?:aussagen?|behauptung(?:en)?)
        \ als\ (?:belegt|wahr|richtig|verifiziert)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


def directed_passages(text: str) -> tuple[str, ...]:
    """The passages of a text that address a judge, as they stand; empty for text that merely speaks of judges."""
    return tuple(dict.fromkeys(match.group() for match in _DIRECTED.finditer(text)))
