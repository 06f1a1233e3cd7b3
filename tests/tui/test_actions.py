"""The action table, the key bar and the rules that keep untrusted text out of markup."""

import ast
from pathlib import Path

import pytest
from textual.widget import Widget

from rag_audit.tui.actions import ACTIONS, Action, actions_of, bindings_of, key_name, keys_table
from rag_audit.tui.screens.claims import ClaimsScreen
from rag_audit.tui.screens.diff import DiffScreen
from rag_audit.tui.screens.evaluation import EvaluationScreen
from rag_audit.tui.screens.pair import PairScreen
from rag_audit.tui.screens.question import QuestionScreen
from rag_audit.tui.screens.run import RunScreen
from rag_audit.tui.screens.runs import RunsScreen
from rag_audit.tui.screens.several import SeveralScreen
from rag_audit.tui.screens.text import TextScreen
from rag_audit.tui.screens.trend import TrendScreen
from rag_audit.tui.widgets.bars import KeyBar, widths
from rag_audit.tui.widgets.passage import Passage
from rag_audit.tui.widgets.record_table import RecordTable

OWNERS: dict[str, type[Widget]] = {
    "list": RecordTable,
    "text": Passage,
    "runs": RunsScreen,
    "run": RunScreen,
    "question": QuestionScreen,
    "claims": ClaimsScreen,
    "diff": DiffScreen,
    "pair": PairScreen,
    "several": SeveralScreen,
    "evaluation": EvaluationScreen,
    "trend": TrendScreen,
    "reading": TextScreen,
}
SCREENS = [name for name in OWNERS if name not in ("list", "text")]
SOURCES = sorted((Path(__file__).parents[2] / "rag_audit" / "tui").rglob("*.py"))


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.screen} {action.key}")
def test_every_action_is_there(action: Action) -> None:
    screen, name = action.screen, action.name.split("(")[0]
    owners = [OWNERS[screen]] if screen != "any" else [OWNERS[one] for one in SCREENS]
    for owner in owners:
        assert hasattr(owner, f"action_{name}"), f"{owner.__name__} has no action_{name}"


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_means_two_things_on_a_screen(screen: str) -> None:
    keys = [binding.key for binding in bindings_of(screen, "any")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("cells", [60, 80, 120, 200])
@pytest.mark.parametrize("screen", SCREENS)
def test_the_key_bar_never_clips_and_always_ends_with_help(screen: str, cells: int) -> None:
    shown = KeyBar(screen).shown_actions(cells)
    assert shown[-1].name == "help"
    taken = 1 + sum(widths([(f"{key_name(action.key.split(',')[0])} {action.label}  ", "")]) for action in shown)
    assert taken <= cells


@pytest.mark.parametrize("screen", SCREENS)
def test_all_labelled_actions_fit_in_80_cells(screen: str) -> None:
    labelled = [action for action in actions_of(screen) if action.label]
    assert len(KeyBar(screen).shown_actions(80)) == len(labelled) + 1


def test_the_readme_has_the_table_of_keys() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert keys_table() in readme


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_text_is_parsed_as_markup_or_measured_in_characters(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        where = f"{path.name}:{call.lineno}"
        assert name not in {"from_markup", "from_text", "render_markup", "ljust", "rjust", "center"}, where
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if name in {"Static", "Label", "OptionList", "notify", "Button"}:
            markup = keywords.get("markup")
            assert isinstance(markup, ast.Constant), f"{where}: {name} parses markup"
            assert markup.value is False, f"{where}: {name} parses markup"
        if name == "len" and call.args and isinstance(call.args[0], ast.Name):
            assert call.args[0].id not in {"label", "title", "word", "line", "cell"}, f"{where}: a width in characters"
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert not imported & {"textwrap", "wcwidth"}
    assert "Markdown" not in path.read_text(encoding="utf-8").replace("in Markdown.", "")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_interface_opens_no_file_and_calls_no_provider(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            assert name not in {"open", "read_text", "write_text", "read_bytes", "write_bytes"}, (
                f"{path.name}:{node.lineno}"
            )
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("rag_audit.providers"), path.name
