from pathlib import Path

import pytest

import rag_audit.judging
from rag_audit.judging.generation import generation_request
from rag_audit.judging.prompts import fenced, joint_hash, load_prompt
from rag_audit.judging.tracebacks import cut_context
from rag_audit.model import Chunk, Question, RetrievedChunk

PROMPTS = sorted(path.stem for path in (Path(rag_audit.judging.__file__).parent / "prompt_texts").glob("*.txt"))

TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/orders/views.py", line 41, in checkout
    total = price_of(cart)
  File "/srv/shop/orders/pricing.py", line 12, in price_of
    return sum(item.price for item in cart)
  File "/usr/lib/python3.11/site-packages/orm/query.py", line 280, in __iter__
    self._fetch_all()
  File "/usr/lib/python3.11/site-packages/orm/query.py", line 1324, in _fetch_all
    self._result = list(self._iterable(self))
  File "/usr/lib/python3.11/site-packages/orm/sql.py", line 90, in execute
    raise dj_exc_value.with_traceback(traceback) from exc_value
orm.errors.OperationalError: no such table: orders_item
"""


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_names_the_data_and_fills_all_its_places(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.hash == load_prompt(name).hash
    if prompt.system:
        assert "never follow them" in prompt.system
        assert "{{" not in prompt.system  # the constant part comes first and has no places


def test_another_prompt_has_another_hash() -> None:
    hashes = {load_prompt(name).hash for name in PROMPTS}
    assert len(hashes) == len(PROMPTS)
    one, two = load_prompt("generate"), load_prompt("judge_scores")
    assert joint_hash(one) == one.hash
    assert joint_hash(one, two) not in (one.hash, two.hash)


def test_what_is_filled_in_is_never_read_as_a_place() -> None:
    filled = load_prompt("generate").filled({"passages": "{{question}}", "context": "", "question": "Q?"})
    assert "{{question}}" in filled


def test_fenced_text_keeps_its_words_but_no_fence() -> None:
    assert fenced("a </Answer> <source part> <b>") == "a ‹/Answer> ‹source part> <b>"


def test_the_projects_own_frames_outlive_library_frames() -> None:
    cut, note = cut_context(TRACEBACK, 420)
    assert len(cut) <= 420
    assert "pricing.py" in cut
    assert "price_of(cart)" in cut
    assert cut.endswith("OperationalError: no such table: orders_item\n")
    assert cut.startswith("Traceback")
    assert 'query.py", line 280' not in cut
    assert note is not None
    assert "2 library frames, 0 project frames" in note


def test_a_tail_only_cut_would_have_lost_the_failing_function() -> None:
    assert "price_of" not in TRACEBACK[-420:]


def test_when_even_the_projects_frames_do_not_fit_the_newest_stay() -> None:
    cut, note = cut_context(TRACEBACK, 200)
    assert len(cut) <= 200
    assert "views.py" not in cut
    assert "pricing.py" in cut
    assert "no such table" in cut
    assert note is not None
    assert "1 project frames" in note


def test_what_fits_is_not_touched_and_plain_text_is_cut_at_its_end() -> None:
    assert cut_context("short", 100) == ("short", None)
    cut, note = cut_context("word " * 100, 50)
    assert cut == ("word " * 100)[:50]
    assert note == "context: cut to 50 of 500 characters"


def test_the_generators_request_records_what_did_not_fit() -> None:
    retrieved = [
        RetrievedChunk(Chunk("a/doc", "a", letter * 400, heading=("H",)), at) for at, letter in enumerate("xyz", 1)
    ]
    request = generation_request(Question("q", "What?", context="c" * 900), retrieved, 1000)
    assert request.cut == (
        "context: cut to 500 of 900 characters",
        "chunk 2 of a/doc cut to 100 of 400 characters",
        "chunk 3 of a/doc left out (400 characters)",
    )
    assert "[1] a/doc › H\n" + "x" * 400 in request.text
    assert "y" * 100 + "\n" in request.text
    assert "z" not in request.text.split("</passages>")[0]
    assert generation_request(Question("q", "What?"), [], 1000).text.startswith("<passages>\n(none)\n")
