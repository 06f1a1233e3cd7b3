"""The embedder that needs no network: wordllama's static vectors, whose weights come with the package."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_audit.errors import ProviderError

if TYPE_CHECKING:
    from rag_audit.providers.protocols import Vectors

_DIMENSIONS = 256
_BATCH_CHARACTERS = 200_000


class WordllamaEmbedder:
    """Averaged static word vectors (256 dimensions, MIT); fast, and blind to the order of words."""

    def __init__(self) -> None:
        self._model = _load_model()
        self.identity = f"wordllama:l2_supercat:{_DIMENSIONS}@{version('wordllama')}"

    def embed_documents(self, texts: Sequence[str]) -> "Vectors":
        """One row a text, float32, unit length; zeros for a text without content."""
        import numpy

        vectors = numpy.zeros((len(texts), _DIMENSIONS), dtype=numpy.float32)
        batch: list[int] = []
        longest = 0
        for at, text in enumerate(texts):
            if not text.strip():
                continue
            longest = max(longest, len(text))
            if batch and longest * (len(batch) + 1) > _BATCH_CHARACTERS:
                vectors[batch] = self._embed([texts[one] for one in batch])
                batch, longest = [], len(text)
            batch.append(at)
        if batch:
            vectors[batch] = self._embed([texts[one] for one in batch])
        return vectors

    def embed_query(self, text: str) -> "Vectors":
        """One vector, float32, unit length; zeros for a text without content."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def close(self) -> None:
        """There is no connection to release."""

    def _embed(self, texts: list[str]) -> "Vectors":
        import numpy

        raw = numpy.asarray(self._model.embed(texts, norm=False), dtype=numpy.float32)
        lengths = numpy.linalg.norm(raw, axis=1, keepdims=True)
        usable = numpy.isfinite(raw).all(axis=1, keepdims=True) & (lengths > 0)
        units: Vectors = numpy.divide(raw, lengths, out=numpy.zeros_like(raw), where=usable)
        return units


@lru_cache(maxsize=1)
def _load_model() -> Any:
    """Load the model from its own package, never from the network, and leave the logging of the process as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        import wordllama

        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except Exception as error:
        raise ProviderError(
            f"the offline embedder cannot be loaded: {error}",
            "Install the package wordllama again, or set retriever.mode to bm25.",
        ) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
