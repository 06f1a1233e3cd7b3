"""The reference part for a question about one line of code: each case is a look-up that once went wrong."""

from rag_audit.judging.code import choose_code
from rag_audit.judging.excerpt import build_excerpt
from rag_audit.judging.sections import Stretch
from rag_audit.model import Question

SOURCE = '''"""A module."""

import os

LIMIT = 3


class Reader:
    """Reads."""

    def load(self, path):
        """The reader's load."""
        return open(path).read()

    def other(self):
        return 1


class Store:
    """Stores."""

    @property
    def size(self):
        return len(self.items)

    def load(self, key):
        """The store's load."""
        value = self.walk(key, 0)
        return value

    def walk(self, key, depth):
        if depth > LIMIT:
            return None
        return self.step(key, depth)

    def step(self, key, depth):
        return self.walk(key, depth + 1)

    def caller(self):
        return self.load("k")

    def unrelated(self):
        return os.getcwd()


def top(value):
    def inner():
        return value

    return inner()


def uses_top():
    return top(1)
'''


def line_of(snippet: str) -> int:
    return SOURCE[: SOURCE.index(snippet)].count("\n") + 1


def names(snippet: str, limit: int = 10_000) -> list[tuple[str, ...]]:
    return [stretch.heading for stretch in choose_code(SOURCE, line_of(snippet), limit)[0]]


def test_the_line_decides_which_of_two_methods_of_one_name_is_meant() -> None:
    assert ("Store", "load") in names("value = self.walk")
    assert ("Reader", "load") not in names("value = self.walk")
    assert names("return open(path)") == [("Reader", "load")]


def test_siblings_that_are_called_or_call_come_along_one_level() -> None:
    assert names("value = self.walk") == [("Store", "load"), ("Store", "walk"), ("Store", "caller")]


def test_both_halves_of_a_recursion_are_there_from_either_half() -> None:
    assert {("Store", "walk"), ("Store", "step")} <= set(names("if depth > LIMIT"))
    assert {("Store", "walk"), ("Store", "step")} <= set(names("depth + 1"))


def test_a_nested_function_is_shown_in_the_function_around_it() -> None:
    stretches, _ = choose_code(SOURCE, line_of("        return value\n\n    return inner"), 10_000)
    assert [stretch.heading for stretch in stretches] == [("top",), ("uses_top",)]
    assert SOURCE[stretches[0].start : stretches[0].end].startswith("def top(value):")


def test_decorators_belong_to_the_function() -> None:
    stretch = choose_code(SOURCE, line_of("    @property"), 10_000)[0][0]
    assert SOURCE[stretch.start : stretch.end] == "    @property\n    def size(self):\n        return len(self.items)"


def test_what_does_not_fit_is_counted_and_the_line_stays() -> None:
    stretches, left_out = choose_code(SOURCE, line_of("value = self.walk"), 60)
    assert sum(stretch.end - stretch.start for stretch in stretches) <= 60
    assert left_out > 0
    assert "self.walk" in SOURCE[stretches[0].start : stretches[0].end]


def test_a_line_outside_functions_and_a_file_that_is_not_python_get_the_lines_around() -> None:
    assert "LIMIT = 3" in SOURCE[slice(*_ends(choose_code(SOURCE, line_of("LIMIT = 3"), 10_000)))]
    other = "".join(f"line {number} {{\n" for number in range(1, 301))
    stretches, _ = choose_code(other, 150, 10_000)
    shown = other[stretches[0].start : stretches[0].end].splitlines()
    assert "line 150 {" in shown
    assert len(shown) == 41


def _ends(chosen: tuple[list[Stretch], int]) -> tuple[int, int]:
    return chosen[0][0].start, chosen[0][0].end


def test_the_excerpt_of_a_code_question_is_its_function_not_the_file() -> None:
    question = Question("q", "Why?", doc_id="code/store", source=f"code/store.py:{line_of('depth + 1')}")
    found = build_excerpt(question, (), {"code/store": SOURCE}.get, reference_chars=9_000, context_chars=9)
    assert [passage.heading for passage in found.reference] == [("Store", "walk"), ("Store", "step")]
    assert found.reference[0].line == line_of("    def walk")


def test_a_source_outside_the_documents_leaves_the_reference_to_the_question() -> None:
    question = Question("q", "Why?", doc_id="code/store", source="elsewhere.py:3", gold=("return os.getcwd()",))
    found = build_excerpt(question, (), {"code/store": SOURCE}.get, reference_chars=9_000, context_chars=9)
    assert "os.getcwd()" in found.reference[0].text
