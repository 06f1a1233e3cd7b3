"""The settings table as text: the commented config of a new project, and the reference in docs/."""

import re
from collections.abc import Mapping

from rag_audit.config.values import KINDS
from rag_audit.model.settings import SETTINGS, Setting

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")
"""Texts that YAML takes as they are."""


def config_template() -> str:
    """The documents/config.yml that `init` writes: every setting with its default, commented out."""
    lines = [
        "# Settings of this project. Every line is optional and shows the default.",
        "# A corpus (documents/<corpus>/config.yml) may set those marked [corpus], a module those marked [module].",
    ]
    for setting in SETTINGS:
        if setting.key in ("doc_id", "title"):
            continue
        mark = "" if setting.level == "project" else f" [{setting.level}]"
        lines += ["", f"# {setting.description}{_limits(setting)}{mark}", f"# {setting.key}: {_default_text(setting)}"]
    return "\n".join(lines) + "\n"


def settings_reference() -> str:
    """docs/settings.md: every setting in one table, generated from the same source as the config and its checks."""
    lines = [
        "# Settings",
        "",
        "Set in `documents/config.yml` (nested or dotted keys), in `documents/<corpus>/config.yml` or a module's",
        "`documents/<corpus>/<module>/config.yml`, by an environment variable (`RAG_AUDIT_RETRIEVER_TOP_K`), or for",
        "one run with `--set retriever.top_k=8`; later ones win. *Level* is the lowest folder that may set it.",
        "Made by `scripts/reference.py`.",
        "",
        "| setting | default | takes | level | meaning |",
        "|---|---|---|---|---|",
    ]
    for setting in SETTINGS:
        cells = (
            f"`{setting.key}`",
            f"`{_default_text(setting)}`",
            _limits(setting).strip(" ()") or KINDS[setting.kind][0],
            setting.level,
            setting.description,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _limits(setting: Setting) -> str:
    if setting.choices:
        return f" ({', '.join(setting.choices)})"
    if setting.high is not None and setting.low is not None:
        return f" ({setting.low:g} to {setting.high:g})"
    return f" ({setting.low:g} or more)" if setting.low is not None else ""


def _default_text(setting: Setting) -> str:
    """The default as YAML on one line."""
    value = setting.default
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{}"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "''") + "'"
