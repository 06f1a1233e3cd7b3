"""Says for each metric whether two runs may be compared: were its values given by the same judge?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from rag_audit.diff.facts import MetricFacts, is_measured
from rag_audit.model import UNKNOWN, Comparability, RunContext, RunSummary


class Judge(NamedTuple):
    """One judge as far as it is recorded; None: not recorded."""

    model: str | None
    reported: str | None
    prompt: str | None
    parameters: tuple[str, ...] = ()


_UNRECORDED = Judge(None, None, None)


class JudgeMatch(NamedTuple):
    """Whether two judges are the same instrument; None: cannot be told."""

    same: bool | None
    reason: str = ""
    named_only: bool = False
    """Equal by name, and neither side records its prompt."""


JudgeLookup = Callable[[str, str | None], Judge]
"""Role and the text a row records of its judge to that judge; without a text, the one the run's context names."""


def judge_lookup(run: RunSummary) -> JudgeLookup:
    """Find the judge that gave a row its values in one role: what the row records, completed by the run's context."""
    reported = {role: models[0] if len(models) == 1 else None for role, models in run.reported_models.items()}

    @cache
    def complete(role: str, text: str | None) -> Judge:
        row = parse_judge(text)
        return Judge(
            row.model or _known(run.context.judges.get(role)),
            row.reported or reported.get(role),
            row.prompt or _known(run.context.prompts.get(role)),
            row.parameters,
        )

    return complete


def _known(text: str | None) -> str | None:
    return None if text in (None, "", UNKNOWN) else text


def parse_judge(text: str | None) -> Judge:
    """Read `model reported prompt key=value ...` as a ledger row has it; a model's name may contain spaces."""
    if _known(text) is None:
        return _UNRECORDED
    words = str(text).split(" ")
    last = max((at for at, word in enumerate(words) if "=" not in word), default=0)
    if last < 2:
        return Judge(str(text), None, None)
    reported = words[last - 1]
    return Judge(
        _known(" ".join(words[: last - 1])),
        None if reported == "-" else _known(reported),
        _known(words[last]),
        tuple(words[last + 1 :]),
    )


@cache
def match_judges(before: Judge, after: Judge) -> JudgeMatch:
    """Compare two judges part by part; a part that one side does not record leaves it open.

    A prompt that neither side records does not: the name is then all there is, which `named_only` says.
    """
    parts = (
        ("model", before.model, after.model),
        ("reported model", before.reported, after.reported),
        ("prompt", before.prompt, after.prompt),
    )
    for name, earlier, later in parts:
        if earlier is not None and later is not None and earlier != later:
            return JudgeMatch(False, f"{name} {earlier} → {later}")
    if before.prompt and after.prompt and before.parameters != after.parameters:
        return JudgeMatch(False, f"parameters {_words(before.parameters)} → {_words(after.parameters)}")
    if before.model is None or after.model is None:
        return JudgeMatch(None, f"the judge is not recorded {_where(before.model, after.model)}")
    for name, earlier, later in parts[1:]:
        if (earlier is None) != (later is None):
            return JudgeMatch(None, f"the judge's {name} is not recorded {_where(earlier, later)}")
    return JudgeMatch(True, named_only=before.prompt is None)


def _words(parameters: tuple[str, ...]) -> str:
    return ", ".join(parameters) or "none"


def _where(before: str | None, after: str | None) -> str:
    return "on either side" if before is None and after is None else "before" if before is None else "after"


def match_roles(facts: MetricFacts, before: JudgeLookup, after: JudgeLookup, texts: Sequence[str | None]) -> JudgeMatch:
    """Whether one question's values of one metric come from the same judge; same for metrics that need none.

    `texts` are what the two rows record, before and after, for each of the metric's roles in turn.
    """
    if not facts.roles:
        return JudgeMatch(True)
    matches = []
    for at, role in enumerate(facts.roles):
        earlier, later = before(role, texts[2 * at]), after(role, texts[2 * at + 1])
        if facts.own or earlier != _UNRECORDED or later != _UNRECORDED:
            matches.append(match_judges(earlier, later))
    if not matches:
        return JudgeMatch(None, "the judge is not recorded on either side")
    return min(matches, key=lambda match: (match.same is not False, match.same is not None))


