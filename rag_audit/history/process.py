"""Who is writing a run: process id, start time and boot tell a living process from one that only has its number."""

import os
from functools import cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def _machine() -> str:
    """This boot of this machine."""
    try:
        return _BOOT_ID.read_text().strip()[:8]
    except OSError:
        import uuid

        return f"{uuid.getnode():x}"[-8:]


def _started(pid: int) -> str | None:
    """When a process started, in the words of the operating system; None if there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return None if _BOOT_ID.exists() else _started_by_ps(pid)
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _started_by_ps(pid: int) -> str | None:
    """Where there is no /proc."""
    import subprocess

    asked = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "_".join(asked.stdout.split()) or None


@cache
def _identity_of(pid: int) -> str:
    return f"{_machine()}/{pid}/{_started(pid)}"


def own_identity() -> str:
    """This process as `machine/pid/start`."""
    return _identity_of(os.getpid())


def is_alive(identity: str) -> bool:
    """Whether the process with this identity still runs on this machine; False for other machines."""
    machine, _, rest = identity.partition("/")
    pid, _, started = rest.partition("/")
    return machine == _machine() and pid.isdecimal() and _started(int(pid)) == started
