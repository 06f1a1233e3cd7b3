"""Everything that can move a number is in a run's context, and nothing that cannot."""

import pytest

from rag_audit.context import flatten, questions_hash, run_context
from rag_audit.model import Question, RunContext
from rag_audit.model.settings import SETTINGS, Setting, Settings, SettingValue

MOVES_NO_NUMBER = {"timeout_s", "retries", "max_wait_s", "prices", "title", "doc_id"}


def context(**corpora: dict[str, SettingValue]) -> RunContext:
    return context_of(Settings(corpora=corpora))


def context_of(settings: Settings) -> RunContext:
    return run_context(
        settings,
        [],
        retrieval={"embedder": settings.text("embedder"), "corpora": {}},
        default_corpus="older",
        routing_table="t",
        prompts={"claims": "p"},
    )


def changed(settings: Settings) -> set[str]:
    before, after = flatten(context()), flatten(context_of(settings))
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@pytest.mark.parametrize(
    "setting",
    [setting for setting in SETTINGS if setting.key != "routing.default_corpus"],
    ids=lambda setting: setting.key,
)
def test_a_setting_is_in_the_context_exactly_if_it_can_move_a_number(setting: Setting) -> None:
    key = setting.key
    other: SettingValue = {"bool": False, "int": 7}.get(setting.kind, "something else")
    values = {**Settings().values, key: other}
    moves = key not in MOVES_NO_NUMBER and not key.startswith(("diff.", "audit."))
    assert bool(changed(Settings(values=values))) is moves


def test_the_default_corpus_is_the_one_that_is_really_used() -> None:
    assert flatten(context())["routing.default_corpus"] == "older"


def test_what_one_corpus_sets_for_itself_is_in_the_context() -> None:
    found = flatten(context(newer={"chunking.size": 300, "language": "de"}))
    assert found["chunking.corpora.newer.size"] == 300
    assert found["newer:language"] == "de"


def test_an_address_is_kept_without_the_credentials_in_it() -> None:
    values: dict[str, SettingValue] = {
        **Settings().values,
        "judge.base_url": "https://ann:secret@host:8443/v1?key=secret",
    }
    found = flatten(context_of(Settings(values=values)))
    assert found["judge.base_url"] == "https://host:8443/v1"


def test_a_question_set_is_the_same_in_another_order_and_another_after_an_edit() -> None:
    first, second = Question("a", "one?"), Question("b", "two?")
    assert questions_hash([first, second]) == questions_hash([second, first])
    assert questions_hash([first, second]) != questions_hash([first, Question("b", "two!")])
