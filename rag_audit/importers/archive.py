"""Reading members of a zip without unpacking it: sizes are bounded, names stay inside, zstd is optional."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_audit.errors import InputError
from rag_audit.importers.values import clean

LARGEST_MEMBER = 256 << 20
"""Bytes of one member when unpacked."""
LARGEST_TOTAL = 8 << 30
_SUSPICIOUS = 1000
"""Unpacked to packed size from which a large member is taken for a bomb."""
_ZSTD = 93
_LOCAL_HEADER = 30


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip for reading; refuses names that lead outside, encrypted members and bombs."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive, path)
            yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        raise InputError(f"a damaged zip archive: {error}", "Copy the log again.", where=clean(str(path))) from None


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    total = 0
    for member in archive.infolist():
        parts = member.filename.replace("\\", "/").split("/")
        total += member.file_size
        if ".." in parts or parts[0] == "" or ":" in parts[0]:
            raise _unsafe(path, f"a member's name leads outside: {clean(member.filename)}")
        if member.flag_bits & 1:
            raise _unsafe(path, f"{clean(member.filename)} is encrypted")
        bomb = member.file_size > (1 << 20) and member.file_size > _SUSPICIOUS * max(member.compress_size, 1)
        if member.file_size > LARGEST_MEMBER or total > LARGEST_TOTAL or bomb:
            raise _unsafe(path, f"{clean(member.filename)} unpacks to {member.file_size:,} bytes: a zip bomb")


def _unsafe(path: Path, why: str) -> InputError:
    return InputError(why, "Only import logs that you made or trust.", where=clean(str(path)))


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One member's bytes; an InputError names a member that is damaged or packed with an unknown method."""
    member = archive.getinfo(name)
    try:
        if member.compress_type == _ZSTD:
            return _unpack_zstd(archive, member)
        return archive.read(member)
    except NotImplementedError:
        why = f"{clean(name)} is packed with method {member.compress_type}, which is not read"
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        why = f"{clean(name)} is damaged: {error}"
    except Exception as error:
        if type(error).__module__ != "zlib":
            raise
        why = f"{clean(name)} is damaged: {error}"
    raise InputError(why, "Copy the log again.")


def _unpack_zstd(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise InputError(
            f"{clean(member.filename)} is packed with zstd, for which no decoder is installed",
            "Install it: pip install 'rag-audit[zstd]'.",
        ) from None
    packed = _packed_bytes(archive, member)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            data = reader.read(member.file_size + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(data) != member.file_size:
        raise ValueError("its size is not what the archive states")
    return data


def _packed_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member as it lies in the file: behind its local header, whose two fields have lengths of their own."""
    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) != _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise ValueError("no local header")
    name_length, extra_length = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    file.seek(name_length + extra_length, 1)
    return file.read(member.compress_size)
