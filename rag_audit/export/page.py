"""The frame of an HTML page: one file, no script, nothing fetched, readable on paper."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rag_audit import __version__
from rag_audit.export.markup import html_text

_STYLE = Path(__file__).with_name("page.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""No script, image, font or request, whatever the texts on the page contain."""


def page_start(title: str) -> str:
    """Everything before the content."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{html_text(title)}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style></head>\n"
        f"<body>\n<h1>{html_text(title)}</h1>\n"
    )


def page_end(head: str | None) -> str:
    """Everything after the content: where the numbers come from, so that they can be checked."""
    anchor = f"History head <code>{html_text(head)}</code>: <code>verify --head</code> proves it." if head else ""
    return f'<p class="dim">rag-audit {html_text(__version__)}. {anchor}</p>\n</body></html>\n'


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already; `numbers` lists right-aligned columns."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="n">{cell}</{tag}>' if at in numbers else f"<{tag}>{cell}</{tag}>"
            for at, cell in enumerate(row)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<thead><tr>{cells('th', header)}</tr></thead>"
    return f'<div class="scroll"><table>{head}\n<tbody>{body}</tbody></table></div>\n'


def tagged(word: str, shown: str | None = None) -> str:
    """A verdict as text in its colour; the word itself says it without the colour."""
    return f'<span class="{html_text(word)}">{html_text(shown or word.replace("_", " "))}</span>'
