"""What a person may write for a run: an id, a unique prefix, a label, LABEL~1, latest, latest~1 (pure)."""

import re
from collections.abc import Sequence

from rag_audit.errors import UsageError
from rag_audit.model import RunSummary

_STEPS_BACK = re.compile(r"(.+)~(\d{1,6})", re.DOTALL)
LATEST = "latest"


def means_a_step(label: str) -> bool:
    """Whether a text means a place in the history, `latest` or NAME~N, so that a run of that label is not reached."""
    return label == LATEST or _STEPS_BACK.fullmatch(label) is not None


def check_label(label: str | None) -> None:
    """UsageError for a label that cannot be used to reach its run."""
    if label is not None and means_a_step(label):
        raise UsageError(
            f"{label!r} cannot be a label: latest and NAME~N mean places in the history", "Give the run another name."
        )


def resolve_run(reference: str, archived: Sequence[RunSummary], unclosed: Sequence[RunSummary]) -> RunSummary:
    """The run a reference means; `archived` in ledger order. Running and interrupted runs are reached by id alone."""
    everything = [*archived, *unclosed]
    for run in everything:
        if run.id == reference:
            return run
    name, back = reference, 0
    labelled = _named(name, archived)
    stepped = _STEPS_BACK.fullmatch(reference)
    if not labelled and stepped is not None:
        name, back = stepped[1], int(stepped[2])
        labelled = _named(name, archived)
    starting = [run for run in everything if back == 0 and reference and run.id.startswith(reference)]
    if len(labelled) > back:
        meant = labelled[-1 - back]
        if len(starting) == 1 and starting[0].id != meant.id:
            raise UsageError(
                f"{reference} is the label of {meant.id} and the beginning of {starting[0].id}", "Write the full id."
            )
        return meant
    if labelled:
        raise UsageError(f"there are only {len(labelled)} archived runs for {name}", f"{name}~{len(labelled) - 1}")
    if len(starting) == 1:
        return starting[0]
    if starting:
        raise UsageError(
            f"{reference} is the beginning of {len(starting)} runs", ", ".join(run.id for run in starting[-5:])
        )
    if open_ids := [run.id for run in unclosed if run.label == reference]:
        raise UsageError(f"no archived run {reference}: one of that label has not ended", f"Write {open_ids[-1]}.")
    raise UsageError(f"no run {reference}", _suggestion(reference, everything))


def names_another_run(label: str) -> bool:
    """Whether a label would be read as `latest`, or as a step back from another one."""
    return label == LATEST or _STEPS_BACK.fullmatch(label) is not None


def _named(name: str, archived: Sequence[RunSummary]) -> list[RunSummary]:
    return list(archived) if name == LATEST else [run for run in archived if run.label == name]


def _suggestion(reference: str, runs: Sequence[RunSummary]) -> str:
    from difflib import get_close_matches

    known = dict.fromkeys([*(run.id for run in runs), *(run.label for run in runs if run.label)])
    near = get_close_matches(reference, known, n=3, cutoff=0.5)
    if near:
        return f"Near: {', '.join(near)}."
    return "`rag-audit runs` lists them." if runs else "There are no runs yet: `rag-audit run` or `rag-audit import`."
