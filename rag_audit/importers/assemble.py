"""From a foreign run's rows to our results: ids, own metrics of claims and retrieval, flags, and the balance."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from rag_audit.errors import InputError
from rag_audit.fingerprint import fingerprint
from rag_audit.importers.kinds import known_kind
from rag_audit.importers.record import ForeignRun, ImportedRow, LeftOut, MetricKind
from rag_audit.importers.results import RETRIEVAL, RunShape, result_of
from rag_audit.model import UNKNOWN, QuestionResult

_SHARED = 5000
"""Different mappings that are remembered to be shared."""
_LISTED = 1000
"""Left out entries that are named one by one; the rest is counted."""
_HASHED = tuple(name for name in ImportedRow.__dataclass_fields__ if name not in ("line", "notes", "claims_listed"))


@dataclass(slots=True)
class RunPlan:
    """What the first reading of a run found out: which results there will be and what they have in common."""

    planned: list[tuple[str, int | None]] = field(default_factory=list)
    """(question id, repeat) of every row, in file order."""
    left_out: list[LeftOut] = field(default_factory=list)
    left_out_rows: int = 0
    damaged: int = 0
    """Of these, the ones that cannot be read: the run lacks their questions."""
    file_rows: int = 0
    claims: int = 0
    content: str = ""
    """Hash of all that was read: equal content is the same run."""
    shape: RunShape = field(default_factory=RunShape)
    warnings: list[str] = field(default_factory=list)
    """What is odd about the file."""
    notes: list[str] = field(default_factory=list)
    """What the run lacks and what would fill it."""


@dataclass(slots=True)
class _Values:
    """What one metric's values have in common."""

    n: int = 0
    low: float = 0.0
    high: float = 0.0

    def add(self, value: float) -> None:
        self.low = min(self.low, value) if self.n else value
        self.high = max(self.high, value) if self.n else value
        self.n += 1


class _Ids:
    """Gives every row its id: the tool's own or a hash of the question, numbered where it is taken."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, int | None]] = set()
        self._next: dict[str, int] = {}
        self.doubled = 0

    def give(self, row: ImportedRow) -> tuple[str, int | None]:
        base = row.id if row.id is not None else fingerprint((row.question.strip(),))[:12]
        key = (base, row.repeat)
        if key in self._taken:
            self.doubled += row.id is not None
            while key in self._taken:
                self._next[base] = self._next.get(base, 1) + 1
                key = (f"{base}-{self._next[base]}", row.repeat)
        self._taken.add(key)
        return key


def rows_of(run: ForeignRun) -> Iterator[ImportedRow | LeftOut]:
    """One outcome for each entry of the file."""
    for entry in run.entries():
        yield entry if isinstance(entry, LeftOut) else run.convert(entry)


class _Gathered:
    """What the rows of a run add up to while they are read for the first time."""

    def __init__(self, run: ForeignRun) -> None:
        self.ids = _Ids()
        self.values: dict[str, _Values] = {name: _Values() for name in run.kinds}
        self.notes: Counter[str] = Counter()
        label = None if run.label_of_folder else run.label
        said = (run.format, run.system, label, run.context, run.started_at, run.kinds, run.unfinished)
        self.content = hashlib.sha256(_canonical(said))
        self.claims = 0
        self.has_claims = self.has_contexts = self.has_homes = self.has_sources = False

    def add(self, row: ImportedRow) -> tuple[str, int | None]:
        """Count one row; returns its id and repeat."""
        self.content.update(_canonical([getattr(row, name) for name in _HASHED]))
        self.notes.update(note for note in row.notes if note in self.notes or len(self.notes) < _LISTED)
        self.claims += row.claims_listed
        self.has_claims |= row.claims is not None
        self.has_contexts |= bool(row.contexts or row.excerpt)
        self.has_homes |= row.doc_id is not None
        self.has_sources |= any(chunk.doc_id is not None for chunk in row.contexts or ())
        for name, value in row.scores.items():
            seen = self.values.setdefault(name, _Values())
            if value is not None:
                seen.add(value)
        return self.ids.give(row)

    def shape(self, run: ForeignRun, warnings: list[str]) -> RunShape:
        """What all rows have in common; says where a documented range does not hold."""
        kinds = {name: _kind(name, run.kinds.get(name), seen, warnings) for name, seen in self.values.items()}
        return RunShape(
            metrics=tuple(self.values),
            kinds=kinds,
            repeated={
                name: seen.low for name, seen in self.values.items() if _repeats_mean(name, seen, run, kinds[name])
            },
            claims=self.has_claims,
            retrieval=self.has_homes and self.has_sources and self.values.keys().isdisjoint(RETRIEVAL),
            claim_scores=run.claim_scores,
        )


def plan_run(run: ForeignRun) -> RunPlan:
    """Read a run once: count it, name its rows, hash it; refuses a run of which no row could be read."""
    plan = RunPlan()
    gathered = _Gathered(run)
    for outcome in rows_of(run):
        plan.file_rows += 1
        if isinstance(outcome, ImportedRow):
            plan.planned.append(gathered.add(outcome))
            continue
        plan.left_out_rows += 1
        plan.damaged += outcome.damaged
        if len(plan.left_out) < _LISTED:
            plan.left_out.append(outcome)
    if not plan.planned:
        why = plan.left_out[0].reason if plan.left_out else "it holds no rows"
        raise InputError(f"no question could be read: {why}", "Check the file, or export it again.")
    gathered.content.update(_canonical(plan.damaged))
    plan.content = gathered.content.hexdigest()
    plan.claims = gathered.claims
    plan.shape = gathered.shape(run, plan.warnings)
    plan.notes = _what_would_help(gathered)
    _warn(plan, gathered.ids, gathered.notes)
    _check_rows(run, plan)
    return plan


def _what_would_help(gathered: _Gathered) -> list[str]:
    """What a person should know of the screens that stay empty."""
    if gathered.has_claims:
        return []
    if gathered.has_contexts:
        return ["The file has no claims: `rag-audit rejudge RUN` lists and judges them against the retrieved texts."]
    return ["The file has neither claims nor retrieved texts: there is nothing to judge claims against."]


def results_of(run: ForeignRun, plan: RunPlan) -> Iterator[QuestionResult]:
    """Read a run again and make a result of each row; refuses a file that changed in between."""
    rows = (outcome for outcome in rows_of(run) if isinstance(outcome, ImportedRow))
    generator = None if run.context.generator == UNKNOWN else run.context.generator
    judges = {role: name for role, name in run.context.judges.items() if name not in (UNKNOWN, "none")}
    shared = _SharedMappings()
    made = claims = 0
    for row in rows:
        if made >= len(plan.planned):
            break
        result = result_of(_judged(row, judges), plan.planned[made], plan.shape, generator=generator)
        made += 1
        claims += len(result.claim_judgment.claims) if result.claim_judgment else 0
        yield replace(result, scores=shared.one(result.scores), missing=shared.one(result.missing))
    if made != len(plan.planned) or claims != plan.claims:
        raise InputError(
            f"read {len(plan.planned)} rows and {plan.claims} claims, then {made} and {claims}",
            "The file changed while it was read, or its claims cannot be told apart; import it again.",
        )


def _judged(row: ImportedRow, judges: Mapping[str, str]) -> ImportedRow:
    """The row with the judges of the whole run where it names none itself."""
    scores = row.score_judge is None and "scores" in judges and any(value is not None for value in row.scores.values())
    claims = row.claim_judge is None and "claims" in judges and row.claims is not None
    if not scores and not claims:
        return row
    return replace(
        row,
        score_judge=judges["scores"] if scores else row.score_judge,
        claim_judge=judges["claims"] if claims else row.claim_judge,
    )


class _SharedMappings:
    """Gives equal mappings of many rows as one object: the rows of a run stay in memory until it is closed."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, Any], ...], Mapping[str, Any]] = {}

    def one(self, mapping: Mapping[str, Any]) -> Mapping[str, Any]:
        key = tuple(mapping.items())
        if len(self._known) < _SHARED:
            return self._known.setdefault(key, mapping)
        return self._known.get(key, mapping)


