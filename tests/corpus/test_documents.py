import os
from pathlib import Path

import pytest

from rag_audit.corpus.documents import Documents, scan_documents
from rag_audit.errors import InputError
from tests.corpus.projects import settings_of, two_corpora, write_files


def scan(project: Path) -> Documents:
    return scan_documents(project, settings_of(project))


def refused(project: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        scan(project)
    return caught.value


def test_paths_without_suffix_are_the_doc_ids(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "documents/a/deep/er/x.y.md": "text",
        "documents/a/b.txt": "text",
        "documents/a/picture.png": b"\xff",
        "documents/a/.hidden/c.md": "text",
        "documents/a/.d.md": "text",
        "documents/readme.md": "text",
    }
    documents = scan(write_files(tmp_path, files))
    assert [document.doc_id for document in documents.corpora["a"]] == ["a/b", "a/deep/er/x.y"]
    assert [str(warning) for warning in documents.warnings] == ["documents/readme.md: not in a corpus folder, ignored"]


def test_text_keeps_line_ends_and_offsets(tmp_path: Path) -> None:
    content = "\ufeff# Grüße\r\n\r\nzweite Zeile\u2028noch eine\n"
    documents = scan(write_files(tmp_path, {"documents/a/b.md": content}))
    assert documents.text("a/b") == content


def test_module_folder_with_a_doc_id_is_one_document(tmp_path: Path) -> None:
    files = {
        "documents/a/evt/config.yml": "doc_id: a/valves\ntitle: Valve timing\n",
        "documents/a/evt/one.md": "# One\n",
        "documents/a/evt/two.md": "# Two\n",
        "documents/a/other.md": "# Other\n",
    }
    documents = scan(write_files(tmp_path, files))
    valves = documents.get("a/valves")
    assert valves is not None
    assert (valves.title, valves.path, len(valves.files)) == ("Valve timing", "documents/a/evt", 2)
    assert documents.text("a/valves") == "# One\n# Two\n"
    assert documents.get("a/evt/one") is None


def test_patterns_decide_what_is_a_source(tmp_path: Path) -> None:
    files = {
        "documents/config.yml": "files: ['*.tex']\n",
        "documents/b/config.yml": "files: ['sub/*.md']\n",
        "documents/a/x.tex": "t",
        "documents/a/x.md": "t",
        "documents/b/sub/y.md": "t",
        "documents/b/y.md": "t",
    }
    documents = scan(write_files(tmp_path, files))
    assert set(documents.by_id) == {"a/x", "b/sub/y"}


@pytest.mark.parametrize(
    ("files", "where", "problem"),
    [
        ({"questions.yml": ""}, "documents", "no documents/ folder"),
        ({"documents/x.md": "t"}, "documents", "no corpus"),
        ({"documents/a/x.md": "t", "documents/a/x.txt": "t"}, "documents/a/x.txt", "documents/a/x.md"),
        (
            {"documents/a/x.md": "t", "documents/b/m/config.yml": "doc_id: a/x", "documents/b/m/y.md": "t"},
            "documents/b/m/y.md",
            "belongs to two files: documents/a/x.md and documents/b/m/y.md",
        ),
        ({"documents/a/x.md": b"one\ntwo\nK\xe4lte\n"}, "documents/a/x.md:3", "not UTF-8 (byte 0xe4)"),
    ],
)
def test_unusable_documents_are_refused(
    tmp_path: Path, files: dict[str, str | bytes], where: str, problem: str
) -> None:
    error = refused(write_files(tmp_path, files))
    assert error.where == where
    assert problem in error.message


@pytest.mark.parametrize("link", ["documents/a/link.md", "documents/a/folder", "documents/linked"])
def test_links_out_of_the_project_are_refused(tmp_path: Path, link: str) -> None:
    outside = write_files(tmp_path / "outside", {"secret.md": "secret"})
    project = write_files(tmp_path / "project", {"documents/a/x.md": "t"})
    (project / link).symlink_to(outside / "secret.md" if link.endswith(".md") else outside)
    error = refused(project)
    assert (error.where, error.message) == (link, "leads outside the project")


def test_links_in_circles_end(tmp_path: Path) -> None:
    project = write_files(tmp_path, {"documents/a/x.md": "t"})
    (project / "documents/a/again").symlink_to(project / "documents/a")
    assert set(scan(project).by_id) == {"a/x"}


def test_empty_documents_are_warnings(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "documents/a/e.md": " \n\n",
        "documents/a/f.md": "+++\ntitle = 'x'\n+++\n\n",
        "documents/b/x.pdf": b"",
    }
    documents = scan(write_files(tmp_path, files))
    assert [document.empty for document in documents.corpora["a"]] == [True, True]
    assert [str(warning) for warning in documents.warnings] == [
        "documents/a/e.md: no text",
        "documents/a/f.md: no text",
        "documents/b: no file matches *.md, *.txt, *.rst, *.py",
    ]


def test_fingerprint_follows_content_alone(tmp_path: Path) -> None:
    before = scan(two_corpora(tmp_path / "one"))
    same = scan(two_corpora(tmp_path / "two"))
    other = scan(two_corpora(tmp_path / "three", **{"documents/old/more.md": "more"}))
    assert before.fingerprint("old") == same.fingerprint("old")
    assert before.fingerprint("old") != other.fingerprint("old")
    assert before.fingerprint("new") == other.fingerprint("new")


def test_file_that_changes_after_the_scan_is_noticed(tmp_path: Path) -> None:
    documents = scan(two_corpora(tmp_path))
    write_files(tmp_path, {"documents/old/idle.md": "another text"})
    with pytest.raises(InputError, match="has changed since"):
        documents.text("old/idle")


@pytest.mark.parametrize(
    ("wanted", "first"), [("old/idel", "old/idle"), ("new/idle.md", "new/idle"), ("idle", "old/idle")]
)
def test_nearest_doc_ids(tmp_path: Path, wanted: str, first: str) -> None:
    assert scan(two_corpora(tmp_path)).nearest(wanted)[0] == first


def test_config_that_leads_outside_is_refused(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"config.yml": "workers: 3\n"})
    project = write_files(tmp_path / "project", {"documents/a/x.md": "t"})
    (project / "documents/config.yml").symlink_to(outside / "config.yml")
    with pytest.raises(InputError, match="leads outside the project"):
        settings_of(project)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    os.mkfifo(project / "documents" / "old" / "pipe.md")
    with pytest.raises(InputError, match="is no file") as caught:
        scan_documents(project, settings_of(project))
    assert caught.value.where == "documents/old/pipe.md"


def test_a_name_that_is_no_text_is_refused_where_it_matters(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    (project / "documents" / "old" / "picture\udcff.png").touch()
    scan(project)
    (project / "documents" / "old" / "page\udcff.md").write_text("# Page", encoding="utf-8")
    assert "not UTF-8" in refused(project).message
