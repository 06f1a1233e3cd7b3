import importlib.util
import shutil
from pathlib import Path

import numpy
import pytest

from rag_audit.corpus.documents import scan_documents
from rag_audit.corpus.retrieve import open_retriever
from rag_audit.errors import ConfigError, ProviderError
from rag_audit.providers.onnx_embedder import OnnxEmbedder
from tests.corpus.projects import asked, settings_of, to, two_corpora

TINY = Path(__file__).parent / "tiny_model"
"""Eight words of four dimensions, one Gather; token vectors are averaged."""

needs_onnxruntime = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed"
)


@needs_onnxruntime
def test_token_vectors_are_averaged_and_of_unit_length() -> None:
    embedder = OnnxEmbedder(TINY)
    vectors = embedder.embed_documents(["idle speed", " ", "Idle"])
    assert vectors.shape == (3, 4)
    assert numpy.allclose(numpy.linalg.norm(vectors, axis=1), [1, 0, 1])
    assert (embedder.embed_query("idle") == vectors[2]).all()
    assert (embedder.embed_documents(["valve " * 2_000])[0] == embedder.embed_query("valve " * 512)).all()
    assert embedder.identity.startswith("onnx:tiny_model@")


@needs_onnxruntime
def test_retrieval_with_a_local_model(tmp_path: Path) -> None:
    project = two_corpora(tmp_path)
    settings = settings_of(project, f"embedder=onnx:{TINY}", "retriever.mode=vector", "chunking.size=90")
    retriever = open_retriever(project, scan_documents(project, settings), settings)
    assert retriever.retrieve(asked("idle speed"), to("old"))[0].chunk.doc_id == "old/idle"
    assert retriever.context()["embedder"].startswith("onnx:tiny_model@")
    retriever.close()


@needs_onnxruntime
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_model_is_named(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(TINY, tmp_path / "model")
    (folder / name).write_bytes(b"damaged")
    with pytest.raises(ProviderError, match="cannot be loaded"):
        OnnxEmbedder(folder)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no file .*model\.onnx"):
        OnnxEmbedder(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is not None, reason="onnxruntime is installed")
def test_missing_package_is_named() -> None:
    with pytest.raises(ConfigError, match="onnxruntime is not installed"):
        OnnxEmbedder(TINY)
