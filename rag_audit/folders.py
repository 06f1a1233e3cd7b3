"""Walking a project's folders without leaving the project, going in circles or passing over what cannot be read."""

import os
from collections.abc import Iterator
from pathlib import Path

from rag_audit.errors import InputError


def walk_folders(top: Path, project: Path) -> Iterator[tuple[Path, list[str]]]:
    """Every folder at or below `top` with the sorted names of its files; hidden ones are left out.

    Links are followed within the project. Raises InputError for a link that leaves it and for an unreadable folder.
    """

    def refuse(error: OSError) -> None:
        where = Path(str(error.filename)).relative_to(project).as_posix() if error.filename else None
        raise InputError(
            f"cannot be read: {error.strerror or error}", "Check the folder and its permissions.", where=where
        ) from error

    if not top.is_dir():
        return
    seen: set[Path] = set()
    for root, folders, names in os.walk(top, followlinks=True, onerror=refuse):
        here = Path(root)
        check_inside(here, project)
        real = here.resolve()
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield here, sorted(name for name in names if not name.startswith("."))


def check_inside(path: Path, project: Path) -> None:
    """Raise InputError where a path, its links followed, is not in the project."""
    if not path.resolve().is_relative_to(project.resolve()):
        raise InputError(
            "leads outside the project", "Copy it into the project.", where=path.relative_to(project).as_posix()
        )
