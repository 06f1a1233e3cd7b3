"""Settings: the defaults, documents/**/config.yml, the environment and --set, merged and validated.

Later sources win: default, documents/config.yml, a corpus's and then a module's config.yml, `RAG_AUDIT_*`, `--set`. The
last two are for one run and win over every file. Every error names the file and line, and the nearest known key.
"""

import difflib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rag_audit import yamlfile
from rag_audit.config.values import PATTERNS, read_value
from rag_audit.errors import ConfigError
from rag_audit.folders import check_inside, walk_folders
from rag_audit.model.settings import BY_KEY, SETTINGS, Setting, Settings, SettingValue

CONFIG_FILE = "config.yml"
_ENVIRONMENT_PREFIX = "RAG_AUDIT_"
_OTHER_VARIABLES = frozenset({"RAG_AUDIT_PROJECT", "RAG_AUDIT_REVIEWER", "RAG_AUDIT_CASES"})
_LEVELS = ("project", "corpus", "module")


def load_settings(project: Path, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> Settings:
    """Load the settings of a project; `overrides` are `key=value` texts as given to --set.

    A project without documents/ has the defaults. Raises ConfigError with `file:line` for anything that is not
    understood: a wrong value must not quietly become a default.
    """
    values: dict[str, SettingValue] = {setting.key: setting.default for setting in SETTINGS}
    project_keys: set[str] = set()
    corpora: dict[str, dict[str, SettingValue]] = {}
    for folder, path in _config_files(project):
        shown = path.relative_to(project).as_posix()
        own = _read_config(path, shown, level=_LEVELS[min(len(folder.split("/")) if folder else 0, 2)])
        if folder:
            corpora[folder] = own
        else:
            values.update(own)
            project_keys.update(own)
    once = {**_from_environment(os.environ if environ is None else environ), **_from_overrides(overrides)}
    values.update(once)
    chosen = {key for own in (*corpora.values(), once) for key in own} | project_keys
    for own in corpora.values():
        for key in once:
            own.pop(key, None)
    settings = _fit_overlap(Settings(values, corpora), chosen)
    _check_together(settings)
    return settings


def redact_of_environment(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The patterns of RAG_AUDIT_REDACT alone: for an import, which reads nothing below documents/."""
    setting = BY_KEY["redact"]
    variable = variable_of(setting.key)
    text = (os.environ if environ is None else environ).get(variable)
    value = read_value(setting, _written(setting, text, variable), variable) if text else ()
    return value if isinstance(value, tuple) else ()


def _config_files(project: Path) -> Iterator[tuple[str, Path]]:
    """Every config.yml below documents/ with its folder (`` for the project's own), parents before children."""
    documents = project / "documents"
    for root, _ in walk_folders(documents, project):
        path = root / CONFIG_FILE
        if path.is_file():
            check_inside(path, project)
            folder = root.relative_to(documents).as_posix()
            yield ("" if folder == "." else folder), path


def _read_config(path: Path, shown: str, level: str) -> dict[str, SettingValue]:
    node = yamlfile.read_yaml(path, shown)
    if node is None:
        return {}
    if not isinstance(node, yamlfile.Mapping):
        raise ConfigError("not a mapping of settings", "Write `key: value` lines.", where=f"{shown}:{node.line}")
    own: dict[str, SettingValue] = {}
    for key, value, line in _flatten(node, ""):
        where = f"{shown}:{line}"
        setting = _known(key, where)
        if key in own:
            raise ConfigError(f"{key} is set twice", "Keep one of them.", where=where)
        if _LEVELS.index(level) > _LEVELS.index(setting.level):
            raise ConfigError(
                f"{key} cannot be set for a {level}",
                "Move it to documents/config.yml."
                if setting.level == "project"
                else "Move it to the config.yml of its corpus.",
                where=where,
            )
        if key == "doc_id" and level != "module":
            raise ConfigError(
                "doc_id belongs to one module", "Move it to documents/<corpus>/<module>/config.yml.", where=where
            )
        own[key] = read_value(setting, value, f"{shown}:{value.line}")
    return own


def _flatten(node: yamlfile.Mapping, prefix: str) -> Iterator[tuple[str, yamlfile.Node, int]]:
    """Dotted key, value and line of every setting; `generator: {name: …}` is `generator: …`."""
    for name, value in node.entries.items():
        key = f"{prefix}{name}"
        line = node.key_lines[name]
        if name == "name" and prefix and prefix[:-1] in BY_KEY:
            yield prefix[:-1], value, line
        elif isinstance(value, yamlfile.Mapping) and not _is_map(key):
            yield from _flatten(value, f"{key}.")
        elif isinstance(value, yamlfile.Scalar) and value.is_null and key not in BY_KEY and _is_section(key):
            continue
        else:
            yield key, value, line


def _is_map(key: str) -> bool:
    return key in BY_KEY and BY_KEY[key].kind == "map"


def _is_section(key: str) -> bool:
    return any(known.startswith(f"{key}.") for known in BY_KEY)


def _known(key: str, where: str) -> Setting:
    if key in BY_KEY:
        return BY_KEY[key]
    if _is_section(key):
        members = ", ".join(known for known in BY_KEY if known.startswith(f"{key}."))
        raise ConfigError(f"{key} is a group of settings", f"Set one of {members}.", where=where)
    raise ConfigError(f"unknown setting {key}", _did_you_mean(key), where=where)


def _did_you_mean(key: str) -> str:
    near = difflib.get_close_matches(key, BY_KEY, n=1, cutoff=0.6)
    if not near:
        last = key.rpartition(".")[2]
        near = [known for known in BY_KEY if known.rpartition(".")[2] == last][:1]
    return f"Did you mean {near[0]}?" if near else "docs/settings.md lists every setting."


def _from_environment(environ: Mapping[str, str]) -> dict[str, SettingValue]:
    by_variable = {variable_of(key): setting for key, setting in BY_KEY.items() if key != "doc_id"}
    found: dict[str, SettingValue] = {}
    for variable in sorted(environ):
        if not variable.startswith(_ENVIRONMENT_PREFIX) or variable in _OTHER_VARIABLES or not environ[variable]:
            continue
        if variable in by_variable:
            setting = by_variable[variable]
            found[setting.key] = read_value(setting, _written(setting, environ[variable], variable), variable)
        elif near := difflib.get_close_matches(variable, by_variable, n=1, cutoff=0.85):
            raise ConfigError("unknown setting in the environment", f"Did you mean {near[0]}?", where=variable)
    return found


def variable_of(key: str) -> str:
    """The environment variable of a setting: `retriever.top_k` is RAG_AUDIT_RETRIEVER_TOP_K."""
    return _ENVIRONMENT_PREFIX + key.replace(".", "_").upper()


def _from_overrides(overrides: Sequence[str]) -> dict[str, SettingValue]:
    found: dict[str, SettingValue] = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        key = key.strip()
        where = f"--set {key}"
        if not equals:
            raise ConfigError("no value", "Write --set key=value.", where=where)
        if key in ("doc_id", "title"):
            raise ConfigError(f"{key} belongs in a config.yml", "Set it in documents/<corpus>/config.yml.", where=where)
        setting = _known(key, where)
        found[key] = read_value(setting, _written(setting, text, where), where)
    return found


def _written(setting: Setting, text: str, where: str) -> yamlfile.Node:
    """What one line of text stands for: lists may be written `a, b` or `[a, b]`, maps `{a: 1}`."""
    text = text.strip()
    if setting.kind == "map" or (setting.key in PATTERNS and text.startswith("[")):
        return yamlfile.parse_yaml(text, where) or yamlfile.Mapping({}, {}, 1)
    if setting.kind == "list":
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        items = [text] if setting.key in PATTERNS else [item.strip(" \"'") for item in inner.split(",")]
        return yamlfile.Sequence(tuple(yamlfile.Scalar(item, 1, plain=False) for item in items if item), 1)
    return yamlfile.Scalar(text, 1)


def _fit_overlap(settings: Settings, chosen: Collection[str]) -> Settings:
    """Where none was chosen and the default is too much for the size of the chunks: an eighth of them."""
    size = settings.integer("chunking.size")
    if "chunking.overlap" in chosen or settings.integer("chunking.overlap") * 2 < size:
        return settings
    return replace(settings, values={**settings.values, "chunking.overlap": size // 8})


def _check_together(settings: Settings) -> None:
    """Settings that only make sense together."""
    for folder in ("", *settings.corpora):
        size, overlap = settings.integer("chunking.size", folder), settings.integer("chunking.overlap", folder)
        if overlap >= size:
            where = f"documents/{folder}/{CONFIG_FILE}" if folder else f"documents/{CONFIG_FILE}"
            raise ConfigError(
                f"chunking.overlap ({overlap}) is not smaller than chunking.size ({size})",
                "Set chunking.overlap to less than half of chunking.size.",
                where=where,
            )
