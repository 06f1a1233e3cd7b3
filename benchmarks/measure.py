"""Whole-process figures: wall time, processor time and peak memory of one command, the best of several runs."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """Seconds from start to exit, seconds of processor time (the truer one on a busy machine), and peak memory."""

    seconds: float
    cpu_seconds: float
    mebibytes: float

    def __str__(self) -> str:
        return f"{self.seconds * 1000:.0f} ms ({self.cpu_seconds * 1000:.0f} ms CPU), {self.mebibytes:.0f} MiB"


def measure(arguments: Sequence[str], repeats: int = 5) -> Measured:
    """Run `python ARGUMENTS` so many times; the least of each figure. An exit code other than 0 is an error."""
    return Measured(*map(min, zip(*(_once(arguments) for _ in range(repeats)), strict=True)))


def _once(arguments: Sequence[str]) -> Measured:
    # A child's peak counts what its parent held when it was started, so a small process stands between.
    command = [sys.executable, "-I", str(Path(__file__)), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return Measured(*map(float, done.stdout.split()))


def _start(arguments: Sequence[str]) -> int:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    sys.stdout.write(f"{seconds} {used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}")
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


if __name__ == "__main__":
    sys.exit(_start(sys.argv[1:]))
