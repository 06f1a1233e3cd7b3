"""Prompts are part of the measurement: files with an id, and a hash that goes into every run's context."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from rag_audit.model import Passage, RetrievedChunk

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TAG = re.compile(r"</?(?:passages|source|answer|question|claims|reference-answer|context|chunk)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of the package: the constant part first, so that a service can cache it, then a form to fill in."""

    id: str
    system: str
    user: str
    hash: str

    def filled(self, parts: Mapping[str, str]) -> str:
        """The user's part with every place filled in, in one pass: what is filled in is never read as a place."""
        return _PLACE.sub(lambda place: parts[place[1]], self.user)


@lru_cache
def load_prompt(name: str) -> Prompt:
    """A prompt by its id, which is the name of its file."""
    text = files("rag_audit.judging").joinpath("prompt_texts", f"{name}.txt").read_text("utf-8")
    system, separator, user = text.partition("=== user ===\n")
    if not separator:
        system, user = "", text
    return Prompt(name, system.strip(), user.strip(), sha256(text.encode()).hexdigest()[:12])


@lru_cache
def hash_of_files(*names: str) -> str:
    """A short hash over files of the package (`judging/answers.py`), for rule sets that are code."""
    digest = sha256()
    for name in names:
        digest.update(files("rag_audit").joinpath(name).read_bytes())
    return digest.hexdigest()[:12]


def joint_hash(*prompts: Prompt) -> str:
    """One hash for prompts that work together; that of a single prompt is its own."""
    if len(prompts) == 1:
        return prompts[0].hash
    return sha256(" ".join(prompt.hash for prompt in prompts).encode()).hexdigest()[:12]


def fenced(text: str) -> str:
    """Untrusted text as data: it cannot close the fence it stands in, nor open another."""
    return _TAG.sub(lambda tag: tag.group().replace("<", "‹"), text)


def fenced_chunks(chunks: Sequence[RetrievedChunk]) -> str:
    """Retrieved chunks with number, document and headings; `(none)` where there is none."""
    return (
        "\n\n".join(
            f"[{item.rank}] {_title(item.chunk.doc_id, item.chunk.heading)}\n{fenced(item.chunk.text)}"
            for item in chunks
        )
        or "(none)"
    )


def fenced_passages(passages: Sequence[Passage]) -> str:
    """Passages of an excerpt with document and headings; `(none)` where there is none."""
    return (
        "\n\n".join(
            f"## {_title(passage.doc_id or 'passage', passage.heading)}\n{fenced(passage.text)}" for passage in passages
        )
        or "(none)"
    )


def fenced_context(context: str | None) -> str:
    """The text that comes with a question, such as a traceback; nothing where there is none."""
    return f"<context>\n{fenced(context)}\n</context>\n" if context else ""


def _title(doc_id: str, heading: Sequence[str]) -> str:
    return fenced(" › ".join((doc_id, *heading)))
