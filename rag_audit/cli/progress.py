"""Progress of a run on stderr: a live bar with the time left on a terminal, else one line a finished question."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rag_audit.attempt import Progress, Watcher
from rag_audit.cli.output import diagnose
from rag_audit.text.visible import visible_line

_WARNINGS = 5


@contextmanager
def progress_watcher() -> Iterator[Watcher]:
    """A watcher that suits where stderr goes; of many warnings it shows the first."""
    warnings = 0

    def watch(progress: Progress) -> None:
        nonlocal warnings
        warnings += progress.event == "warning"
        if progress.event != "warning" or warnings <= _WARNINGS:
            show(progress)
        elif warnings == _WARNINGS + 1:
            show(replace(progress, note="there are more; `rag-audit questions check` lists them all"))

    if sys.stderr.isatty():
        with _live_bar() as show:
            yield watch
    else:
        show = _plain_line
        yield watch


def _plain_line(progress: Progress) -> None:
    if progress.event == "done":
        diagnose(f"done {progress.question_id}")
    elif progress.event == "started":
        diagnose(f"run {progress.run_id}: {progress.done} of {progress.total} done")
    elif progress.event == "waiting":
        diagnose(progress.note)
    elif progress.event == "warning":
        diagnose(f"warning: {progress.note}")


@contextmanager
def _live_bar() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("preparing", total=None, note="")

        def watch(progress: Progress) -> None:
            note = visible_line(progress.note or progress.question_id or "")
            if progress.event == "warning":
                bar.console.print(f"warning: {note}", markup=False, highlight=False)
            elif progress.event == "waiting":
                bar.update(task, note=note)
            else:
                bar.update(task, description=progress.run_id, total=progress.total, completed=progress.done, note=note)

        yield watch
