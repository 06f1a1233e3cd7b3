"""What routing and the retriever are worth: retrieval figures on two versions of one product's documentation.

python -m benchmarks.keda_routing            the table of docs/design.md
python -m benchmarks.keda_routing PROJECT    the same for a project of one's own
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.keda import keda_project
from rag_audit.config import load_settings
from rag_audit.corpus.check import prepare
from rag_audit.corpus.retrieve import open_retriever
from rag_audit.metrics import METRICS, mean
from rag_audit.model import QuestionResult
from rag_audit.routing import route_question
from tests.cases import CASES

SHOWN = ("hit_at_1", "hit_at_k", "mrr", "keyword_recall")


def measure(project: Path, *overrides: str) -> dict[str, tuple[float | None, int]]:
    """Retrieve for every question of a project; each metric's mean with its n."""
    settings = load_settings(project, overrides, {})
    prepared = prepare(project, settings)
    retriever = open_retriever(project, prepared.documents, settings)
    values: dict[str, list[float]] = {name: [] for name in SHOWN}
    for question in prepared.questions:
        route = route_question(question, prepared.table, settings)
        result = QuestionResult(question, route, retrieved=retriever.retrieve(question, route))
        for name in SHOWN:
            value, _ = METRICS[name].score(result)
            if value is not None:
                values[name].append(value)
    return {name: (mean(scored), len(scored)) for name, scored in values.items()}


def print_table(project: Path) -> None:
    """Print one row per retriever, chunk size and routing."""
    print("| retriever | chunk size | routing | " + " | ".join(SHOWN) + " |")
    print("|---|---:|---|" + "---:|" * len(SHOWN))
    for mode in ("hybrid", "bm25", "vector"):
        for size in (400, 800, 1200):
            for routing in ("on", "off"):
                found = measure(
                    project,
                    f"retriever.mode={mode}",
                    f"chunking.size={size}",
                    f"routing.enabled={'true' if routing == 'on' else 'false'}",
                )
                cells = " | ".join("–" if value is None else f"{value:.3f}" for value, _ in found.values())
                print(f"| {mode} | {size} | {routing} | {cells} |")
    print("\nn =", ", ".join(f"{name}: {n}" for name, (_, n) in found.items()))


def main() -> int:
    """Measure the project named on the command line, else the reference questions."""
    if len(sys.argv) > 1:
        print_table(Path(sys.argv[1]))
        return 0
    if CASES is None:
        print("the reference cases are not here; name a project", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        print_table(keda_project(CASES, Path(scratch)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
