"""Zip archives that mean harm, or are damaged: refused with a reason, never unpacked."""

import io
import struct
import zipfile
from pathlib import Path

import pytest
import zstandard

from rag_audit.errors import InputError
from rag_audit.importers.archive import open_archive, read_member
from tests.importers.reading import read_path, read_sample
from tests.importers.samples import SAMPLES

HEADER = b'{"version": 2, "status": "success", "eval": {"model": "m", "task": "t"}}'
SAMPLE = b'{"id": 1, "epoch": 1, "input": "q", "scores": {"m": {"value": "C"}}}'


def _write(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        read_path(path)
    return refused.value.message


def test_a_bomb_is_refused_unopened(tmp_path: Path) -> None:
    path = _write(tmp_path / "bomb.eval", {"header.json": HEADER, "samples/1_epoch_1.json": b" " * 30_000_000})
    assert "a zip bomb" in _refusal(path)


@pytest.mark.parametrize("name", ["../header.json", "/etc/passwd", "a/../../b", "C:\\x", "..\\..\\x"])
def test_names_that_lead_outside_are_refused(name: str, tmp_path: Path) -> None:
    path = _write(tmp_path / "outside.eval", {"header.json": HEADER, name: b"x"})
    assert "leads outside" in _refusal(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_run_is_read_from_its_journal(tmp_path: Path) -> None:
    path = _write(tmp_path / "killed.eval", {"_journal/start.json": HEADER, "samples/1_epoch_1.json": SAMPLE})
    (read,) = read_path(path)
    assert read.run.unfinished == "Inspect says started: 1 samples"
    assert read.values("inspect.m") == [1]


def test_samples_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    members = {f"samples/{at}_epoch_1.json": SAMPLE.replace(b'"id": 1', f'"id": {at}'.encode()) for at in (10, 9, 2)}
    (read,) = read_path(_write(tmp_path / "many.eval", {"header.json": HEADER, **members}))
    assert [question_id for question_id, _ in read.plan.planned] == ["2", "9", "10"]


def test_a_spreadsheet_is_refused_with_the_way_to_import_it(tmp_path: Path) -> None:
    path = _write(tmp_path / "results.xlsx", {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b""})
    with pytest.raises(InputError) as refused:
        read_path(path)
    assert "Save the sheet as CSV" in refused.value.hint


def test_a_damaged_member_is_left_out_by_name(tmp_path: Path) -> None:
    members = {"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE, "samples/2_epoch_1.json": SAMPLE}
    path = _write(tmp_path / "damaged.eval", members, zipfile.ZIP_STORED)
    data = path.read_bytes()
    at = data.index(SAMPLE)
    path.write_bytes(data[:at] + b"X" + data[at + 1 :])
    (read,) = read_path(path)
    assert len(read.results) == 1
    assert read.plan.file_rows == 2
    assert "samples/1_epoch_1.json is damaged" in read.plan.left_out[0].reason


def test_an_archive_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes(SAMPLES["inspect-eval"].data[:-40])
    assert "cut off" in _refusal(path)


def _zstd_archive(path: Path, stated_size: int | None = None) -> Path:
    """Python 3.11 cannot write zstd members: pack them, store them, and name the method in both headers."""
    packed = {
        name: zstandard.ZstdCompressor().compress(data)
        for name, data in (("header.json", HEADER), ("samples/1_epoch_1.json", SAMPLE))
    }
    sizes = {"header.json": len(HEADER), "samples/1_epoch_1.json": stated_size or len(SAMPLE)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in packed.items():
            archive.writestr(name, data)
    raw = bytearray(out.getvalue())
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for member in archive.infolist():
            struct.pack_into("<H", raw, member.header_offset + 8, 93)
    at = raw.index(b"PK\x01\x02")
    for name in packed:
        struct.pack_into("<H", raw, at + 10, 93)
        struct.pack_into("<I", raw, at + 24, sizes[name])
        at = raw.find(b"PK\x01\x02", at + 4)
    path.write_bytes(raw)
    return path


def test_zstd_members_are_read(tmp_path: Path) -> None:
    (read,) = read_path(_zstd_archive(tmp_path / "zstd.eval"))
    assert read.values("inspect.m") == [1]


def test_without_a_decoder_the_member_and_the_extra_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(InputError) as refused:
        read_path(_zstd_archive(tmp_path / "zstd.eval"))
    assert "header.json is packed with zstd" in refused.value.message
    assert "rag-audit[zstd]" in refused.value.hint


def test_a_member_that_lies_about_its_size_is_left_out(tmp_path: Path) -> None:
    path = _zstd_archive(tmp_path / "zstd.eval", stated_size=5)
    with open_archive(path) as archive, pytest.raises(InputError) as refused:
        read_member(archive, "samples/1_epoch_1.json")
    assert "its size is not what the archive states" in refused.value.message


def test_the_same_log_packed_or_not_is_the_same_run(tmp_path: Path) -> None:
    (packed,) = read_sample(tmp_path, SAMPLES["inspect-eval"])
    (unpacked,) = read_sample(tmp_path, SAMPLES["inspect-json"])
    assert packed.plan.content == unpacked.plan.content
