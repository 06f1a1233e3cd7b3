from pathlib import Path

import pytest

from rag_audit.config import config_template, load_settings, settings_reference, variable_of
from rag_audit.errors import ConfigError
from rag_audit.model.settings import BY_KEY, SETTINGS
from tests.corpus.projects import write_files

ROOT = Path(__file__).parents[2]


def refused(project: Path, *overrides: str, environ: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(project, overrides, environ or {})
    return caught.value


def config(folder: Path, text: str, where: str = "documents/config.yml") -> Path:
    return write_files(folder, {where: text})


def test_project_without_documents_has_the_defaults(tmp_path: Path) -> None:
    assert dict(load_settings(tmp_path, (), {}).values) == {setting.key: setting.default for setting in SETTINGS}


def test_nested_and_dotted_keys_are_the_same(tmp_path: Path) -> None:
    nested = load_settings(config(tmp_path / "a", "retriever:\n  top_k: 9\n  mode: bm25\n"), (), {})
    dotted = load_settings(config(tmp_path / "b", "retriever.top_k: 9\nretriever.mode: bm25\n"), (), {})
    assert nested == dotted
    assert (nested.integer("retriever.top_k"), nested.text("retriever.mode")) == (9, "bm25")


def test_generator_is_a_name_or_a_mapping_with_a_name(tmp_path: Path) -> None:
    text = "generator:\n  name: anthropic:claude-haiku-5-5\n  base_url: http://localhost:1\n"
    settings = load_settings(config(tmp_path, text), (), {})
    assert settings.text("generator") == "anthropic:claude-haiku-5-5"
    assert settings.optional("generator.base_url") == "http://localhost:1"


def test_later_sources_win(tmp_path: Path) -> None:
    config(tmp_path, "chunking.size: 500\nworkers: 2\nseed: 3\n")
    config(tmp_path, "chunking.size: 600\n", "documents/old/config.yml")
    config(tmp_path, "chunking.size: 700\n", "documents/old/evt/config.yml")
    settings = load_settings(tmp_path, (), {"RAG_AUDIT_WORKERS": "4"})
    sizes = [settings.integer("chunking.size", folder) for folder in ("", "new", "old", "old/idle", "old/evt")]
    assert sizes == [500, 500, 600, 600, 700]
    assert (settings.integer("workers"), settings.integer("seed")) == (4, 3)
    once = load_settings(tmp_path, ["chunking.size=900", "workers=5"], {"RAG_AUDIT_WORKERS": "4"})
    assert [once.integer("chunking.size", folder) for folder in ("", "old", "old/evt")] == [900, 900, 900]
    assert once.integer("workers") == 5


def test_lists_and_maps_on_one_line(tmp_path: Path) -> None:
    settings = load_settings(
        tmp_path, ["diff.metrics=hit_at_1, mrr", "files=[*.md, *.tex]", "diff.tolerances={mrr: 0.1}", "redact=a,b"], {}
    )
    assert settings.items("diff.metrics") == ("hit_at_1", "mrr")
    assert settings.items("files") == ("*.md", "*.tex")
    assert settings.mapping("diff.tolerances") == {"mrr": 0.1}
    assert settings.items("redact") == ("a,b",)


def test_text_settings_keep_what_was_written(tmp_path: Path) -> None:
    settings = load_settings(config(tmp_path, "audit.reviewer: no\nrouting.default_corpus: 007\n"), (), {})
    assert settings.optional("audit.reviewer") == "no"
    assert settings.optional("routing.default_corpus") == "007"


@pytest.mark.parametrize(
    ("text", "where", "problem", "hint"),
    [
        ("workers: 4\nretriver.top_k: 3\n", ":2", "unknown setting retriver.top_k", "Did you mean retriever.top_k?"),
        ("chunking:\n  sise: 3\n", ":2", "unknown setting chunking.sise", "Did you mean chunking.size?"),
        ("top_k: 3\n", ":1", "unknown setting top_k", "Did you mean retriever.top_k?"),
        ("zzz: 3\n", ":1", "unknown setting zzz", "docs/settings.md"),
        ("chunking: 3\n", ":1", "chunking is a group of settings", "chunking.size"),
        ("workers: many\n", ":1", "workers must be a whole number, not 'many'", "1 to 512"),
        ("workers: 2.5\n", ":1", "workers must be a whole number", "1 to 512"),
        ("workers: [1]\n", ":1", "workers must be a whole number, not a list", "1 to 512"),
        ("workers:\n", ":1", "workers must be a whole number, not empty", "1 to 512"),
        ("workers: 0\n", ":1", "workers is out of range: 0", "1 to 512"),
        ("diff.tolerance: .inf\n", ":1", "diff.tolerance must be a number", "0 or more"),
        ("diff.tolerance: 1e999\n", ":1", "diff.tolerance must be a number", "0 or more"),
        ("routing.enabled: maybe\n", ":1", "routing.enabled must be true or false", "Send each question"),
        ("retriever.mode: hybird\n", ":1", "retriever.mode cannot be 'hybird'", "Did you mean hybrid?"),
        ("files: '*.md'\n", ":1", "files must be a list of texts", "patterns"),
        ("prices: 3\n", ":1", "prices must be a mapping", "USD"),
        ("routing.comparison_pattern: '('\n", ":1", "not a regular expression", "brackets"),
        ("retriever:\n  top_k: 3\nretriever.top_k: 4\n", ":3", "retriever.top_k is set twice", "Keep one"),
        ("generator: {base_url: 'localhost:8080'}\n", ":1", "generator.base_url is no address", "http://HOST:PORT"),
        ("judge.base_url: http://[x\n", ":1", "judge.base_url is no address", "https://HOST"),
        (f"seed: {2**63}\n", ":1", "seed must be a whole number", "0 or more"),
        ("audit.target: [claims, banana]\n", ":1", "audit.target cannot be 'banana'", "claims, scores"),
        ("diff.metrics: [mrr, faithfullness]\n", ":1", "no metric faithfullness", "Did you mean faithfulness?"),
        ("diff:\n  tolerances: {ragas.x: -1}\n", ":2", "ragas.x must be a number", "{metric: 0.02}"),
        ("workers: 3\nworkers: 4\n", ":2", "'workers' is there twice (first in line 1)", "Keep one"),
        ("chunking: {size: 200, overlap: 200}\n", "", "chunking.overlap (200) is not smaller", "less than half"),
        ("- workers\n", ":1", "not a mapping of settings", "key: value"),
        ("seed: *a\n", ":1", "the alias *a names nothing", "&a"),
        ("files: &a [x, *a]\n", ":1", "the alias *a names nothing", "&a"),
        ("<<: 3\n", ":1", "`<<` must name a mapping, not text", "&name"),
        ("workers: !!python/object/apply:os.system ['true']\n", ":1", "the tag", "Remove it"),
        ("workers: 1\n---\nworkers: 2\n", ":2", "a second document", "one document"),
        ("a: {b: [\n", ":2", "not valid YAML", "indentation"),
        ("workers: \x07\n", ":1", "U+0007 is not allowed", "control character"),
        ("? [a]\n: b\n", ":1", "a key that is a list", "plain words"),
        ("[" * 500, ":1", "nesting deeper than", "Flatten"),
    ],
)
def test_wrong_config_is_refused_with_its_line(tmp_path: Path, text: str, where: str, problem: str, hint: str) -> None:
    error = refused(config(tmp_path, text))
    assert error.where == f"documents/config.yml{where}"
    assert problem in error.message
    assert hint in error.hint


def test_yaml_bomb_is_refused_before_it_grows(tmp_path: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    error = refused(config(tmp_path, f"l0: &l0 [x]\n{levels}\n"))
    assert "by aliases" in error.message
    assert error.where == "documents/config.yml:6"


def test_long_text_is_not_multiplied_by_aliases(tmp_path: Path) -> None:
    text = f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 11)}]\n"
    assert "by aliases" in refused(config(tmp_path, text)).message