def _check_rows(run: ForeignRun, plan: RunPlan) -> None:
    """The balance: every entry of the file is in the run or left out with a reason."""
    accounted = len(plan.planned) + plan.left_out_rows
    expected = plan.file_rows if run.file_rows is None else run.file_rows
    if accounted != expected:
        raise InputError(
            f"{expected} entries in the file but {accounted} accounted for", "Please report this file's layout."
        )


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _kind(name: str, stated: MetricKind | None, seen: _Values, warnings: list[str]) -> MetricKind:
    """The documented kind; a range that the values leave is unknown, and that is said."""
    (low, high), direction = stated or known_kind(name)
    if seen.n and ((low is not None and seen.low < low - 1e-9) or (high is not None and seen.high > high + 1e-9)):
        range_ = " to ".join("any" if end is None else f"{end:g}" for end in (low, high))
        warnings.append(f"{name} has values from {seen.low:g} to {seen.high:g}, outside its range {range_}")
        return (None, None), direction
    if (low, high) == (0, 10) and seen.high <= 1 and not (seen.low.is_integer() and seen.high.is_integer()):
        warnings.append(f"{name} goes from 0 to 10, but no value is above 1: give it another name, or its range")
    return (low, high), direction


def _repeats_mean(name: str, seen: _Values, run: ForeignRun, kind: MetricKind) -> bool:
    """Whether every row has the same score and it looks like a mean: the file states it as one, or it is no grade."""
    if seen.n < 3 or seen.low != seen.high or seen.low in kind[0]:
        return False
    stated = run.file_means.get(name)
    if stated is not None and abs(stated - seen.low) < 1e-9:
        return not seen.low.is_integer()
    return abs(seen.low * 20 - round(seen.low * 20)) > 1e-9


def _warn(plan: RunPlan, ids: _Ids, notes: Counter[str]) -> None:
    for left in plan.left_out[:5]:
        plan.warnings.append(f"line {left.line} left out: {left.reason}")
    if plan.left_out_rows > 5:
        plan.warnings.append(f"{plan.left_out_rows - 5} more left out")
    plan.warnings.extend(
        f"{name} is {value:g} in every row: the mean was copied into the rows, they say nothing of single questions"
        for name, value in plan.shape.repeated.items()
    )
    if ids.doubled:
        plan.warnings.append(f"{ids.doubled} ids are not unique in the file and were numbered")
    plan.warnings.extend(f"{count} {'row' if count == 1 else 'rows'}: {note}" for note, count in notes.most_common(10))
