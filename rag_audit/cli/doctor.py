"""`doctor`: what this machine, this project and this terminal offer; keys are reported as present, never shown."""

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from rag_audit import __version__
from rag_audit.cli.output import print_json, say
from rag_audit.cli.verb import Invocation, verb
from rag_audit.errors import RagAuditError
from rag_audit.providers.offline.measured import offline_judge_report

PACKAGES = (
    "textual",
    "rich",
    "click",
    "pyyaml",
    "orjson",
    "msgspec",
    "numpy",
    "apsw",
    "sqlite-vec",
    "rank-bm25",
    "wordllama",
    "anthropic",
    "cohere",
)
OPTIONAL = {
    "onnxruntime": "local ONNX embedders",
    "zstandard": "zstd members of .eval logs",
    "pyarrow": "Parquet files",
}
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CO_API_KEY")
TERMINAL = ("TERM", "COLORTERM", "NO_COLOR", "LANG", "VISUAL", "EDITOR", "PAGER")


@verb("doctor")
def doctor_command(invocation: Invocation) -> None:
    """Report versions, models, keys that are present, the terminal's abilities and the caches."""
    report = examine(invocation.root)
    if invocation.json:
        print_json(report)
        return
    for section, content in report.items():
        say(f"{section}: {content}" if not isinstance(content, dict) else section)
        for name, value in content.items() if isinstance(content, dict) else ():
            say(f"  {name:<20} {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "present" if value else "not set"
    return "not installed" if value is None else str(value)


def examine(project: Path) -> dict[str, Any]:
    """Everything `doctor` reports; nothing is changed and no key leaves the environment."""
    return {
        "rag_audit": __version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "optional": {name: _version(name) or f"not installed ({use})" for name, use in OPTIONAL.items()},
        "models": _models(project),
        "offline_judge": offline_judge_report(),
        "keys": {name: bool(os.environ.get(name)) for name in KEYS},
        "terminal": {
            "stdout": "a terminal" if sys.stdout.isatty() else "not a terminal",
            "size": "{}x{}".format(*_terminal_size()),
            "encoding": sys.stdout.encoding,
            **{name: os.environ[name] for name in TERMINAL if name in os.environ},
        },
        "caches": {"folder": ".rag-audit", "bytes": _size(project / ".rag-audit")},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _models(project: Path) -> dict[str, str]:
    from rag_audit.config import load_settings

    try:
        settings = load_settings(project)
    except RagAuditError as error:
        return {"settings": f"{error} ({error.hint})"}
    return {key: settings.text(key) for key in ("embedder", "reranker", "generator", "judge.claims", "judge.scores")}


def _terminal_size() -> tuple[int, int]:
    size = shutil.get_terminal_size()
    return size.columns, size.lines


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else 0
