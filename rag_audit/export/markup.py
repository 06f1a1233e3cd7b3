"""Untrusted text inside Markdown, XML and HTML: visible, and without any meaning of its own."""

import html
import re

from rag_audit.text.visible import visible, visible_line

_NO_XML = re.compile(r"[\ufffe\uffff]|[\U0001fffe\U0001ffff]")
_BACKTICKS = re.compile(r"`+")


def code(text: str) -> str:
    """Text as a Markdown code span on one line, where neither markup nor @mentions work."""
    shown = visible_line(text).strip() or " "
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def code_cell(text: str) -> str:
    """A code span inside a Markdown table, where a bar would end the cell."""
    return code(text).replace("|", "\\|")


def xml_text(text: str) -> str:
    """Text for an XML element or attribute; characters that XML forbids become visible forms."""
    return html.escape(_NO_XML.sub("�", visible(text)), quote=True)


def html_text(text: str) -> str:
    """Text for an HTML element or attribute."""
    return html.escape(visible(text), quote=True)
