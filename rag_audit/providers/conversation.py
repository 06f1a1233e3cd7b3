"""A conversation with a model, its reply, and the replies that are kept so that an interrupted run can go on."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson

from rag_audit.model import Usage

_PRIVATE = 0o700
_FOLDER = Path(".rag-audit") / "replies"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: str
    """user | assistant."""
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as it came."""

    text: str
    model: str | None
    """The model the reply names."""
    stop_reason: str | None
    usage: Usage
    cost_usd: float | None
    latency_s: float
    """Seconds of the attempt that succeeded, without waiting."""
    cached: bool = False
    """Whether it was kept from an earlier attempt."""


def rendered(system: str, turns: Sequence[Turn]) -> str:
    """The conversation as sent, as one text."""
    return "\n\n".join([f"[system]\n{system}", *(f"[{turn.role}]\n{turn.text}" for turn in turns)])


def storable(text: str) -> str:
    """The text without lone surrogates, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class KeptReplies:
    """Replies of one run, by the whole request that they answer; another run's only where that was asked for.

    Asking the same again in one run (a repeat of a judgment) is another request: the n-th asking has the n-th reply.
    """

    def __init__(
        self, project: Path, *, of_other_runs: bool = False, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        """Nothing is kept before `begin` names the run; texts are kept as `redact` leaves them."""
        self._folder = project / _FOLDER
        self._own: Path | None = None
        self._of_other_runs = of_other_runs
        self._redact = redact
        self._asked: Counter[str] = Counter()

    def begin(self, run_id: str) -> None:
        """Keep replies for this run, in a folder that only its owner can read."""
        self._own = self._folder / run_id
        for folder in (self._folder.parent, self._folder, self._own):
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)

    def key(self, request: Mapping[str, Any]) -> str:
        """The key of a request that is about to be asked: model, prompt, parameters, and how often it was asked."""
        digest = sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
        self._asked[digest] += 1
        return f"{digest[:40]}-{self._asked[digest]}"

    def get(self, key: str) -> Reply | None:
        """The kept reply, if there is one; another run's costs nothing again."""
        if self._own is None:
            return None
        own = _read(self._own / f"{key}.json")
        if own is not None:
            return replace(own, cached=True)
        if self._of_other_runs:
            for path in sorted(self._folder.glob(f"*/{key}.json")):
                other = _read(path)
                if other is not None:
                    return replace(other, cached=True, usage=Usage(), cost_usd=0.0)
        return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; written beside and renamed, so that a kill leaves no half of one."""
        if self._own is None:
            return
        part = self._own / f"{key}.part"
        part.write_bytes(orjson.dumps(replace(reply, text=self._redact(reply.text))))
        part.replace(self._own / f"{key}.json")


def _read(path: Path) -> Reply | None:
    try:
        return msgspec.convert(orjson.loads(path.read_bytes()), Reply)
    except (OSError, orjson.JSONDecodeError, msgspec.ValidationError):
        return None
