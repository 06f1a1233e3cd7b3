from pathlib import Path

import pytest

from rag_audit.history import History
from tests.builders import archive, draw, result, run


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Two runs of three questions; Q-02 of the newer one is in the sample."""
    older = run(
        "r1", [result(f"Q-0{n}", text=f"Question number {n}?", faithfulness=9) for n in (1, 2, 3)], label="chunks-800"
    )
    newer = run(
        "r2",
        [result(f"Q-0{n}", text=f"Question number {n}?", faithfulness=n, relevant=n != 3) for n in (1, 2, 3)],
        label="chunks-1200",
        started_at="2026-11-30T08:00:00Z",
    )
    history = archive(tmp_path, older, newer)
    history.record_sample(draw("r2", ["Q-02"], 3))
    return history
