"""How well the offline claim judge agrees with people: measured figures that travel with the rules they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import orjson

from rag_audit.judging.lexical import RULE_FILES
from rag_audit.judging.prompts import hash_of_files

FIGURES = Path(__file__).with_name("measured.json")
VERDICTS = ("verified", "contradicted", "absent")


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement on labelled claims."""

    claims: int
    table: Mapping[str, Mapping[str, int]]
    """Label to judge's verdict to number of claims."""
    macro_f1: float
    rules: str
    """Hash of the rules that were measured."""

    @property
    def current(self) -> bool:
        """Whether these are the rules that judge now."""
        return self.rules == rules_hash()


def offline_judge_figures() -> Figures | None:
    """The figures measured last; None where there are none."""
    try:
        return msgspec.convert(orjson.loads(FIGURES.read_bytes()), Figures)
    except (OSError, orjson.JSONDecodeError, msgspec.ValidationError):
        return None


def offline_judge_report() -> dict[str, str]:
    """The figures for a person: macro-F1 with its reservation, then the judge's verdicts for each label."""
    figures = offline_judge_figures()
    if figures is None:
        return {"agreement": "not measured"}
    stale = "; the rules have changed since" if not figures.current else ""
    return {
        "agreement": (
            f"macro-F1 {figures.macro_f1:.3f} on {figures.claims} labelled claims that were in view when its rules were"
            f" written, 0.70 to 0.77 at first sight of others: a lexical heuristic, no LLM judge{stale}"
        ),
        **{
            f"labelled {label}": ", ".join(f"{count} {verdict}" for verdict, count in row.items())
            for label, row in figures.table.items()
        },
    }


def rules_hash() -> str:
    """The hash of the rules that judge now."""
    return hash_of_files(*RULE_FILES)


def macro_f1(table: Mapping[str, Mapping[str, int]]) -> float:
    """Mean over the verdicts of 2 TP / (labelled + judged); a verdict that never occurs counts 0."""
    scores = []
    for verdict in VERDICTS:
        labelled = sum(table[verdict].values())
        judged = sum(row[verdict] for row in table.values())
        scores.append(2 * table[verdict][verdict] / (labelled + judged) if labelled + judged else 0.0)
    return sum(scores) / len(scores)
