import multiprocessing
import resource
import stat
from pathlib import Path

import pytest

from rag_audit.corpus.documents import Documents, scan_documents
from rag_audit.corpus.index import IndexReport
from rag_audit.corpus.retrieve import open_retriever, refresh_indexes
from rag_audit.errors import InputError
from tests.corpus.projects import asked, settings_of, to, two_corpora, write_files


def scan(project: Path) -> Documents:
    return scan_documents(project, settings_of(project))


def refresh(project: Path, *overrides: str) -> dict[str, IndexReport]:
    settings = settings_of(project, *overrides)
    return {report.corpus: report for report in refresh_indexes(scan_documents(project, settings), settings)}


def index_files(project: Path, corpus: str) -> list[Path]:
    return sorted((project / ".rag-audit" / "indexes").glob(f"{corpus}-*/*.sqlite"))


def test_first_build_and_nothing_to_do(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    assert refresh(project)["old"] == IndexReport("old", 1, 1, 1, 0, 0, 1, None)
    assert refresh(project)["old"] == IndexReport("old", 1, 1, 0, 0, 0, 0, None)


def test_only_what_changed_is_embedded_again(tmp_path: Path) -> None:
    project = two_corpora(tmp_path, **{"documents/old/a.md": "first", "documents/old/b.md": "second"})
    refresh(project)
    write_files(project, {"documents/old/a.md": "another first", "documents/old/c.md": "third"})
    (project / "documents/old/b.md").unlink()
    reports = refresh(project)
    assert reports["old"] == IndexReport("old", 3, 3, 1, 1, 1, 2, None)
    assert reports["new"].embedded == 0


def test_vectors_that_were_kept_give_the_same_file_as_new_ones(tmp_path: Path) -> None:
    one = two_corpora(tmp_path / "one", **{"documents/old/a.md": "first"})
    refresh(one)
    write_files(one, {"documents/old/a.md": "second"})
    refresh(one)
    two = two_corpora(tmp_path / "two", **{"documents/old/a.md": "second"})
    refresh(two)
    (fresh,) = index_files(two, "old")
    kept = next(path for path in index_files(one, "old") if path.name == fresh.name)
    assert kept.read_bytes() == fresh.read_bytes()


@pytest.mark.parametrize(
    ("override", "changed"),
    [
        ("chunking.size=60", "chunking changed"),
        ("chunking.unit=tokens", "chunking changed"),
        ("language=de", "language changed"),
        ("embedder=none", "embedder changed"),
    ],
)
def test_every_setting_that_shapes_it_gives_another_index(tmp_path: Path, override: str, changed: str) -> None:
    project = two_corpora(tmp_path)
    refresh(project)
    assert refresh(project, override)["old"].rebuilt == changed
    assert refresh(project)["old"].rebuilt is None
    assert len(index_files(project, "old")) == 2


def test_module_chunking_and_titles_shape_it_too(tmp_path: Path) -> None:
    project = two_corpora(tmp_path, **{"documents/old/m/x.md": "word " * 100})
    before = refresh(project)["old"].chunks
    write_files(project, {"documents/old/m/config.yml": "chunking: {size: 50, overlap: 0}\n"})
    report = refresh(project)["old"]
    assert report.rebuilt == "modules changed"
    assert report.chunks > before


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "the index file is damaged"),
        (lambda path: path.write_bytes(b"not a database"), "the index file is damaged"),
        (lambda path: path.unlink(), "the index file is gone"),
        (lambda path: path.with_suffix(".json").write_text("{"), "the index file has no valid receipt"),
        (lambda path: path.with_suffix(".json").unlink(), "the index file has no valid receipt"),
    ],
)
def test_damaged_cache_is_built_again_with_the_reason(tmp_path: Path, damage: object, reason: str) -> None:
    project = two_corpora(tmp_path)
    refresh(project)
    (path,) = index_files(project, "old")
    whole = path.read_bytes()
    assert callable(damage)
    damage(path)
    report = refresh(project)["old"]
    assert (report.rebuilt, report.chunks) == (reason, 1)
    assert path.read_bytes() == whole
    assert refresh(project)["old"].rebuilt is None


def test_one_flipped_byte_is_noticed(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    refresh(project)
    (path,) = index_files(project, "old")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert refresh(project)["old"].rebuilt == "the index file is damaged"


def test_cache_is_the_owners_alone(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    refresh(project)
    assert stat.S_IMODE((project / ".rag-audit").stat().st_mode) == 0o700


def test_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    (project / ".rag-audit").write_text("a file in the way")
    with pytest.raises(InputError, match="the cache cannot be written"):
        refresh(project)


def test_a_disk_that_is_full_is_an_error_and_leaves_no_draft(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        with pytest.raises(InputError, match="the cache cannot be written") as caught:
            refresh(project)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "Make room" in caught.value.hint
    assert [path.name for path in (project / ".rag-audit").rglob("*") if path.is_file()] == [".lock"]
    assert refresh(project)["old"].added > 0


def test_chunks_are_verbatim_in_their_files(tmp_path: Path) -> None:
    text = "\ufeff# Grüße\r\n\r\n" + "Zeile mit Wörtern.\r\n" * 60
    project = two_corpora(tmp_path, **{"documents/old/crlf.md": text})
    documents, settings = scan(project), settings_of(project, "retriever.top_k=50")
    retrieved = open_retriever(project, documents, settings).retrieve(asked("Zeile"), to("old"))
    assert len(retrieved) > 2
    for found in retrieved:
        start = found.chunk.start or 0
        assert documents.text(found.chunk.doc_id)[start : start + len(found.chunk.text)] == found.chunk.text


def test_old_indexes_are_dropped(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    for size in range(100, 112):
        refresh(project, f"chunking.size={size}", "embedder=none")
    assert len(index_files(project, "old")) == 8
    assert not list((project / ".rag-audit").rglob("*.tmp"))


def _refresh_in_process(project: Path, size: int) -> tuple[int, str | None]:
    report = refresh(project, f"chunking.size={size}", "embedder=none")["old"]
    return report.chunks, report.rebuilt


def test_processes_may_build_at_the_same_time(tmp_path: Path) -> None:
    project = two_corpora(tmp_path, **{"documents/old/long.md": "A sentence about valves. " * 400})
    jobs = [(project, size) for size in (100, 200) for _ in range(2)]
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        built = pool.starmap(_refresh_in_process, jobs)
    assert len({chunks for chunks, _ in built[:2]}) == len({chunks for chunks, _ in built[2:]}) == 1
    assert all(refresh(project, f"chunking.size={size}", "embedder=none")["old"].rebuilt is None for size in (100, 200))
    assert len(index_files(project, "old")) == 2
