"""Reading YAML that a person wrote: every value keeps its line and its exact text; bombs, tags and doubles are refused.

Scalars are not guessed: a field that holds text gets `no`, `007` or `12:30` as written, a field that holds a number
parses it. Anchors, aliases, tags and several documents in a file have no use here and are refused by name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_audit.errors import ConfigError

_DEPTH = 32
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NULL = frozenset({"", "~", "null"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value: its text as written, and whether it was written plain (without quotes)."""

    text: str
    line: int
    plain: bool = True

    @property
    def is_null(self) -> bool:
        """Whether it stands for no value."""
        return self.plain and self.text.lower() in _NULL


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple["Node", ...]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys to values, in the order of the file."""

    entries: dict[str, "Node"]
    key_lines: dict[str, int]
    line: int


Node = Scalar | Sequence | Mapping
"""A value of a YAML file; `line` is 1-based."""


def read_text(path: Path, shown: str) -> str:
    """Read a file as UTF-8 (`shown` is its name in errors); raises ConfigError with the line of the first bad byte."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror or error}", "Check the file and its permissions.", where=shown
        ) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"not UTF-8 (byte 0x{data[error.start]:02x})", "Save the file as UTF-8.", where=f"{shown}:{line}"
        ) from error


def read_yaml(path: Path, shown: str) -> Node | None:
    """Read a YAML file; None if it holds nothing. Raises ConfigError with `shown:line`."""
    return parse_yaml(read_text(path, shown), shown)


def parse_yaml(text: str, shown: str) -> Node | None:
    """Parse one YAML document; None if it holds nothing. Raises ConfigError with `shown:line`."""
    text = text.removeprefix("\ufeff")
    try:
        return _read_document(yaml.parse(text, Loader=_LOADER), shown)
    except yaml.MarkedYAMLError as error:
        if (joined := _SURROGATE_PAIR.sub(_joined_pair, text)) != text:
            return parse_yaml(joined, shown)
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.problem, error.context) if part)
        where = f"{shown}:{mark.line + 1}" if mark else shown
        raise ConfigError(
            f"not valid YAML: {problem}", "Check the indentation and quotes there.", where=where
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"not valid YAML: the character U+{_code_point(error.character):04X} is not allowed",
            "Remove the control character, or write it as an escape in double quotes.",
            where=f"{shown}:{line}",
        ) from None


def _joined_pair(escapes: re.Match[str]) -> str:
    """The character that JSON writes as two escapes, which YAML does not know."""
    high, low = int(escapes[1], 16) - 0xD800, int(escapes[2], 16) - 0xDC00
    return chr(0x10000 + high * 0x400 + low)


def _code_point(character: Any) -> int:
    return character if isinstance(character, int) else ord(character)


def _read_document(events: Iterator[Any], shown: str) -> Node | None:
    document: Node | None = None
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _refused(event, shown, "a second document (`---`)", "Keep one document in the file.")
        elif isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent | yaml.AliasEvent):
            document = _read_node(event, events, shown, 0)
    return None if isinstance(document, Scalar) and document.is_null else document


def _read_node(event: Any, events: Iterator[Any], shown: str, depth: int) -> Node:
    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent):
        raise _refused(event, shown, f"the alias *{event.anchor}", "Write the value out; aliases are not used here.")
    if event.anchor:
        raise _refused(event, shown, f"the anchor &{event.anchor}", "Write values out; anchors are not used here.")
    if event.tag is not None and event.tag != "!":
        raise _refused(
            event, shown, f"the tag {event.tag}", "Remove the tag; plain text, numbers and lists are enough."
        )
    if depth > _DEPTH:
        raise _refused(event, shown, f"nesting deeper than {_DEPTH} levels", "Flatten it.")
    if isinstance(event, yaml.ScalarEvent):
        return Scalar(_LONE_SURROGATES.sub("\ufffd", event.value), line, plain=not event.style)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Node] = []
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            items.append(_read_node(inner, events, shown, depth + 1))
        return Sequence(tuple(items), line)
    entries: dict[str, Node] = {}
    key_lines: dict[str, int] = {}
    while not isinstance(inner := next(events), yaml.MappingEndEvent):
        key = _read_node(inner, events, shown, depth + 1)
        if not isinstance(key, Scalar):
            raise _refused(inner, shown, "a key that is a list or a mapping", "Keys are plain words.")
        if key.text in entries:
            raise ConfigError(
                f"the key {key.text!r} is there twice (first in line {key_lines[key.text]})",
                "Keep one of them.",
                where=f"{shown}:{key.line}",
            )
        key_lines[key.text] = key.line
        entries[key.text] = _read_node(next(events), events, shown, depth + 1)
    return Mapping(entries, key_lines, line)


def _refused(event: Any, shown: str, what: str, hint: str) -> ConfigError:
    return ConfigError(f"{what} is not allowed", hint, where=f"{shown}:{event.start_mark.line + 1}")


def kind_of(node: Node) -> str:
    """What a value is, in words for an error message."""
    if isinstance(node, Scalar):
        return "empty" if node.is_null else "text"
    return "a list" if isinstance(node, Sequence) else "a mapping"


def as_boolean(text: str) -> bool | None:
    """True or False as a person writes it; None if it is neither."""
    lowered = text.strip().lower()
    return True if lowered in _TRUE else False if lowered in _FALSE else None


def as_integer(text: str) -> int | None:
    """A whole number in decimal; None if it is none."""
    return int(text) if _INTEGER.fullmatch(text.strip()) and len(text) < 400 else None


def as_number(text: str) -> float | None:
    """A finite decimal number; None if it is none."""
    if not _NUMBER.fullmatch(text.strip()):
        return None
    value = float(text)
    return value if abs(value) != float("inf") else None


def plain_value(node: Node) -> Any:
    """The value as plain Python data, for the few settings of free form: null, booleans and numbers are recognised."""
    if isinstance(node, Sequence):
        return [plain_value(item) for item in node.items]
    if isinstance(node, Mapping):
        return {key: plain_value(value) for key, value in node.entries.items()}
    if not node.plain:
        return node.text
    if node.is_null:
        return None
    for reading in (as_boolean(node.text), as_integer(node.text), as_number(node.text)):
        if reading is not None:
            return reading
    return node.text
