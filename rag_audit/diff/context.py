"""Lists what differs between the contexts of two runs, the likeliest cause of the changes first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from rag_audit.diff.comparability import parse_judge
from rag_audit.diff.pairing import Pairing, QuestionSide
from rag_audit.model import UNKNOWN, Cause, ContextChange, QuestionPartition, RunContext, RunSummary

_GROUPS = {
    "routing": "routing",
    "judges": "judge",
    "prompts.claims": "judge",
    "prompts.scores": "judge",
    "reported_models.claims": "judge",
    "reported_models.scores": "judge",
    "questions_hash": "questions",
    "chunking": "retrieval",
    "embedder": "retrieval",
    "retriever": "retrieval",
    "reranker": "retrieval",
    "corpora": "retrieval",
    "generator": "answers",
    "prompts": "answers",
    "reported_models": "answers",
    "settings": "settings",
    "seed": "settings",
    "version": "settings",
    "workers": "settings",
}
"""Key (or its beginning) to what it moves, in the order of the list where nothing else decides."""
_ORDER = list(_GROUPS)


def context_changes(
    before: RunSummary, after: RunSummary, pairing: Pairing, found: QuestionPartition
) -> tuple[ContextChange, ...]:
    """What differs, as dotted keys, ordered by how many questions changed in the way that such a part changes them.

    A value that one side does not record is listed as a change from or to `unknown`; unknown on both sides is not.
    Judges that only the rows name, or in which only the rows differ, are listed as the rows have them.
    """
    earlier, later = dict(_flat(before)), dict(_flat(after))
    _add_judges_of_rows(earlier, later, pairing)
    changes = [
        ContextChange(key, earlier.get(key, UNKNOWN), later.get(key, UNKNOWN))
        for key in {**earlier, **later}
        if earlier.get(key, UNKNOWN) != later.get(key, UNKNOWN)
    ]
    weight = _weights(pairing, found)
    return tuple(sorted(changes, key=lambda change: (-weight[_GROUPS[_prefix(change.key)]], _place(change))))


def _add_judges_of_rows(earlier: dict[str, Any], later: dict[str, Any], pairing: Pairing) -> None:
    before = _judges_of_rows(pair.before for pair in pairing.pairs)
    after = _judges_of_rows(pair.after for pair in pairing.pairs)
    for key in before.keys() & after.keys():
        if key not in earlier or key not in later or earlier[key] == later[key]:
            earlier[key], later[key] = before[key], after[key]
    for recorded, rows in ((earlier, before), (later, after)):
        for key, value in rows.items():
            recorded.setdefault(key, value)


def _judges_of_rows(sides: Iterable[QuestionSide]) -> dict[str, str]:
    """Dotted key to the models and prompts by which the questions were judged."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for role, text in set(chain.from_iterable(side.judges.items() for side in sides)):
        judge = parse_judge(text)
        for key, part in ((f"judges.{role}", judge.model), (f"prompts.{role}", judge.prompt)):
            if part is not None:
                found[key].add(part)
    return {key: ", ".join(sorted(parts)) for key, parts in found.items()}


def _place(change: ContextChange) -> tuple[bool, int, str]:
    unrecorded = UNKNOWN in (change.before, change.after)
    return unrecorded, _ORDER.index(_prefix(change.key)), change.key


def _prefix(key: str) -> str:
    parts = key.split(".")
    pair = ".".join(parts[:2])
    return pair if pair in _GROUPS else parts[0]


def _weights(pairing: Pairing, found: QuestionPartition) -> Counter[str]:
    """Questions whose change each group of context parts would explain."""
    causes = Counter(delta.cause for deltas in (found.regressed, found.improved, found.changed) for delta in deltas)
    system = {
        delta.id
        for deltas in (found.regressed, found.improved, found.changed)
        for delta in deltas
        if delta.cause in (Cause.SYSTEM, Cause.UNKNOWN)
    }
    moved = [pair for pair in pairing.pairs if pair.id in system]
    return Counter(
        routing=causes[Cause.ROUTING],
        judge=causes[Cause.JUDGE],
        questions=len(pairing.edited) + causes[Cause.QUESTIONS],
        retrieval=sum(not pair.chunks_same for pair in moved),
        answers=sum(pair.chunks_same and pair.answer_same is False for pair in moved),
    )


def _flat(run: RunSummary) -> Iterator[tuple[str, Any]]:
    """Every recorded part of a run's context under its dotted key."""
    context = run.context
    parts: dict[str, Any] = {name: getattr(context, name) for name in RunContext.__dataclass_fields__}
    parts["reported_models"] = {role: ", ".join(models) for role, models in run.reported_models.items()}
    for key, value in parts.items():
        yield from _dotted(key, value)


def _dotted(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _dotted(f"{key}.{name}", inner)
    elif value != UNKNOWN:
        yield key, value