def test_nesting_by_aliases_counts(tmp_path: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} [*l{n - 1}]" for n in range(1, 60))
    assert "nesting deeper than" in refused(config(tmp_path, f"l0: &l0 [x]\n{levels}\n")).message


def test_an_alias_stands_for_what_it_names(tmp_path: Path) -> None:
    settings = load_settings(config(tmp_path, "workers: &a 3\nseed: *a\n"), (), {})
    assert (settings.integer("workers"), settings.integer("seed")) == (3, 3)


def test_config_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    error = refused(write_files(tmp_path, {"documents/config.yml": b"workers: 3\ntitle: K\xe4ltemittel\n"}))
    assert error.where == "documents/config.yml:2"
    assert "not UTF-8 (byte 0xe4)" in error.message


def test_settings_stay_on_their_level(tmp_path: Path) -> None:
    error = refused(config(tmp_path, "workers: 3\n", "documents/old/config.yml"))
    assert (error.where, error.message) == ("documents/old/config.yml:1", "workers cannot be set for a corpus")
    error = refused(config(tmp_path / "b", "language: de\n", "documents/old/evt/config.yml"))
    assert error.message == "language cannot be set for a module"
    error = refused(config(tmp_path / "c", "doc_id: x\n", "documents/old/config.yml"))
    assert error.message == "doc_id belongs to one module"


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("retriever.top_k", "no value"),
        ("retriever.topk=3", "unknown setting retriever.topk"),
        ("retriever.top_k=0", "out of range"),
        ("doc_id=x", "belongs in a config.yml"),
        ("prices={a: [}", "not valid YAML"),
    ],
)
def test_wrong_override_is_refused(tmp_path: Path, override: str, problem: str) -> None:
    error = refused(tmp_path, override)
    assert problem in error.message
    assert (error.where or "").startswith("--set ")


