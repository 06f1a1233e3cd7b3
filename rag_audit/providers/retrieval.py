"""Opens the embedder and the reranker that the settings name; each is imported only when it is used."""

from pathlib import Path

from rag_audit.errors import ConfigError
from rag_audit.model.settings import Settings
from rag_audit.providers.cohere_api import CohereEmbedder, CohereReranker, CohereService, open_cohere
from rag_audit.providers.protocols import Embedder, OnWait, Reranker

_COHERE = "cohere:"
_ONNX = "onnx:"


def open_embedder(settings: Settings, corpus: str, on_wait: OnWait) -> Embedder | None:
    """The embedder of a corpus; None for `none`. ConfigError for an unknown name or a missing key."""
    name = settings.text("embedder", corpus)
    if name == "none":
        return None
    if name == "wordllama":
        from rag_audit.providers.offline.embedder import WordllamaEmbedder

        return WordllamaEmbedder()
    if name.startswith(_ONNX) and name != _ONNX:
        from rag_audit.providers.onnx_embedder import OnnxEmbedder

        return OnnxEmbedder(Path(name.removeprefix(_ONNX)).expanduser())
    if name.startswith(_COHERE) and name != _COHERE:
        service = _cohere(settings, settings.optional("embedder.base_url", corpus), on_wait)
        return CohereEmbedder(service, name.removeprefix(_COHERE))
    raise ConfigError(f"embedder: no such model {name!r}", "It takes wordllama, onnx:FOLDER, cohere:MODEL or none.")


def open_reranker(settings: Settings, on_wait: OnWait) -> Reranker | None:
    """The reranker; None for `none`. ConfigError for an unknown name or a missing key."""
    name = settings.text("reranker")
    if name == "none":
        return None
    if name.startswith(_COHERE) and name != _COHERE:
        return CohereReranker(
            _cohere(settings, settings.optional("reranker.base_url"), on_wait), name.removeprefix(_COHERE)
        )
    raise ConfigError(f"reranker: no such model {name!r}", "It takes cohere:MODEL or none.")


def _cohere(settings: Settings, base_url: str | None, on_wait: OnWait) -> CohereService:
    return open_cohere(
        base_url=base_url,
        timeout_s=settings.number("timeout_s"),
        retries=settings.integer("retries"),
        max_wait_s=settings.number("max_wait_s"),
        on_wait=on_wait,
    )
