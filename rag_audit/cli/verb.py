"""What every verb shares: --project, --json and --debug, accepted before and after the verb."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from rag_audit.errors import UsageError


def _default_project() -> Path:
    return Path(os.environ.get("RAG_AUDIT_PROJECT") or ".")


@dataclass(slots=True)
class Invocation:
    """What the common options said."""

    project: Path = field(default_factory=_default_project)
    json: bool = False
    debug: bool = False

    @property
    def root(self) -> Path:
        """The project's folder, absolute; an error where it does not exist."""
        if not self.project.is_dir():
            raise UsageError(f"no project folder {self.project}", "Name one with --project DIR, or make one: init DIR.")
        return self.project.resolve()


def _store(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    invocation = ctx.find_root().obj
    if value and param.name and isinstance(invocation, Invocation):
        setattr(invocation, param.name, value)


def common_options() -> list[click.Option]:
    """The options that every verb and group takes."""
    return [
        click.Option(
            ["--project"],
            type=click.Path(path_type=Path),
            expose_value=False,
            callback=_store,
            metavar="DIR",
            help="The project's folder (default: this one, or RAG_AUDIT_PROJECT).",
        ),
        click.Option(["--json"], is_flag=True, expose_value=False, callback=_store, help="Print one JSON document."),
        click.Option(
            ["--debug"], is_flag=True, expose_value=False, callback=_store, help="Show a traceback on errors."
        ),
    ]


class Verb(click.Command):
    """A command that takes the common options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


class VerbGroup(click.Group):
    """A group that takes the common options and whose commands do."""

    command_class = Verb
    group_class = type

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("no_args_is_help", False)  # A missing command is an error of two lines.
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


def verb(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], Verb]:
    """Declare a verb: the function gets the Invocation as its first argument."""

    def declare(function: Callable[..., Any]) -> Verb:
        command: Verb = click.command(name, cls=Verb, **attributes)(click.pass_obj(function))
        return command

    return declare
