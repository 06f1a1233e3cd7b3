"""Reading a judge's reply strictly: what is not exactly the asked-for JSON is a named failure, never a guess."""

import json
import re
from dataclasses import dataclass
from typing import Any

_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_SHOWN = 120


@dataclass(slots=True)
class UnusableReply(Exception):
    """Why a reply cannot be used: a word for the record, and a sentence for the judge that is asked again."""

    failure: str
    detail: str


def json_object(reply: str, stop_reason: str | None) -> dict[str, Any]:
    """The JSON object a reply consists of; UnusableReply names what it is instead."""
    text = reply.strip()
    if stop_reason == "refusal":
        raise UnusableReply("refusal", "it is a refusal")
    if not text:
        raise UnusableReply("empty_reply", "it is empty")
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if stop_reason in ("max_tokens", "model_context_window_exceeded"):
            raise UnusableReply("max_tokens", "it was cut off before it was complete; be briefer") from None
        if _holds_object(text):
            raise UnusableReply("extra_prose", "there is text before or after the JSON object") from None
        raise UnusableReply("invalid_json", f"it is not JSON: {str(error)[:_SHOWN]}") from None
    if not isinstance(value, dict):
        raise UnusableReply("invalid_json", f"it is a JSON {type(value).__name__}, not an object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _holds_object(text: str) -> bool:
    """Whether a complete JSON object stands somewhere in the text, with something beside it."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            _, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        return end - match.start() < len(text)
    return False
