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
from typing import Any, BinaryIO, NamedTuple

import orjson

from rag_audit.errors import HistoryError
from rag_audit.text.storable import storable_document

_OPEN = b'{"hash":"'
HASH_LENGTH = 64
BODY_AT = len(_OPEN) + HASH_LENGTH + 2
"""Where the sealed part of a line begins."""
_OPTIONS = orjson.OPT_NON_STR_KEYS
_BLOCK = 1 << 16


class Line(NamedTuple):
    """One line of a file with its place: `number` from 1, `offset` in bytes."""

    number: int
    offset: int
    data: bytes
    """Without the line end."""
    terminated: bool


def digest(data: bytes | memoryview) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def encode(document: Any) -> bytes:
    """Encode as JSON; lone surrogates become U+FFFD and whole numbers beyond 53 bits text, neither exists in JSON."""
    try:
        return orjson.dumps(document, _plain, _OPTIONS)
    except (TypeError, ValueError):
        return orjson.dumps(storable_document(document), _plain, _OPTIONS)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def seal(body: bytes) -> bytes:
    """Make a line (with its line end) of an encoded object; the rows of a big run are copied only once."""
    sealed = memoryview(body)[1:]
    return b"".join((_OPEN, digest(sealed).encode(), b'",', sealed, b"\n"))


def hash_of(line: bytes) -> str | None:
    """The hash that a line states; None if it is no sealed line."""
    if not line.startswith(_OPEN) or line[BODY_AT - 2 : BODY_AT] != b'",':
        return None
    return line[len(_OPEN) : BODY_AT - 2].decode("ascii", "replace")


def stated_hash(line: bytes) -> str:
    """The hash that a line of ours states."""
    return hash_of(line) or ""


def is_intact(line: bytes) -> bool:
    """Whether a line (without its line end) is what was written."""
    return hash_of(line) == digest(line[BODY_AT:])


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file of the history for reading; HistoryError if the system refuses."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        why = error.strerror or str(error)
        raise HistoryError(
            f"cannot read the history: {why}", "Make the file readable and run the command again.", where=str(path)
        ) from error


def read_at(handle: int, offset: int, length: int) -> bytes:
    """So many bytes from an offset on; nothing where a file that was tampered with names a place outside of it."""
    if offset >= 0 and length >= 0 and offset + length <= os.fstat(handle).st_size:
        return os.pread(handle, length, offset)
    return b""


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file in a stream; nothing if there is no such file."""
    if not path.exists():
        return
    with opened(path) as file:
        offset = 0
        for number, data in enumerate(file, start=1):
            terminated = data.endswith(b"\n")
            yield Line(number, offset, data[:-1] if terminated else data, terminated)
            offset += len(data)


def lines_backwards(path: Path) -> Iterator[Line]:
    """The lines of a file from its last one on, without reading what is before them; `number` is 0."""
    with opened(path) as file:
        start = file.seek(0, os.SEEK_END)
        tail, terminated, block = b"", False, _BLOCK
        while start > 0:
            start, end = max(0, start - block), start
            file.seek(start)
            tail = file.read(end - start) + tail
            block *= 2
            while (at := tail.rfind(b"\n", 0, len(tail) - 1)) >= 0 or (start == 0 and tail):
                terminated = tail.endswith(b"\n")
                yield Line(0, start + at + 1, tail[at + 1 : -1] if terminated else tail[at + 1 :], terminated)
                tail = tail[: at + 1]


def last_line(path: Path) -> Line | None:
    """The last line of a file, read from its end; `number` is 0. None if the file is empty."""
    return next(lines_backwards(path), None)


def sync_folder(folder: Path) -> None:
    """Make a new directory entry survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path, hint: str | None = None) -> Iterator[None]:
    """Turn what the system says while a file is written into a HistoryError with a hint."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        what = "the disk is full" if full else (error.strerror or str(error))
        first = "Make room" if full else "Make the folder writable"
        then = hint or "run the command again; all that was written before is kept"
        raise HistoryError(f"cannot write the history: {what}", f"{first}, then {then}.", where=str(path)) from error


def open_for_append(path: Path, *, new: bool = False) -> int:
    """Open a file for reading and appending, made where it is missing (`new`: FileExistsError where it is not).

    Directory entries that this creates are synced.
    """
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)
    mode = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
    if path.exists() and not new:
        return os.open(path, mode)
    handle = os.open(path, mode | os.O_CREAT | (os.O_EXCL if new else 0), 0o644)
    sync_folder(path.parent)
    return handle


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold a file open for appending with the lock that every writer of it takes; readers take none."""
    with writing(path):
        handle = open_for_append(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


@contextmanager
def settled(path: Path) -> Iterator[None]:
    """Keep the writers of a file out, what it holds synced; reading it is all the permission that this takes."""
    with opened(path) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        os.fsync(file.fileno())
        yield


def append(handle: int, data: bytes, *, sync: bool = True) -> int:
    """Append bytes and, unless the caller syncs later, sync them; returns the offset where they begin.

    What a failing disk took is undone.
    """
    start = os.lseek(handle, 0, os.SEEK_END)
    try:
        written = 0
        while written < len(data):
            written += os.write(handle, data[written:] if written else data)
        if sync:
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
