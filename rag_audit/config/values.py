"""Turning what a person wrote for a setting into a value of the right kind and within its limits."""

import difflib
import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from rag_audit import yamlfile
from rag_audit.errors import ConfigError
from rag_audit.metrics import METRICS
from rag_audit.model.settings import Setting, SettingValue

_OF_METRICS = frozenset({"diff.metrics", "diff.tolerances"})
PATTERNS = frozenset({"routing.comparison_pattern", "redact"})
"""The settings that hold regular expressions."""


def read_value(setting: Setting, node: yamlfile.Node, where: str) -> SettingValue:
    """The value of a setting, of the right kind and within its limits."""
    wanted, read = KINDS[setting.kind]
    value = read(setting, node)
    if value is None and not (setting.kind == "optional" and _is_none(node)):
        got = repr(node.text) if isinstance(node, yamlfile.Scalar) and not node.is_null else yamlfile.kind_of(node)
        raise ConfigError(f"{setting.key} must be {wanted}, not {got}", _accepted(setting), where=where)
    for chosen in (value if isinstance(value, tuple) else (value,)) if setting.choices else ():
        if chosen not in setting.choices:
            near = difflib.get_close_matches(str(chosen), setting.choices, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise ConfigError(f"{setting.key} cannot be {chosen!r}", f"{hint}{_accepted(setting)}", where=where)
    if isinstance(value, int | float) and not isinstance(value, bool):
        below = setting.low is not None and value < setting.low
        above = setting.high is not None and value > setting.high
        if below or above:
            raise ConfigError(f"{setting.key} is out of range: {value}", _accepted(setting), where=where)
    if setting.key in PATTERNS:
        _check_patterns(setting.key, value, where)
    if setting.key.endswith("base_url") and isinstance(value, str):
        _check_address(setting.key, value, where)
    if setting.key in _OF_METRICS:
        _check_metrics(setting.key, value, where)
    return value


def _text(_: Setting, node: yamlfile.Node) -> str | None:
    return node.text if isinstance(node, yamlfile.Scalar) and not node.is_null and node.text.strip() else None


def _is_none(node: yamlfile.Node) -> bool:
    return isinstance(node, yamlfile.Scalar) and (node.is_null or node.text.strip().lower() in ("", "none"))


def _optional(setting: Setting, node: yamlfile.Node) -> str | None:
    return None if _is_none(node) else _text(setting, node)


def _integer(_: Setting, node: yamlfile.Node) -> int | None:
    return yamlfile.as_integer(node.text) if isinstance(node, yamlfile.Scalar) else None


def _float(_: Setting, node: yamlfile.Node) -> float | None:
    return yamlfile.as_number(node.text) if isinstance(node, yamlfile.Scalar) else None


def _boolean(_: Setting, node: yamlfile.Node) -> bool | None:
    return yamlfile.as_boolean(node.text) if isinstance(node, yamlfile.Scalar) else None


def _list(setting: Setting, node: yamlfile.Node) -> tuple[str, ...] | None:
    if not isinstance(node, yamlfile.Sequence):
        return None
    texts = [_text(setting, item) for item in node.items]
    return None if None in texts else tuple(text for text in texts if text is not None)


def _map(_: Setting, node: yamlfile.Node) -> Mapping[str, object] | None:
    return yamlfile.plain_value(node) if isinstance(node, yamlfile.Mapping) else None


KINDS: Mapping[str, tuple[str, Callable[[Setting, yamlfile.Node], SettingValue]]] = {
    "text": ("text", _text),
    "optional": ("text or none", _optional),
    "int": ("a whole number", _integer),
    "float": ("a number", _float),
    "bool": ("true or false", _boolean),
    "list": ("a list of texts", _list),
    "map": ("a mapping", _map),
}


def _accepted(setting: Setting) -> str:
    """What a setting takes, as a hint."""
    if setting.choices:
        return f"It takes {', '.join(setting.choices)}."
    if setting.low is not None and setting.high is not None:
        return f"It takes {setting.low:g} to {setting.high:g}."
    if setting.low is not None:
        return f"It takes {setting.low:g} or more."
    return setting.description


def _check_address(key: str, address: str, where: str) -> None:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:  # The address itself may carry a key.
        raise ConfigError(f"{key} is no address of a service", "Write http://HOST:PORT or https://HOST.", where=where)


def _check_metrics(key: str, value: SettingValue, where: str) -> None:
    """Names are own metrics or `<tool>.<name>`: a gate must not pass because a name was mistyped."""
    for name in value if isinstance(value, tuple | Mapping) else ():
        if name not in METRICS and "." not in name:
            near = difflib.get_close_matches(name, METRICS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(METRICS)}, or a tool's <tool>.<name>."
            raise ConfigError(f"{key}: there is no metric {name}", hint, where=where)
    for name, share in value.items() if isinstance(value, Mapping) else ():
        if isinstance(share, bool) or not isinstance(share, int | float) or share < 0:
            raise ConfigError(
                f"{key}: {name} must be a number, 0 or more, not {share!r}", "Write {metric: 0.02}.", where=where
            )


def _check_patterns(key: str, value: SettingValue, where: str) -> None:
    for pattern in value if isinstance(value, tuple) else (str(value),):
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ConfigError(
                f"{key} is not a regular expression: {error}", "Check the brackets and backslashes.", where=where
            ) from None
