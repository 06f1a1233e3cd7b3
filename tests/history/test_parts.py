"""The pure parts: columns, texts, the graph, the index, ids, schema numbers, secrets."""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_audit.errors import ConfigError, HistoryError
from rag_audit.history import History, jsonl
from rag_audit.history.columns import columns_of, rows_of
from rag_audit.history.graph import heads_of, in_order
from rag_audit.history.ids import new_run_id
from rag_audit.history.index import entries_of_question, index_entry, index_line
from rag_audit.history.ledger import encode_rows
from rag_audit.history.schema import SCHEMA, upgrade
from rag_audit.history.texts import LONG, put_text, take_texts
from rag_audit.model import QuestionRow
from rag_audit.redact import REDACTED, Redactor
from tests.history.examples import row

SAMPLES = Path(__file__).parent / "schemas"
unhurried = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For busy machines: a slow example is no failure."""
names = st.text(max_size=6)
rows = st.builds(
    QuestionRow,
    id=names,
    repeat=st.none() | st.integers(1, 9),
    doc_id=st.none() | names,
    scores=st.dictionaries(names, st.none() | st.floats(allow_nan=False, allow_infinity=False)),
    missing=st.dictionaries(names, names),
    verdicts=st.dictionaries(names, st.integers(0, 9)),
    route=st.lists(names).map(tuple),
    rule=names,
    misrouted=st.booleans(),
    question_hash=names,
    answer_hash=st.none() | names,
    context_hash=names,
    excerpt_hash=st.none() | names,
    judges=st.dictionaries(names, names),
    flags=st.lists(names).map(tuple),
    tags=st.lists(names).map(tuple),
    reviewed=st.none() | st.booleans(),
    error=st.none() | names,
)


@unhurried
@given(st.lists(rows, max_size=5))
def test_rows_survive_their_columns(listed: list[QuestionRow]) -> None:
    assert rows_of(orjson.loads(encode_rows(listed)), "here") == tuple(listed)


@pytest.mark.parametrize("name", ["id", "scores", "missing", "verdicts"])
@pytest.mark.parametrize("broken", [None, 7, ["q1"], {"mrr": {"values": [1.0]}}, {"mrr": None}, {"mrr": {"at": [9]}}])
def test_columns_that_do_not_fit_are_an_error(name: str, broken: object) -> None:
    columns = orjson.loads(jsonl.encode(columns_of([row("q1"), row("q2")])))
    with pytest.raises(HistoryError) as caught:
        rows_of({**columns, name: broken}, "ledger:3")
    assert caught.value.where == "ledger:3"


trees = st.recursive(
    st.none() | st.integers(0, 9) | st.text(max_size=4) | st.text(alphabet="ab", min_size=LONG, max_size=LONG + 9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@unhurried
@given(st.dictionaries(st.text(max_size=4), trees, max_size=4))
def test_texts_taken_out_go_back_to_their_places(tree: dict[str, Any]) -> None:
    before = orjson.dumps(tree)
    taken = take_texts(tree)
    assert all(len(text) >= LONG for _, text in taken)
    assert b"a" * LONG not in orjson.dumps(tree)
    for steps, text in taken:
        put_text(tree, steps, text)
    assert orjson.dumps(tree) == before


@unhurried
@given(st.data())
def test_order_is_of_the_graph_not_of_the_lines(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    parents = {
        str(at): data.draw(st.lists(st.sampled_from([str(n) for n in range(at)]), max_size=3)) if at else []
        for at in range(count)
    }
    ranks = {record: data.draw(st.integers(0, 3)) for record in parents}
    shuffled = {record: parents[record] for record in data.draw(st.permutations(list(parents)))}
    ordered = in_order(shuffled, ranks.__getitem__)
    assert ordered == in_order(parents, ranks.__getitem__)
    assert sorted(ordered) == sorted(parents)
    assert all(ordered.index(parent) < ordered.index(record) for record in parents for parent in parents[record])


def test_heads_are_what_nobody_names() -> None:
    assert heads_of({"a": [], "b": ["a"], "c": ["a", "gone"]}) == ("b", "c")
    assert heads_of({}) == ()


def test_the_index_finds_every_repeat(tmp_path: Path) -> None:
    places = {(f"q{number}", repeat): (number * 100 + repeat, 50) for number in range(40) for repeat in (1, 2)}
    line, start = index_line(index_entry(*key, *place) for key, place in places.items())
    path = tmp_path / "index"
    path.write_bytes(line)
    with path.open("rb") as file:
        for number in range(40):
            found = entries_of_question(file.fileno(), (start, len(places)), f"q{number}")
            assert found == [places[f"q{number}", 1], places[f"q{number}", 2]]
        assert entries_of_question(file.fileno(), (start, len(places)), "q40") == []
    assert orjson.loads(line)["kind"] == "index"


def test_run_ids_sort_by_time_and_do_not_repeat() -> None:
    moment = datetime(2026, 11, 29, 23, 59, 59, 998_000, tzinfo=timezone(timedelta(hours=2)))
    ids = [new_run_id(moment + timedelta(milliseconds=step)) for step in range(5)]
    assert ids == sorted(ids)
    assert ids[0].startswith("20261129-215959-")
    assert len({new_run_id(moment) for _ in range(20)}) == 20


def test_older_schemas_are_upgraded_step_by_step() -> None:
    def second(kind: str, document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "new": kind}

    def third(kind: str, document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "newer": document["new"] * 2}

    upgrades: Mapping[int, Any] = {1: second, 2: third}
    assert upgrade("x", {"schema": 1}, upgrades, 3) == {"schema": 3, "new": "x", "newer": "xx"}
    assert upgrade("x", {"schema": 3, "as": "is"}, upgrades, 3) == {"schema": 3, "as": "is"}
    documents: list[Any] = [{}, [], {"schema": "1"}, {"schema": 0}]
    for broken in documents:
        with pytest.raises(HistoryError, match="no schema number"):
            upgrade("x", broken, upgrades, 3)
    with pytest.raises(HistoryError, match="reads up to 3"):
        upgrade("x", {"schema": 4}, upgrades, 3)


@pytest.mark.parametrize("number", range(1, SCHEMA + 1))
def test_histories_of_every_schema_stay_readable(number: int) -> None:
    """`schemas/N` was written by the version that wrote schema N and is never written again."""
    history = History(SAMPLES / str(number))
    report = history.verify()
    assert report.ok, report.problems
    assert [(run.id, run.label) for run in history.summaries()] == [("r1", "base"), ("r2", None)]
    assert [found.id for found in history.archived("r2").rows] == ["q1", "q2"]
    found = history.result("r1", "q2")
    assert found.claim_judgment is not None
    assert found.claim_judgment.claims[0].evidence == "12 ms"
    assert found.retrieved[0].chunk.text.startswith("The transmission delay")
    assert [len(history.decisions(run)) for run in ("r1", "r2")] == [2, 0]
    assert history.samples("r1")[0].strata == {"mss54": (1, 2)}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abc", "Authorization: Bearer abc"),
        ("the bearer authentication scheme", "the bearer authentication scheme"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz'", f"curl -H 'Authorization: Basic {REDACTED}'"),
        ("Bearer 0123456789abcdef0", f"Bearer {REDACTED}"),
        ('{"x-api-key": "k0123456789"}', f'{{"x-api-key": "{REDACTED}"}}'),
        ("sk-ant-api03-abcdefgh, next", f"{REDACTED}, next"),
        ("secret-1 secret-12", f"{REDACTED} {REDACTED}"),
        ("ID-77-ID-78", f"{REDACTED}-{REDACTED}"),
    ],
)
def test_secrets_are_replaced(text: str, kept: str) -> None:
    environ = {"CO_API_KEY": "secret-1", "MY_SECRET": "secret-12", "SHORT_TOKEN": "ID", "PATH": "next"}
    redactor = Redactor(environ, (r"ID-\d+",))
    assert redactor.text(text) == kept
    assert redactor.tree({text: [text, 1]}) == {kept: [kept, 1]}


def test_a_pattern_that_is_none_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="redact"):
        Redactor({}, ("(",))
