"""Small projects on disk for the tests of this room."""

from collections.abc import Mapping
from pathlib import Path

from rag_audit.config import load_settings
from rag_audit.model import Question, Route
from rag_audit.model.settings import Settings

OLD = """\
# Idle speed

The idle speed is 850 rpm. It is held by the parameter idle_speed_rpm.

## Warm-up

While the coolant is below 40 °C the idle speed is 1100 rpm.
"""

NEW = """\
# Idle speed

The idle speed is 720 rpm. It is held by the parameter idleSpeedTarget.
"""

QUESTIONS = """\
- id: OLD-1
  question: What is the idle speed?
  reference_answer: 850 rpm
  doc_id: old/idle
  keywords: [850 rpm]
- id: NEW-1
  question: What is the idle speed?
  reference_answer: 720 rpm
  doc_id: new/idle
  keywords: [720 rpm]
"""


def write_files(folder: Path, files: Mapping[str, str] | Mapping[str, bytes] | Mapping[str, str | bytes]) -> Path:
    """Write files below a folder; bytes as they are, texts as UTF-8."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def two_corpora(folder: Path, questions: str = QUESTIONS, **files: str | bytes) -> Path:
    """A project with the corpora `old` and `new`, one document each."""
    return write_files(
        folder, {"documents/old/idle.md": OLD, "documents/new/idle.md": NEW, "questions.yml": questions, **files}
    )


def settings_of(project: Path, *overrides: str) -> Settings:
    """The project's settings, untouched by this machine's environment."""
    return load_settings(project, overrides, {})


def asked(text: str, **fields: object) -> Question:
    """A question with an id."""
    return Question(id="Q", question=text, **fields)  # type: ignore[arg-type]


def to(*corpora: str) -> Route:
    """A route to these corpora."""
    return Route(corpora, "named")