def test_environment_is_checked_too(tmp_path: Path) -> None:
    assert variable_of("retriever.top_k") == "RAG_AUDIT_RETRIEVER_TOP_K"
    error = refused(tmp_path, environ={"RAG_AUDIT_RETRIEVER_TOPK": "3"})
    assert (error.where, error.hint) == ("RAG_AUDIT_RETRIEVER_TOPK", "Did you mean RAG_AUDIT_RETRIEVER_TOP_K?")
    assert refused(tmp_path, environ={"RAG_AUDIT_WORKERS": "x"}).where == "RAG_AUDIT_WORKERS"
    settings = load_settings(tmp_path, (), {"RAG_AUDIT_PROJECT": ".", "RAG_AUDIT_SOMETHING_ELSE": "1", "HOME": "/"})
    assert settings == load_settings(tmp_path, (), {})


def test_unset_overlap_follows_a_small_size(tmp_path: Path) -> None:
    assert load_settings(tmp_path, ["chunking.size=80"], {}).integer("chunking.overlap") < 80
    assert load_settings(tmp_path, ["chunking.size=400"], {}).integer("chunking.overlap") == 100


def test_template_names_every_setting_and_changes_none(tmp_path: Path) -> None:
    template = config_template()
    config(tmp_path, template)
    assert load_settings(tmp_path, (), {}) == load_settings(tmp_path / "empty", (), {})
    uncommented = "\n".join(line[2:] for line in template.splitlines() if line.startswith("# ") and _sets(line[2:]))
    config(tmp_path, uncommented)
    assert load_settings(tmp_path, (), {}) == load_settings(tmp_path / "empty", (), {})
    assert {line.partition(":")[0] for line in uncommented.splitlines()} == set(BY_KEY) - {"doc_id", "title"}


def _sets(line: str) -> bool:
    return line.partition(":")[0] in BY_KEY


def test_reference_in_docs_is_current() -> None:
    written = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == settings_reference(), "python scripts/reference.py writes it"
