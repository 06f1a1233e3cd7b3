"""Who may import whom, no cycles, and no room that has outgrown one idea."""

import ast
import sys
from collections.abc import Mapping, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rag_audit"
LONGEST_MODULE = 400

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"model", "errors"}),
    frozenset(
        {"audit", "context", "diff", "fingerprint", "flags", "judging", "metrics", "redact", "routing", "sampling"}
        | {"statistics", "summary", "text"}
    ),
    frozenset(
        {"auditing", "comparison", "config", "corpus", "export", "folders", "history", "importers"}
        | {"probing", "project", "providers", "yamlfile"}
    ),
    frozenset({"attempt", "estimate", "evaluation", "pipeline"}),
    frozenset({"cli", "tui"}),
)
"""From the bottom up: a room imports its own layer and those below it."""

ONLY_IN: dict[str, frozenset[str]] = {
    "textual": frozenset({"tui"}),
    "anthropic": frozenset({"providers"}),
    "cohere": frozenset({"providers"}),
    "onnxruntime": frozenset({"providers"}),
    "wordllama": frozenset({"providers"}),
    "sqlite_vec": frozenset({"corpus"}),
    "apsw": frozenset({"corpus"}),
    "rank_bm25": frozenset({"corpus"}),
}
"""Third-party package to the rooms that may import it."""

PURE_MAY_IMPORT = frozenset({"numpy", "rich", "msgspec"})
"""What the pure rules may import beside the standard library: nothing that reads, writes or talks."""

IMPURE_STANDARD = frozenset({"socket", "subprocess", "urllib.request", "http", "sqlite3", "random", "time", "shutil"})


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """Every imported module of a file, with whether it is imported when the file is."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(inner)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_types_only(function)
        for inner in ast.walk(function)
    }
    found: list[tuple[str, bool]] = []
    for node in ast.walk(tree):
        eager = id(node) not in inside
        if isinstance(node, ast.Import):
            found += [(alias.name, eager) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            for alias in node.names:
                inner_module = PACKAGE.parent / Path(*base.split("."), alias.name)
                is_module = inner_module.with_suffix(".py").exists() or (inner_module / "__init__.py").exists()
                found.append((f"{base}.{alias.name}" if is_module else base, eager))
    return found


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_module_imports_only_its_own_layer_and_those_below(path: Path) -> None:
    room = room_of(name_of(path))
    if room in ("", "__main__"):
        return
    layer = next((at for at, rooms in enumerate(LAYERS) if room in rooms), None)
    assert layer is not None, f"{room} has no layer: add it to LAYERS"
    allowed = frozenset().union(*LAYERS[: layer + 1]) | {""}
    for imported, _ in imports_of(path):
        if imported.split(".")[0] == "rag_audit":
            assert room_of(imported) in allowed, f"{name_of(path)} imports {imported}, which is above it"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_heavy_packages_stay_in_their_rooms_and_load_when_used(path: Path) -> None:
    for imported, eager in imports_of(path):
        package = imported.split(".")[0]
        if package in ONLY_IN:
            assert room_of(name_of(path)) in ONLY_IN[package], f"{name_of(path)} imports {package}"
        if package in ("anthropic", "cohere", "onnxruntime", "wordllama"):
            assert not eager, f"{name_of(path)} loads {package} before it is used"


@pytest.mark.parametrize("path", [p for p in modules() if room_of(name_of(p)) in LAYERS[0] | LAYERS[1]], ids=name_of)
def test_pure_rules_do_no_io(path: Path) -> None:
    room = room_of(name_of(path))
    for imported, _ in imports_of(path):
        package = imported.split(".")[0]
        assert imported not in IMPURE_STANDARD, f"{name_of(path)} imports {imported}"
        assert package not in IMPURE_STANDARD, f"{name_of(path)} imports {imported}"
        if package not in sys.stdlib_module_names and package != "rag_audit":
            assert room not in LAYERS[0], f"{name_of(path)} is plain data but imports {package}"
            assert package in PURE_MAY_IMPORT, f"{name_of(path)} imports {package}"


def test_there_is_no_import_cycle() -> None:
    assert_no_cycle(
        {
            name_of(path): {name for name, eager in imports_of(path) if eager and name.startswith("rag_audit")}
            for path in modules()
        }
    )


def test_screens_lead_only_forward() -> None:
    """What a screen loads when a key is pressed counts too: none leads back to the one that it was opened from."""
    screens = PACKAGE / "tui" / "screens"
    assert_no_cycle(
        {name_of(path): {name for name, _ in imports_of(path)} for path in modules() if path.is_relative_to(screens)}
    )


def assert_no_cycle(graph: Mapping[str, Set[str]]) -> None:
    state: dict[str, str] = {}

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert state.get(module) != "open", f"cycle: {' -> '.join((*path, module))}"
        if module in state:
            return
        state[module] = "open"
        for imported in graph.get(module, ()):
            if imported != module:
                visit(imported, (*path, module))
        state[module] = "closed"

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_module_is_one_idea(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST_MODULE, f"{name_of(path)} has {len(lines)} lines"
    if path.name != "__init__.py" or lines:
        assert lines, f"{name_of(path)} is empty"
        assert lines[0].startswith('"""'), f"{name_of(path)} does not begin by saying what it is for"
