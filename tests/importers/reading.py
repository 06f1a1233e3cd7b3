"""Reads a file as an import does, without a project: its runs with their plans and results."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from rag_audit.importers.assemble import RunPlan, plan_run, results_of
from rag_audit.importers.mapping import parse_field_map
from rag_audit.importers.record import ForeignRun
from rag_audit.importers.registry import read_file
from rag_audit.model import FlagName, QuestionResult
from tests.importers.samples import Sample


@dataclass(frozen=True)
class Read:
    """One run of a file."""

    run: ForeignRun
    plan: RunPlan
    results: list[QuestionResult]

    def values(self, metric: str) -> list[float | None]:
        """A metric's value for each row."""
        return [result.scores[metric] for result in self.results]

    def reasons(self, metric: str) -> list[str | None]:
        """Why each row has no value."""
        return [result.missing.get(metric) for result in self.results]

    def verdicts(self) -> list[list[str] | None]:
        """The claims' verdicts of each row; None where it has no claim list."""
        judgments = [result.claim_judgment for result in self.results]
        return [
            [claim.verdict.value for claim in judgment.claims] if judgment and not judgment.error else None
            for judgment in judgments
        ]

    def flagged(self, flag: FlagName) -> list[bool]:
        """Whether each row carries the flag."""
        return [any(raised.flag is flag for raised in result.flags) for result in self.results]


def read_path(path: Path, mapping: tuple[str, ...] = ()) -> list[Read]:
    """Every run of a file."""
    runs = read_file(path, mapping=parse_field_map(mapping))
    plans = [plan_run(run) for run in runs]
    return [Read(run, plan, list(results_of(run, plan))) for run, plan in zip(runs, plans, strict=True)]


def read_sample(folder: Path, sample: Sample) -> list[Read]:
    """Every run of a sample."""
    path = folder / sample.name
    path.write_bytes(sample.data)
    return read_path(path, sample.mapping)


def write_json(path: Path, *documents: Any) -> Path:
    """One JSON document, or several as lines."""
    path.write_bytes(b"\n".join(orjson.dumps(document) for document in documents))
    return path
