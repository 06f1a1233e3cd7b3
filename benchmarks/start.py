"""How long the program takes to start, as whole processes: three verbs, and the UI until its list of runs is painted.

python -m benchmarks.start [PROJECT]

Without a project the shipped one is used. Median of seven runs after one that is not counted.
"""

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from rag_audit.history import History

RUNS = 7
GIVE_UP_S = 20.0
VERBS: tuple[tuple[str, ...], ...] = (("--help",), ("runs",), ("diff", "latest~1", "latest"))


def main(arguments: Sequence[str]) -> int:
    project = Path(arguments[0]) if arguments else Path(__file__).parent.parent
    for verb in VERBS:
        print(f"rag-audit {' '.join(verb):<24} {1000 * measured(partial(whole_process, project, verb)):5.0f} ms")
    label = (History(project).summaries()[-1].label or "latest").encode()
    print(f"UI until the runs are listed       {1000 * measured(partial(first_list, project, label)):5.0f} ms")
    return 0


def measured(once: Callable[[], float]) -> float:
    """Median seconds of several runs after a warm-up."""
    once()
    return median(once() for _ in range(RUNS))


def whole_process(project: Path, verb: Sequence[str]) -> float:
    begun = perf_counter()
    command = [sys.executable, "-m", "rag_audit", "--project", str(project), *verb]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - begun


def first_list(project: Path, expected: bytes) -> float:
    """Seconds until the UI, in a pseudo-terminal, has written the label of the latest run."""
    begun = perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        os.execve(sys.executable, [sys.executable, "-m", "rag_audit", "--project", str(project)], environment)
    painted = b""
    try:
        while expected not in painted:
            readable, _, _ = select.select([terminal], [], [], GIVE_UP_S)
            if not readable:
                raise TimeoutError("the list of runs was never painted")
            painted += os.read(terminal, 65_536)
        return perf_counter() - begun
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
