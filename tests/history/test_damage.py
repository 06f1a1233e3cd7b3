"""Whatever is done to the files: an error with a hint, never a traceback, and verify names the place."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from rag_audit.errors import RagAuditError
from rag_audit.history import History, jsonl
from tests.history.examples import archive, closed, decision, result, row, sample, summary

JUNK: list[Any] = [
    *(None, 0, -1, 1e300, 2**62, True, "", "x", "../../etc/passwd", "\x1b[31m", [], {}, [[]], {"a": 1}, [1, 2, 3, 4]),
    [None] * 4,
]
MUTATIONS = 25


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("whole")
    for number in range(2):
        archive(project, f"r{number}")
        History(project).record(decision(f"c{number}"))
    History(project).record_sample(sample())
    writer = History(project).start(summary("r8"), [("q1", None), ("q2", None)])
    writer.append(result("q1"))
    writer.abandon()
    return project


def flip_bytes(data: bytes, chance: random.Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        flipped[chance.randrange(len(flipped))] = chance.randrange(256)
    return bytes(flipped)


def cut_out(data: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:start] + data[end:]


def seal_junk(data: bytes, chance: random.Random) -> bytes:
    """Replace one value of one line by junk and seal the line again, as somebody who knows the format would."""
    lines = data.splitlines()
    at = chance.randrange(len(lines))
    document = orjson.loads(lines[at])
    del document["hash"]
    *steps, last = chance.choice([place for place in _places(document) if place])
    holder = document
    for step in steps:
        holder = holder[step]
    holder[last] = chance.choice(JUNK)
    lines[at] = _sealed_ledger_line(document) if "head" in document else jsonl.seal(orjson.dumps(document))[:-1]
    return b"\n".join(lines) + b"\n"


def _places(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _places(value, (*place, key))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from _places(value, (*place, at))


def _sealed_ledger_line(document: dict[str, Any]) -> bytes:
    rows = orjson.dumps(document.get("rows"))
    if isinstance(document["head"], dict):
        document["head"]["rows_hash"] = jsonl.digest(rows)
    head = orjson.dumps(document["head"])
    sealed = b'"schema":1,"sizes":[%d,%d],"head":%s' % (len(head), len(rows), head)
    return b'{"hash":"%s",%s,"rows":%s}' % (jsonl.digest(sealed).encode(), sealed, rows)


def attempt(act: Callable[..., Any], *arguments: Any) -> Any:
    """What it returns, or None where it says in two lines why it cannot."""
    said: RagAuditError | None = None
    try:
        return act(*arguments)
    except RagAuditError as error:
        said = error
    assert said.message
    assert said.hint
    return None


def use_everything(project: Path) -> None:
    history = History(project)
    runs = [*(attempt(history.summaries) or ()), *(attempt(history.unclosed) or ())]
    for act in (history.damage, history.head, history.decisions, lambda: history.samples("r1")):
        attempt(act)
    for run_id in {run.id for run in runs} | {"r0", "r8"}:
        attempt(history.archived, run_id)
        attempt(lambda run_id: list(history.results(run_id)), run_id)
        attempt(history.result, run_id, "q2")
    attempt(history.resolve, "latest")
    attempt(history.record, decision("c7"))
    if resumed := attempt(history.resume, "r8"):
        resumed.abandon()
    if started := attempt(history.start, summary("r9"), []):
        attempt(started.close, closed(summary("r9")), [row("q1")])
    attempt(history.rebuild)
    history.verify()


@pytest.mark.usefixtures("no_syncing")
@pytest.mark.parametrize("damage", [flip_bytes, cut_out, seal_junk])
def test_damaged_files_give_errors_and_no_traceback(
    damage: Callable[[bytes, random.Random], bytes], whole: Path, tmp_path: Path
) -> None:
    files = sorted(path.relative_to(whole) for path in whole.rglob("*.jsonl"))
    for seed in range(MUTATIONS):
        chance = random.Random(seed)
        project = tmp_path / str(seed)
        shutil.copytree(whole, project)
        path = project / chance.choice(files)
        before = path.read_bytes()
        after = damage(before, chance)
        path.write_bytes(after)
        if damage is flip_bytes and before != after and path.stem != "r8":
            report = History(project).verify()
            assert not report.ok or any("torn" in note for note in report.notes)
        use_everything(project)
        shutil.rmtree(project)
