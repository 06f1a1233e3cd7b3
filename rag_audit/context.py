"""The context of a run: everything that can move a number, taken from the settings and the parts in use."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rag_audit import __version__
from rag_audit.fingerprint import fingerprint
from rag_audit.model import Question, RunContext
from rag_audit.model.settings import SETTINGS, Settings
from rag_audit.summary import question_hash

_HAS_ITS_OWN_FIELD = ("chunking.", "retriever.")
_HAS_ITS_OWN_KEY = frozenset(
    {"embedder", "reranker", "generator", "judge.claims", "judge.scores", "seed", "workers"}
    | {"routing.enabled", "routing.default_corpus"}
)
_OF_JUDGING = {"judge.base_url", "judge.max_tokens", "judge.repeats"}
_MOVES_NO_NUMBER = ("timeout_s", "retries", "max_wait_s", "prices", "diff.", "audit.", "title", "doc_id")


def questions_hash(questions: Sequence[Question]) -> str:
    """Identify a question set by what was asked, whatever its order in the file."""
    return fingerprint(sorted(f"{question.id} {question_hash(question)}" for question in questions))


def run_context(
    settings: Settings,
    questions: Sequence[Question],
    *,
    retrieval: Mapping[str, Any],
    default_corpus: str | None,
    routing_table: str,
    prompts: Mapping[str, str],
) -> RunContext:
    """Describe a run before its first question.

    `retrieval` is what the retriever says of itself (embedder identity, corpora with fingerprints); `routing_table` is
    the fingerprint of the table that questions are routed by; `prompts` maps generator, claims and scores to the hash
    of the prompt or rule set in use.
    """
    return RunContext(
        generator=settings.text("generator"),
        embedder=str(retrieval["embedder"]),
        reranker=settings.text("reranker"),
        judges={"claims": settings.text("judge.claims"), "scores": settings.text("judge.scores")},
        prompts=prompts,
        chunking=_group(settings, "chunking."),
        retriever=_group(settings, "retriever."),
        routing={
            "enabled": settings.flag("routing.enabled"),
            "default_corpus": default_corpus,
            "table": routing_table,
        },
        questions_hash=questions_hash(questions),
        corpora=retrieval["corpora"],
        seed=settings.integer("seed"),
        workers=settings.integer("workers"),
        version=__version__,
        settings=_remaining(settings),
    )


def _group(settings: Settings, prefix: str) -> dict[str, Any]:
    """The settings below one prefix, with what single corpora set for themselves beside them."""
    group: dict[str, Any] = {
        key.removeprefix(prefix): value for key, value in settings.values.items() if key.startswith(prefix)
    }
    for corpus, own in sorted(settings.corpora.items()):
        different = {key.removeprefix(prefix): value for key, value in own.items() if key.startswith(prefix)}
        if different:
            group.setdefault("corpora", {})[corpus] = different
    return group


def _remaining(settings: Settings) -> dict[str, Any]:
    """Every further setting that can move a number, by its key."""
    kept = {}
    for setting in SETTINGS:
        if setting.key in _HAS_ITS_OWN_KEY or setting.key.startswith(_HAS_ITS_OWN_FIELD + _MOVES_NO_NUMBER):
            continue
        value = settings.values[setting.key]
        kept[setting.key] = _without_credentials(str(value)) if setting.key.endswith("base_url") and value else value
        for corpus, own in sorted(settings.corpora.items()):
            if setting.key in own:
                kept[f"{corpus}:{setting.key}"] = own[setting.key]
    return kept


def judging_settings(settings: Settings) -> dict[str, Any]:
    """What judging archived answers again takes from the settings; their excerpts stay as they are."""
    return {key: value for key, value in _remaining(settings).items() if key in _OF_JUDGING}


def _without_credentials(url: str) -> str:
    """An address without the user, password and query that may carry a key."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))


def flatten(context: RunContext) -> dict[str, Any]:
    """The context as dotted keys, for listing what differs between two runs."""
    flat: dict[str, Any] = {}
    for name in RunContext.__dataclass_fields__:
        _flatten_into(flat, "" if name == "settings" else name, getattr(context, name))
    return flat


def _flatten_into(flat: dict[str, Any], key: str, value: Any) -> None:
    if isinstance(value, Mapping) and value:
        for inner, below in value.items():
            _flatten_into(flat, f"{key}.{inner}" if key else str(inner), below)
    elif not isinstance(value, Mapping):
        flat[key] = value
