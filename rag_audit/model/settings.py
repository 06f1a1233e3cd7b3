"""Every setting in one table: its key, default, what it accepts and what it means.

`config.yml`, the environment (`RAG_AUDIT_RETRIEVER_TOP_K`) and `--set retriever.top_k=8` all use these keys; the
commented config that `init` writes and the reference in docs/ are generated from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SettingValue = str | int | float | bool | tuple[str, ...] | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: default, accepted values, and whether a different value makes a different measurement."""

    key: str
    default: SettingValue
    description: str
    kind: str = "text"
    """text | int | float | bool | list | map | optional (text or none)."""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    level: str = "project"
    """Lowest level that may set it: project | corpus | module."""


SETTINGS: tuple[Setting, ...] = (
    Setting("chunking.size", 800, "Longest chunk, in `chunking.unit`.", "int", low=50, high=100_000, level="module"),
    Setting(
        "chunking.overlap",
        100,
        "Characters (or tokens) a chunk repeats of the one before.",
        "int",
        low=0,
        level="module",
    ),
    Setting("chunking.unit", "chars", "What size and overlap count.", choices=("chars", "tokens"), level="module"),
    Setting("files", ("*.md", "*.txt", "*.rst", "*.py"), "File patterns that are sources.", "list", level="module"),
    Setting(
        "language", "en", "Language of the corpus: stop words and stems.", choices=("en", "de", "none"), level="corpus"
    ),
    Setting("title", None, "Shown instead of the name.", "optional", level="module"),
    Setting("doc_id", None, "A doc_id of its own for the module.", "optional", level="module"),
    Setting("embedder", "wordllama", "wordllama | onnx:FOLDER | cohere:MODEL | none.", level="corpus"),
    Setting("embedder.base_url", None, "Another address of the embedder's service.", "optional", level="corpus"),
    Setting("reranker", "none", "none | cohere:MODEL."),
    Setting("reranker.base_url", None, "Another address of the reranker's service.", "optional"),
    Setting("retriever.mode", "hybrid", "How chunks are found.", choices=("hybrid", "bm25", "vector", "off")),
    Setting("retriever.top_k", 5, "Chunks that go to the generator.", "int", low=1, high=200),
    Setting("retriever.candidates", 40, "Chunks each ranking contributes before fusion.", "int", low=1, high=4096),
    Setting("retriever.rrf_k", 60, "Constant of reciprocal rank fusion.", "int", low=1, high=10_000),
    Setting("retriever.bm25_k1", 0.6, "BM25: how much repeating a term still adds.", "float", low=0, high=10),
    Setting("retriever.bm25_b", 0.4, "BM25: how much long chunks are marked down.", "float", low=0, high=1),
    Setting(
        "retriever.vector_weight",
        0.3,
        "Weight of the ranking by meaning in the fusion; the ranking by terms weighs 1.",
        "float",
        low=0,
        high=10,
    ),
    Setting("routing.enabled", True, "Send each question to the corpus of its document.", "bool"),
    Setting(
        "routing.default_corpus", None, "Where everything goes without routing; default: first by name.", "optional"
    ),
    Setting(
        "routing.comparison_pattern",
        "builtin",
        "Questions that match are routed to every corpus: builtin (several languages) | off | a regular expression.",
    ),
    Setting("generator", "offline", "offline | anthropic:MODEL."),
    Setting("generator.base_url", None, "Another address of the generator's service.", "optional"),
    Setting("generator.max_tokens", 1024, "Longest answer, in tokens.", "int", low=1, high=200_000),
    Setting("generator.context_chars", 48_000, "Longest context in a prompt, in characters.", "int", low=500),
    Setting("judge.claims", "offline", "offline | anthropic:MODEL | none."),
    Setting("judge.scores", "offline", "offline | anthropic:MODEL | none."),
    Setting("judge.base_url", None, "Another address of the judge's service.", "optional"),
    Setting("judge.max_tokens", 4096, "Longest judgment, in tokens.", "int", low=64, high=200_000),
    Setting("judge.reference_chars", 12_000, "Longest reference part of the excerpt, in characters.", "int", low=500),
    Setting("judge.context_chars", 48_000, "Longest context part of the excerpt, in characters.", "int", low=500),
    Setting(
        "judge.repeats", 1, "Judgments per answer; the spread is the noise floor of a diff.", "int", low=1, high=100
    ),
    Setting("seed", 0, "Seed of everything random in a run.", "int", low=0),
    Setting("workers", 8, "Questions under way at a time.", "int", low=1, high=512),
    Setting("timeout_s", 120.0, "Seconds before one call to a service is given up.", "float", low=0.05, high=3600),
    Setting("retries", 6, "Attempts after the first that a call may take.", "int", low=0, high=100),
    Setting("max_wait_s", 120.0, "Longest wait for a rate limit, in seconds.", "float", low=0, high=3600),
    Setting(
        "diff.metrics",
        ("hit_at_1", "hit_at_k", "mrr", "keyword_coverage", "faithfulness", "completeness", "no_fabrication"),
        "Metrics a diff tests and a gate looks at; Holm's correction is over these.",
        "list",
    ),
    Setting(
        "diff.tolerance", 0.02, "Change of a metric, as a share of its range, that does not matter.", "float", low=0
    ),
    Setting("diff.tolerances", {}, "Metric to tolerance, where one differs from diff.tolerance.", "map"),
    Setting("diff.min_n", 1, "Fewest shared scored questions a gate accepts.", "int", low=1),
    Setting("audit.fraction", 0.1, "Share of the questions that a person checks.", "float", low=0.001, high=1),
    Setting("audit.stratify", "corpus", "How the sample is spread.", choices=("none", "corpus")),
    Setting("audit.target", ("claims",), "What reviewers decide: one or both.", "list", choices=("claims", "scores")),
    Setting("audit.reviewer", None, "Name of the reviewer.", "optional"),
    Setting("prices", {}, "Model to USD per million tokens: {input, cached_input, output, as_of}.", "map"),
    Setting(
        "redact",
        (),
        "Regular expressions replaced by ‹redacted› before a history is hashed or stored (imports: RAG_AUDIT_REDACT).",
        "list",
    ),
)

