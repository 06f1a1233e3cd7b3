"""Reading YAML that a person wrote: every value keeps its line and its exact text; bombs, tags and doubles are refused.

Scalars are not guessed: a field that holds text gets `no`, `007` or `12:30` as written, a field that holds a number
parses it. Aliases and merge keys (`<<`) stand for what they name, up to a bound on what they add. Tags and several
documents in a file have no use here and are refused by name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_audit.errors import ConfigError

_DEPTH = 32
_ALIASED_VALUES = 100_000
_ALIASED_CHARACTERS = 10_000_000
"""What all aliases of a file may add: plenty for shared fields, far too little for a bomb."""
_MERGE = "<<"
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
    reader = _Reader(events, shown)
    document: Node | None = None
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _refused(event, shown, "a second document (`---`)", "Keep one document in the file.")
        elif isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent | yaml.AliasEvent):
            document = reader.read(event, 0)
    return None if isinstance(document, Scalar) and document.is_null else document


class _Reader:
    """Reads the values of one document; knows its anchors and how much their aliases may still add."""

    def __init__(self, events: Iterator[Any], shown: str) -> None:
        self._events = events
        self._shown = shown
        self._anchored: dict[str, Node] = {}
        self._values_left = _ALIASED_VALUES
        self._characters_left = _ALIASED_CHARACTERS

    def read(self, event: Any, depth: int) -> Node:
        """The value that begins with an event."""
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event, depth)
        if event.tag is not None and event.tag != "!":
            raise self._refused(event, f"the tag {event.tag}", "Remove it; plain text, numbers and lists are enough.")
        if depth > _DEPTH:
            raise self._refused(event, f"nesting deeper than {_DEPTH} levels", "Flatten it.")
        line = event.start_mark.line + 1
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(_LONE_SURROGATES.sub("\ufffd", event.value), line, plain=not event.style)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(line, depth)
        else:
            node = self._mapping(line, depth)
        if event.anchor:
            self._anchored[event.anchor] = node
        return node

    def _sequence(self, line: int, depth: int) -> Sequence:
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self.read(event, depth + 1))
        return Sequence(tuple(items), line)

    def _mapping(self, line: int, depth: int) -> Mapping:
        entries: dict[str, Node] = {}
        key_lines: dict[str, int] = {}
        merged: Node | None = None
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self.read(event, depth + 1)
            if not isinstance(key, Scalar):
                raise self._refused(event, "a key that is a list or a mapping", "Keys are plain words.")
            if key.text in key_lines:
                raise ConfigError(
                    f"the key {key.text!r} is there twice (first in line {key_lines[key.text]})",
                    "Keep one of them.",
                    where=f"{self._shown}:{key.line}",
                )
            key_lines[key.text] = key.line
            value = self.read(next(self._events), depth + 1)
            if key.text == _MERGE and key.plain:
                merged = value
            else:
                entries[key.text] = value
        if merged is not None:
            self._merge(merged, entries, key_lines)
        return Mapping(entries, key_lines, line)

    def _merge(self, merged: Node, entries: dict[str, Node], key_lines: dict[str, int]) -> None:
        """Add the entries of `<<: *name`, or of a list of those, for keys that are not there; the first one wins."""
        line = key_lines.pop(_MERGE)
        for source in merged.items if isinstance(merged, Sequence) else (merged,):
            if not isinstance(source, Mapping):
                raise ConfigError(
                    f"`<<` must name a mapping, not {kind_of(source)}",
                    "Write `<<: *name`, where &name marks a mapping.",
                    where=f"{self._shown}:{line}",
                )
            for name, value in source.entries.items():
                if name not in entries:
                    entries[name] = value
                    key_lines[name] = source.key_lines[name]

    def _aliased(self, event: Any, depth: int) -> Node:
        """What an alias stands for; charged for its whole size, so that aliases of aliases cannot multiply."""
        node = self._anchored.get(event.anchor)
        if node is None:
            hint = f"Mark a value before it with &{event.anchor}, or quote the text."
            raise ConfigError(f"the alias *{event.anchor} names nothing", hint, where=self._place(event))
        waiting = [(node, depth)]
        while waiting:
            inner, level = waiting.pop()
            if level > _DEPTH:
                raise self._refused(event, f"nesting deeper than {_DEPTH} levels", "Flatten it.")
            self._values_left -= 1
            if isinstance(inner, Scalar):
                self._characters_left -= len(inner.text)
            else:
                below = inner.items if isinstance(inner, Sequence) else inner.entries.values()
                waiting += [(value, level + 1) for value in below]
            if self._values_left < 0 or self._characters_left < 0:
                raise self._refused(event, "so much text by aliases", "Write the values out.")
        return node

    def _refused(self, event: Any, what: str, hint: str) -> ConfigError:
        return _refused(event, self._shown, what, hint)

    def _place(self, event: Any) -> str:
        return f"{self._shown}:{event.start_mark.line + 1}"


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
    """A whole number in decimal; None if it is none, or more than the 64 bits that JSON keeps."""
    value = int(text) if _INTEGER.fullmatch(text.strip()) and len(text) < 400 else None
    return value if value is not None and abs(value) < 2**63 else None


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
