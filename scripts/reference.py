"""Write the generated parts of the documentation: verbs, settings and keys, from the tables the program itself uses.

With --check nothing is written; the exit code is 1 where a file is out of date.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from rag_audit.cli import VERBS, rag_audit
from rag_audit.config import settings_reference
from rag_audit.tui.actions import keys_table

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Write, or with --check compare, every generated page."""
    rendered = pages()
    outdated = [path for path, text in rendered.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in outdated:
            print(f"{path.relative_to(ROOT)} is out of date: python scripts/reference.py writes it", file=sys.stderr)
        return 1 if outdated else 0
    for path in outdated:
        path.write_text(rendered[path], "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def pages() -> dict[Path, str]:
    """Every page with generated text, as it should be."""
    readme = (ROOT / "README.md").read_text("utf-8")
    for name, text in (("verbs", verbs_table()), ("keys", keys_table())):
        readme = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", rf"\g<1>{_literal(text)}\n\g<2>", readme, flags=re.S
        )
    return {
        ROOT / "README.md": readme,
        ROOT / "docs" / "verbs.md": verbs_page(),
        ROOT / "docs" / "settings.md": settings_reference(),
    }


def verbs_table() -> str:
    """The README's table of verbs."""
    rows = [f"| `{name}` | {_cell(line)} |" for name, (_, line) in VERBS.items()]
    return "\n".join(["| verb | what it does |", "|---|---|", *rows])


def verbs_page() -> str:
    """The help of every verb, as `--help` prints it."""
    parts = ["# Verbs", "What `rag-audit VERB --help` prints. Made by `scripts/reference.py`."]
    context = click.Context(rag_audit, info_name="rag-audit")
    for name in VERBS:
        command = rag_audit.get_command(context, name)
        if command is None:
            raise LookupError(name)
        for path, help_text in _help_pages(command, context, name):
            parts.append(f"{'##' if ' ' not in path else '###'} {path}\n\n```text\n{help_text}\n```")
    return "\n\n".join(parts) + "\n"


def _help_pages(command: click.Command, parent: click.Context, name: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield context.command_path.removeprefix("rag-audit "), command.get_help(context)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _help_pages(found, context, child)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\")


if __name__ == "__main__":
    sys.exit(main())