BY_KEY: Mapping[str, Setting] = {setting.key: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run, complete and validated.

    `corpora` holds what a folder below documents/ sets for itself: a corpus (`mss54`) or a module of it (`mss54/evt`),
    which inherits from its corpus.
    """

    values: Mapping[str, SettingValue] = field(default_factory=lambda: {s.key: s.default for s in SETTINGS})
    corpora: Mapping[str, Mapping[str, SettingValue]] = field(default_factory=dict)

    def _value(self, key: str, corpus: str | None) -> SettingValue:
        folder = corpus or ""
        while folder:
            own = self.corpora.get(folder, {})
            if key in own:
                return own[key]
            folder = folder.rpartition("/")[0]
        return self.values[key]

    def text(self, key: str, corpus: str | None = None) -> str:
        """A text setting."""
        return str(self._value(key, corpus))

    def optional(self, key: str, corpus: str | None = None) -> str | None:
        """A text setting that may be unset."""
        value = self._value(key, corpus)
        return None if value is None else str(value)

    def integer(self, key: str, corpus: str | None = None) -> int:
        """A whole number."""
        value = self._value(key, corpus)
        if not isinstance(value, int):
            raise TypeError(f"{key} is not a whole number: {value!r}")
        return value

    def number(self, key: str, corpus: str | None = None) -> float:
        """A number."""
        value = self._value(key, corpus)
        if not isinstance(value, int | float):
            raise TypeError(f"{key} is not a number: {value!r}")
        return float(value)

    def flag(self, key: str, corpus: str | None = None) -> bool:
        """A switch."""
        return bool(self._value(key, corpus))

    def items(self, key: str, corpus: str | None = None) -> tuple[str, ...]:
        """A list of texts."""
        value = self._value(key, corpus)
        return value if isinstance(value, tuple) else ()

    def mapping(self, key: str, corpus: str | None = None) -> Mapping[str, Any]:
        """A mapping."""
        value = self._value(key, corpus)
        return value if isinstance(value, Mapping) else {}
