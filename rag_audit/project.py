"""A new project: the files that `init` writes."""

from collections.abc import Mapping
from pathlib import Path

from rag_audit.config import config_template
from rag_audit.errors import ConfigError
from rag_audit.history.layout import GIT_ATTRIBUTES

_EXAMPLE_DOCUMENT = """\
# Watering can

The can holds 5 litres. Fill it to the mark, never above.

| part  | material         | care                  |
|-------|------------------|-----------------------|
| body  | galvanised steel | rinse once a month    |
| spout | brass            | unscrew and rinse     |
| rose  | brass, 48 holes  | soak in vinegar, 2 h  |
"""

_QUESTIONS = """\
# The questions: a list. Only id and question are needed; every other field is optional.
- id: CAN-01
  question: How much does the watering can hold?
  reference_answer: 5 litres.
  doc_id: example/watering-can # the path below documents/ without suffix
  keywords: [5 litres]

# - id: CAN-02
#   question: Compare the roses of the small and the large can.
#   reference_answer: 48 holes against 96.
#   doc_id: example/watering-can
#   also_docs: [example/large-can] # other documents that answer it; comparisons need them
#   keywords: ["48", "96"]
#   gold: ["rose  | brass, 48 holes"] # text that marks the relevant passage
#   cross_corpus: true # ask every corpus (default: found by the comparison pattern)
#   corpora: [example] # ask these
#   context: "Traceback (most recent call last): ..." # goes to the generator and the judge with the question
#   source: src/can.py:12 # the code it is about
#   answerable: false # the documents do not say
#   tags: [table]
#   origin: written # generated | written | production
#   drafted_by: MODEL
#   reviewed: true # false: reported, and left out of gates
"""

_LINES: Mapping[str, tuple[str, ...]] = {
    ".gitattributes": (GIT_ATTRIBUTES.strip(),),
    ".gitignore": (".rag-audit/",),
}


def create_project(folder: Path) -> list[str]:
    """Write a new project into a folder and return the paths written, relative to it.

    Raises ConfigError, before anything is written, where one of the files is there already or a file cannot be
    written. Of .gitattributes and .gitignore only the lines that are missing are added.
    """
    files = {
        "documents/config.yml": config_template(),
        "documents/example/watering-can.md": _EXAMPLE_DOCUMENT,
        "questions.yml": _QUESTIONS,
    }
    for name in ("questions.yml", "documents"):
        if (folder / name).exists() or (folder / name).is_symlink():
            raise ConfigError("is there already", "init only starts new projects; name an empty folder.", where=name)
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        added = [name for name, lines in _LINES.items() if _add_lines(folder / name, lines)]
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error.strerror or error}", "Name a folder that you may write.", where=str(folder)
        ) from error
    return [*files, *added]


def _add_lines(path: Path, lines: tuple[str, ...]) -> bool:
    """Add the lines that a file does not hold yet; says whether there were any."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in lines if line not in before.splitlines()]
    if missing:
        gap = "" if before.endswith("\n") or not before else "\n"
        path.write_text(before + gap + "\n".join(missing) + "\n", encoding="utf-8", newline="\n")
    return bool(missing)
