"""A conversation with a model, its reply, and the replies that are kept so that an interrupted run can go on."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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


class KeptReplies:
    """Replies of one run, by the whole request that they answer; another run's only where that was asked for.

    Asking the same again in one run (a repeat of a judgment) is another request: the n-th asking has the n-th reply.
    One file a run, one line a reply; a line that a kill left incomplete is passed over.
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
        self._known: dict[str, Reply] = {}

    def begin(self, run_id: str) -> None:
        """Keep replies for this run, in a folder that only its owner can read, and know those that are there."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        self._own = self._folder / f"{run_id}.jsonl"
        if self._of_other_runs:
            for path in sorted(self._folder.glob("*.jsonl")):
                if path != self._own:
                    # What another run paid for costs nothing again.
                    self._known |= {key: replace(r, usage=Usage(), cost_usd=0.0) for key, r in _read(path).items()}
        self._known |= _read(self._own)
        with self._own.open("ab") as file:
            file.write(b"\n" if file.tell() else b"")  # ends a line that a kill left incomplete

    def key(self, request: Mapping[str, Any]) -> str:
        """The key of a request that is about to be asked: model, prompt, parameters, and how often it was asked."""
        digest = sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()[:40]
        self._asked[digest] += 1
        return f"{digest}-{self._asked[digest]}"

    def get(self, key: str) -> Reply | None:
        """The kept reply, if there is one."""
        kept = self._known.get(key)
        return None if kept is None else replace(kept, cached=True)

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply, in one write."""
        if self._own is not None:
            line = orjson.dumps({"key": key, "reply": replace(reply, text=self._redact(reply.text))})
            with self._own.open("ab", buffering=0) as file:
                file.write(line + b"\n")


@dataclass(frozen=True, slots=True)
class _Line:
    key: str
    reply: Reply


def _read(path: Path) -> dict[str, Reply]:
    """The replies of one file, by key."""
    found: dict[str, Reply] = {}
    if path.exists():
        for line in path.read_bytes().splitlines():
            with suppress(orjson.JSONDecodeError, msgspec.ValidationError):
                kept = msgspec.convert(orjson.loads(line), _Line)
                found[kept.key] = kept.reply
    return found
