"""Time and peak memory of importing big files: `python -m benchmarks.import_memory [MB]`.

Each import runs in a process of its own; the file and the project lie in a temporary folder. The limit is 300 MiB for
500 MB.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PARAGRAPH = "The pump holds its pressure for 30 seconds before the valve opens again. " * 12
_LIMIT_MIB = 300


def _row(at: int) -> dict[str, object]:
    return {
        "user_input": f"How long does pump {at} hold its pressure?",
        "retrieved_contexts": [f"{at}.{part} {_PARAGRAPH}" for part in range(4)],
        "response": f"Pump {at} holds it for {at % 90} seconds.",
        "reference": "30 seconds.",
        "faithfulness": at % 11 / 10,
        "answer_relevancy": None if at % 7 == 0 else 0.5,
    }


def write_lines(path: Path, size: int) -> None:
    """JSON lines of at least so many bytes."""
    at = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            file.writelines(json.dumps(_row(at + step)) + "\n" for step in range(100))
            at += 100


def write_table(path: Path, size: int) -> None:
    """A CSV table of at least so many bytes, its lists in Python's spelling."""
    at = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_row(0))
        while file.tell() < size:
            for step in range(100):
                values = {name: "" if value is None else str(value) for name, value in _row(at + step).items()}
                writer.writerow(values.values())
            at += 100


def measure(path: Path, project: Path) -> tuple[float, float]:
    """Seconds and peak MiB of one import in a process of its own."""
    code = (
        "import resource, sys; from rag_audit.cli import run_command_line;"
        "code = run_command_line(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    started = time.perf_counter()
    command = [sys.executable, "-c", code, "--project", str(project), "import", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    return seconds, int(done.stderr.split()[-1]) / 1024


def main() -> None:
    """Measure both layouts; exit 1 above the limit."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    over = False
    for name, write in (("lines.jsonl", write_lines), ("table.csv", write_table)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(path, megabytes * 1_000_000)
            seconds, peak = measure(path, Path(folder))
            over = over or peak > _LIMIT_MIB
            print(f"{name:12} {path.stat().st_size / 1e6:6.0f} MB  {seconds:6.1f} s  peak {peak:6.0f} MiB", flush=True)
    sys.exit(over)


if __name__ == "__main__":
    main()
