"""Prompts are part of the measurement: files with an id, and a hash that goes into every run's context."""

from functools import lru_cache
from hashlib import sha256
from importlib.resources import files


@lru_cache
def hash_of_files(*names: str) -> str:
    """A short hash over files of the package (`judging/lexical.py`), for rule sets that are code."""
    digest = sha256()
    for name in names:
        digest.update(files("rag_audit").joinpath(name).read_bytes())
    return digest.hexdigest()[:12]