def compare_contexts(
    facts: MetricFacts,
    runs: tuple[RunSummary, RunSummary],
    matches: Mapping[JudgeMatch, int],
    other_excerpts: int = 0,
) -> Comparability:
    """Whether one metric of two runs may be compared, and why not.

    `matches`: how many questions each match of their judges holds for; `other_excerpts`: questions left out because
    their reference excerpt changed.
    False: not measured on both sides, measured on another scale, another judge, several judges within one run, or
    held against another excerpt throughout.
    None (unverified): a part that could have moved it is not recorded, or a run records nothing of its context at all.
    """
    before, after = runs
    scored = sum(matches.values())
    objections = [
        *_scale_objections(facts.name, before, after),
        *_mixed(facts, before, after),
        *_judge_reasons(facts, matches, False),
        *(["the reference excerpt of every question changed"] if 0 < scored == other_excerpts else []),
    ]
    if objections:
        return Comparability(False, tuple(dict.fromkeys(objections)))
    doubts = _judge_reasons(facts, matches, None)
    doubts += [f"nothing is recorded of the context {side}" for side in _blank_sides(before, after)]
    named_only = any(found.named_only for found in matches)
    if named_only and not facts.own:
        doubts.append("the judge's prompt is not recorded on either side")
    if doubts:
        return Comparability(None, tuple(dict.fromkeys(doubts)))
    notes = ["the judges are equal by name; neither side records a prompt"] if named_only else []
    if other_excerpts:
        notes.append(f"{other_excerpts} of {scored} questions left out: their reference excerpt changed")
    return Comparability(True, tuple(notes))


def _scale_objections(name: str, before: RunSummary, after: RunSummary) -> list[str]:
    earlier, later = before.metrics.get(name), after.metrics.get(name)
    sides = [side for side, summary in (("before", earlier), ("after", later)) if not is_measured(summary)]
    if sides:
        return [f"not measured {' or '.join(sides)}"]
    if earlier and later and (earlier.range, earlier.direction) != (later.range, later.direction):
        return ["its range or direction differs between the runs"]
    return []


def is_mixed(facts: MetricFacts, before: RunSummary, after: RunSummary) -> bool:
    """Whether either run's own judge changed while it ran."""
    return bool(_mixed(facts, before, after))


def _mixed(facts: MetricFacts, before: RunSummary, after: RunSummary) -> list[str]:
    return [
        f"mixed {role} judges {side}: {', '.join(models)}"
        for role in facts.roles
        for side, models in (
            ("before", before.reported_models.get(role, ())),
            ("after", after.reported_models.get(role, ())),
        )
        if len(models) > 1
    ]


def _judge_reasons(facts: MetricFacts, matches: Mapping[JudgeMatch, int], same: bool | None) -> list[str]:
    """The reasons of one kind, commonest first, with the share of the questions where they do not hold for all."""
    total = sum(matches.values())
    commonest = sorted(matches.items(), key=lambda found: -found[1])
    found = [(match.reason, count) for match, count in commonest if match.same is same and facts.roles]
    return [
        f"{facts.roles[0]} judge: {reason}" + (f" ({count} of {total} questions)" if count < total else "")
        for reason, count in found
    ]


def _blank_sides(before: RunSummary, after: RunSummary) -> Iterable[str]:
    return (side for side, run in (("before", before), ("after", after)) if is_blank(run.context))


def is_blank(context: RunContext) -> bool:
    """Whether nothing at all is recorded of what could have moved the numbers."""
    parts = (
        context.generator,
        context.embedder,
        context.reranker,
        context.chunking,
        context.retriever,
        context.routing,
        context.corpora,
        *context.judges.values(),
        *context.prompts.values(),
    )
    return all(part == UNKNOWN for part in parts) and not context.settings
