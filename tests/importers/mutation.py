"""Damaged results files: bytes cut, doubled and replaced; values of JSON exchanged for others."""

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from rag_audit.errors import InputError
from rag_audit.history.jsonl import encode
from rag_audit.importers.assemble import plan_run, results_of
from rag_audit.importers.mapping import parse_field_map
from rag_audit.importers.registry import read_file
from rag_audit.summary import SummaryBuilder
from tests.importers.samples import Sample

_ODD_BYTES = (
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b"[", b"{", b"]", b"}", b",", b";", b"\n", b"\r\n"),
    *(b"NaN", b"-Infinity", b"1e400", b"null", b"\\ud800", b"\\", b"\x1b[31m", b"0,5", b"['a' 'b']", b"[" * 3000),
)
_ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", " ", "nan", "['x', 'y']", "['cut", "\ud800", "MEAN", "yes", "1e9999", "attachment://x"]),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers()), max_size=3),
    st.dictionaries(st.sampled_from(["text", "value", ""]), st.one_of(st.none(), st.floats()), max_size=2),
    st.just([[[]]]),
)


@st.composite
def damaged(draw: st.DrawFn, sample: Sample) -> bytes:
    """The sample with one to four things wrong with it."""
    data = sample.data
    for _ in range(draw(st.integers(1, 4))):
        structured = draw(st.booleans())
        data = (_exchange(draw, data) if structured else None) or _cut(draw, data)
    return data


def _cut(draw: st.DrawFn, data: bytes) -> bytes:
    start = draw(st.integers(0, len(data)))
    end = draw(st.one_of(st.just(start), st.just(len(data)), st.integers(start, min(start + 40, len(data)))))
    return data[:start] + draw(st.sampled_from(_ODD_BYTES)) + data[end:]


def _exchange(draw: st.DrawFn, data: bytes) -> bytes | None:
    """Another value somewhere in a JSON document, a JSON line or a member of a zip; None where there is none."""
    if data.startswith(b"PK"):
        return _exchange_in_zip(draw, data)
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    for part in (data, lines[at]):
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        other: bytes = json.dumps(_with_other_value(draw, document)).encode()
        return other if part is data else b"\n".join([*lines[:at], other, *lines[at + 1 :]])
    return None


def _exchange_in_zip(draw: st.DrawFn, data: bytes) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, zlib.error):
        return None
    if not members:
        return None
    name = draw(st.sampled_from(sorted(members)))
    members[name] = _exchange(draw, members[name]) or b""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return out.getvalue()


def _with_other_value(draw: st.DrawFn, document: Any) -> Any:
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(document)
    if not places:
        return draw(_ODD_VALUES)
    holder, key = draw(st.sampled_from(places))
    if isinstance(holder, dict) and draw(st.integers(0, 4)) == 0:
        del holder[key]
    else:
        holder[key] = draw(_ODD_VALUES)
    return document


def check_import(path: Path, sample: Sample) -> str:
    """Read a file as an import would: a run whose counts balance and that can be stored, or a refusal with a reason."""
    try:
        runs = read_file(path, mapping=parse_field_map(sample.mapping))
        plans = [plan_run(run) for run in runs]
    except InputError as error:
        if not (error.message and error.hint):
            raise AssertionError("a refusal without a reason or a hint") from error
        return "refused"
    for run, plan in zip(runs, plans, strict=True):
        builder = SummaryBuilder(plan.shape.kinds)
        claims = 0
        for result in results_of(run, plan):
            encode(result)
            builder.add(result)
            claims += len(result.claim_judgment.claims) if result.claim_judgment else 0
            for name, score in result.scores.items():
                assert (score is None) == (name in result.missing)
        assert len(builder.rows) == len(plan.planned)
        assert len(builder.rows) + plan.left_out_rows == plan.file_rows
        assert len(set(plan.planned)) == len(plan.planned)
        assert claims == plan.claims
    return "opened"
