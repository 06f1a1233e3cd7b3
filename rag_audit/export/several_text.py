"""Three or more runs as a table by question."""

from collections.abc import Sequence

from rag_audit.diff.several import QuestionHistory, SeveralRuns
from rag_audit.export.diff_report import figure, run_name, value_text
from rag_audit.model import RunSummary
from rag_audit.text.table import table
from rag_audit.text.visible import visible_line


def several_text(followed: SeveralRuns, summaries: Sequence[RunSummary]) -> str:
    """One table a metric: the questions that did not stay the same, broken ones first; the rest is counted."""
    columns = [f"[{number}]" for number in range(1, len(summaries) + 1)]
    key = [f"{column} {visible_line(run_name(run))}" for column, run in zip(columns, summaries, strict=True)]
    place = dict(zip(followed.runs, columns, strict=True))
    sections = ["\n".join(key)]
    for name, questions in followed.questions.items():
        moved = [history for history in questions if len({value for value in history.values if value is not None}) > 1]
        rows = [
            ["mean", *(figure(mean) for mean in followed.means[name]), "", ""],
            *([history.id, *map(value_text, history.values), *_remarks(history, place)] for history in moved),
        ]
        header = [name, *columns, "broke at", "remarks"]
        steady = len(questions) - len(moved)
        count = f"{steady} of {len(questions)} questions have one value in all runs that scored them."
        sections.append(f"{table(header, rows, right=range(1, len(columns) + 1))}\n{count}")
    return "\n\n".join(sections)


def _remarks(history: QuestionHistory, place: dict[str, str]) -> list[str]:
    broke = place[history.broke_at] if history.broke_at else ""
    remarks = [history.cause.value] if history.cause else []
    remarks += [f"edited before {place[run]}" for run in history.edited_at]
    return [broke, ", ".join(remarks)]
