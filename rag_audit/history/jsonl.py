"""Sealed JSON lines: one record a line, each with the hash of itself, appended under a lock and synced.

A line is `{"hash":"<sha256 of what follows>",...}`. Files only ever grow; a record that a crash tore off at the end is
moved to a file beside it before the next append, so that it is neither fused with the next record nor lost.
"""

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from rag_audit.errors import HistoryError

_OPEN = b'{"hash":"'
HASH_LENGTH = 64
BODY_AT = len(_OPEN) + HASH_LENGTH + 2
"""Where the sealed part of a line begins."""
_OPTIONS = orjson.OPT_NON_STR_KEYS
_BIGGEST = 2**53


class Line(NamedTuple):
    """One line of a file with its place: `number` from 1, `offset` in bytes."""

    number: int
    offset: int
    data: bytes
    """Without the line end."""
    terminated: bool


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def encode(document: Any) -> bytes:
    """Encode as JSON; lone surrogates become U+FFFD and whole numbers beyond 64 bits text, neither exists in JSON."""
    try:
        return orjson.dumps(document, _plain, _OPTIONS)
    except (TypeError, ValueError):
        return orjson.dumps(_clean(orjson_tree(document)), _plain, _OPTIONS)


def orjson_tree(document: Any) -> Any:
    """A record as plain dicts and lists."""
    from dataclasses import asdict, is_dataclass

    return asdict(document) if is_dataclass(document) and not isinstance(document, type) else document


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_clean(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(orjson_tree(item)) for item in value]
    if isinstance(value, int) and abs(value) > _BIGGEST:
        return str(value)
    return value


def seal(body: bytes) -> bytes:
    """Make a line (with its line end) of an encoded object."""
    sealed = body[1:]
    return _OPEN + digest(sealed).encode() + b'",' + sealed + b"\n"


def hash_of(line: bytes) -> str | None:
    """The hash that a line states; None if it is no sealed line."""
    if not line.startswith(_OPEN) or line[BODY_AT - 2 : BODY_AT] != b'",':
        return None
    return line[len(_OPEN) : BODY_AT - 2].decode("ascii", "replace")


def is_intact(line: bytes) -> bool:
    """Whether a line (without its line end) is what was written."""
    return hash_of(line) == digest(line[BODY_AT:])


def read_lines(path: Path, start: int = 0) -> Iterator[Line]:
    """The lines of a file from a byte offset on, in a stream; nothing if there is no such file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        offset = start
        for number, data in enumerate(file, start=1):
            terminated = data.endswith(b"\n")
            yield Line(number, offset, data[:-1] if terminated else data, terminated)
            offset += len(data)


def last_line(path: Path) -> Line | None:
    """The last line of a file, read from its end; `number` is 0. None if the file is empty."""
    block = 1 << 16
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size == 0:
            return None
        tail = b""
        start = size
        while start > 0 and b"\n" not in tail[:-1]:
            start = max(0, start - block)
            block *= 4
            file.seek(start)
            tail = file.read(size - start)
    at = tail[:-1].rfind(b"\n") + 1
    terminated = tail.endswith(b"\n")
    return Line(0, start + at, tail[at:-1] if terminated else tail[at:], terminated)


def sync_folder(folder: Path) -> None:
    """Make a new directory entry survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def said_as_history_error(path: Path, hint: str | None = None) -> Iterator[None]:
    """Turn what the operating system says of a file into a HistoryError with a hint."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        what = "the disk is full" if full else (error.strerror or str(error))
        advice = "Make room and run the command again" if full else "Make the folder writable and run the command again"
        raise HistoryError(
            f"cannot write the history: {what}", hint or f"{advice}; all that was finished is kept.", where=str(path)
        ) from error


def open_for_append(path: Path) -> int:
    """Open a file for reading and appending; a new file's directory entries are synced."""
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        sync_folder(path.parent)
        return handle


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold a file open for appending with the lock that every writer of it takes; readers take none."""
    with said_as_history_error(path):
        handle = open_for_append(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


def append(handle: int, data: bytes) -> int:
    """Append bytes and sync them; returns the offset where they begin. What a failing disk took is undone."""
    start = os.lseek(handle, 0, os.SEEK_END)
    try:
        written = 0
        while written < len(data):
            written += os.write(handle, data[written:] if written else data)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, start)
        raise
    return start


def mend_tail(handle: int, path: Path, is_good: Callable[[bytes], bool] = is_intact) -> Path | None:
    """Make the file end with a line end before an append; returns the side file if a torn record was set aside.

    A last record that is whole but lacks its line end gets one. A torn one is copied to `<file>.torn-<offset>`, synced,
    and then cut off.
    """
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0 or os.pread(handle, 1, size - 1) == b"\n":
        return None
    last = last_line(path)
    if last is None:
        return None
    if is_good(last.data):
        append(handle, b"\n")
        return None
    side = _write_beside(path, last.offset, last.data)
    os.ftruncate(handle, last.offset)
    os.fsync(handle)
    return side


def _write_beside(path: Path, offset: int, torn: bytes) -> Path:
    attempt = 1
    while True:
        side = path.with_name(f"{path.name}.torn-{offset}" + (f"-{attempt}" if attempt > 1 else ""))
        try:
            handle = os.open(side, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            if side.read_bytes() == torn:
                return side
            attempt += 1
            continue
        try:
            append(handle, torn)
        finally:
            os.close(handle)
        sync_folder(path.parent)
        return side
