"""The code part of an excerpt, and the historic failures that it must not repeat."""

from rag_audit.judging.code import code_stretches, split_source
from rag_audit.judging.excerpt import build_excerpt, context_parity
from rag_audit.model import Chunk, Question, RetrievedChunk

CODE = '''import os


class Base:
    def close(self):
        return os.close(self.fd)


class Reader(Base):
    def load(self, path):
        """The first function of that name."""
        return open(path)


class Parser(Base):
    def load(self, text):
        tree = self.parse(text)
        return helper(tree)

    def parse(self, text):
        if not text:
            return None
        return self.descend(text[1:])

    def descend(self, text):
        return self.parse(text)

    @property
    def name(self):
        return "parser"

    def finish(self):
        self.close()


def helper(tree):
    def inner(node):
        return node
    return inner(tree)


def unrelated():
    return 1
'''


def shown(line: int, limit: int = 10_000) -> list[tuple[str, ...]]:
    return [stretch.heading for stretch in code_stretches(CODE, line, limit)[0]]


def line_of(text: str, nth: int = 1) -> int:
    lines = [number for number, line in enumerate(CODE.splitlines(), start=1) if text in line]
    return lines[nth - 1]


def test_the_function_is_found_by_position_not_by_name() -> None:
    assert ("Reader", "load") not in shown(line_of("tree = self.parse"))
    assert ("Parser", "load") in shown(line_of("tree = self.parse"))
    assert shown(line_of("return open")) == [("Reader", "load")]


def test_both_halves_of_a_recursion_are_there() -> None:
    for line in (line_of("text[1:]"), line_of("return self.parse(text)")):
        assert {("Parser", "parse"), ("Parser", "descend")} <= set(shown(line))


def test_siblings_are_reached_one_level_in_both_directions() -> None:
    assert shown(line_of("text[1:]")) == [("Parser", "load"), ("Parser", "parse"), ("Parser", "descend")]
    assert shown(line_of("return helper")) == [("Parser", "load"), ("Parser", "parse"), ("helper",)]
    assert shown(line_of("self.close")) == [("Base", "close"), ("Parser", "finish")]
    assert shown(line_of("return node")) == [("Parser", "load"), ("helper",)]
    assert shown(line_of("return 1")) == [("unrelated",)]


def test_decorators_belong_to_the_function() -> None:
    (stretch,) = code_stretches(CODE, line_of('return "parser"'), 1000)[0]
    assert CODE[stretch.start : stretch.end].strip().startswith("@property")
    assert CODE[stretch.start : stretch.end].endswith('return "parser"')


def test_the_function_itself_comes_first_when_not_all_fits() -> None:
    stretches, left_out = code_stretches(CODE, line_of("text[1:]"), 130)
    assert [stretch.heading for stretch in stretches] == [("Parser", "parse")]
    assert left_out > 0
    cut, _ = code_stretches(CODE, line_of("text[1:]"), 20)
    assert cut[0].end - cut[0].start == 20


def test_text_that_is_no_python_gives_the_lines_around() -> None:
    text = "".join(f"line {number} {{\n" for number in range(1, 101))
    (stretch,) = code_stretches(text, 50, 10_000)[0]
    assert text[stretch.start :].startswith("line 35 {")
    assert text[stretch.start : stretch.end].endswith("line 65 {\n")
    assert code_stretches(text, 500, 10_000) == ([], 0)


def test_a_source_is_file_and_line() -> None:
    assert split_source("src/a.py:12") == ("src/a.py", 12)
    assert split_source("src/a.py:12:4") == ("src/a.py", 12)
    assert split_source("src/a.py") is None
    assert split_source("src/a.py:0") is None


def test_the_excerpt_of_a_question_about_code_is_that_code_and_not_the_file() -> None:
    irrelevant = "".join(f"def unrelated_{number}():\n    return {number}\n\n\n" for number in range(100))
    documents = {"code/parser": irrelevant + CODE, "code/guide": "The parser descends. " * 5}
    line = irrelevant.count("\n") + line_of("text[1:]")
    question = Question(
        "q", "Why does it never end?", doc_id="code/parser", also_docs=("code/guide",),
        source=f"documents/code/parser.py:{line}",
    )  # fmt: skip
    excerpt = build_excerpt(question, (), documents.get, reference_chars=5000, context_chars=5000)
    text = excerpt.text("reference")
    assert "def descend" in text
    assert "def parse" in text
    assert "unrelated_" not in text
    assert "class Reader" not in text
    assert excerpt.reference[-1].doc_id == "code/guide"
    assert [passage.line for passage in excerpt.reference[:3]] == sorted(
        passage.line or 0 for passage in excerpt.reference[:3]
    )


def test_a_source_that_is_nowhere_is_said_to_be() -> None:
    question = Question("q", "?", doc_id="code/parser", source="other.py:900")
    excerpt = build_excerpt(question, (), {"code/parser": CODE}.get, reference_chars=5000, context_chars=5000)
    assert excerpt.cut[0] == "reference: other.py:900 is in no document"


def test_the_judge_never_sees_less_than_the_generator_without_its_being_measured() -> None:
    retrieved = tuple(RetrievedChunk(Chunk("a/doc", "a", "x" * 600, at * 600), at + 1) for at in range(4))
    blind = build_excerpt(Question("q", "?"), retrieved, lambda doc_id: None, reference_chars=500, context_chars=600)
    assert context_parity(retrieved, blind) == 0.25
    assert len(blind.cut) == 3
    whole = build_excerpt(Question("q", "?"), retrieved, lambda doc_id: None, reference_chars=500, context_chars=9000)
    assert context_parity(retrieved, whole) == 1.0
