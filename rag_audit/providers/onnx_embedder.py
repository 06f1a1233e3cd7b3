"""An embedder from a local folder with `model.onnx` and `tokenizer.json`, as sentence-transformers models come."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_audit.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from rag_audit.providers.protocols import Vectors

_LONGEST = 512
"""Tokens of a text that count, where the tokenizer sets no limit of its own."""


class OnnxEmbedder:
    """Mean of the token vectors (or the sentence vector); one text at a time, so that neighbours change nothing."""

    def __init__(self, folder: Path) -> None:
        """Load the model; ConfigError where a file or onnxruntime is missing, ProviderError where it is unusable."""
        files = [folder / "model.onnx", folder / "tokenizer.json"]
        for file in files:
            if not file.is_file():
                raise ConfigError(
                    f"embedder: no file {file}", "Name a folder with model.onnx and tokenizer.json: onnx:FOLDER."
                )
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ConfigError(
                f"embedder: the package {error.name} is not installed", "Install rag-audit with the extra `onnx`."
            ) from error
        try:
            self._session = onnxruntime.InferenceSession(str(files[0]), providers=["CPUExecutionProvider"])
            self._tokenizer: Any = Tokenizer.from_file(str(files[1]))
        except Exception as error:
            raise ProviderError(f"the model in {folder} cannot be loaded: {error}", "Check its files.") from error
        self._tokenizer.no_padding()
        if self._tokenizer.truncation is None:
            self._tokenizer.enable_truncation(_LONGEST)
        self._inputs = {given.name for given in self._session.get_inputs()}
        digest = sha256()
        for file in files:
            digest.update(file.read_bytes())
        self.identity = f"onnx:{folder.name}@{digest.hexdigest()[:16]}"

    def embed_documents(self, texts: Sequence[str]) -> "Vectors":
        """One row a text, float32, unit length; zeros for a text without content."""
        import numpy

        rows = [self._embed(text) if text.strip() else None for text in texts]
        length = next((row.size for row in rows if row is not None), 1)
        empty = numpy.zeros(length, dtype=numpy.float32)
        vectors: Vectors = numpy.array([empty if row is None else row for row in rows], dtype=numpy.float32)
        return vectors.reshape(len(texts), length)

    def embed_query(self, text: str) -> "Vectors":
        """One vector, float32, unit length; zeros for a text without content."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def close(self) -> None:
        """There is no connection to release."""

    def _embed(self, text: str) -> "Vectors":
        import numpy

        encoded = self._tokenizer.encode(text)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        tensors = {
            name: numpy.array([values], dtype=numpy.int64) for name, values in given.items() if name in self._inputs
        }
        try:
            output = numpy.asarray(self._session.run(None, tensors)[0], dtype=numpy.float32)
        except Exception as error:
            raise ProviderError(f"{self.identity}: {error}", "Check that it is an embedding model.") from error
        if output.ndim == 3:
            output = output.mean(axis=1)
        if output.ndim != 2 or len(output) != 1:
            raise ProviderError(f"{self.identity}: no vector in its output", "Check that it is an embedding model.")
        vector: Vectors = output[0]
        length = float(numpy.linalg.norm(vector))
        if not numpy.isfinite(length) or length == 0:
            return numpy.zeros_like(vector)
        return vector / numpy.float32(length)
