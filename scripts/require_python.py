"""Say clearly when the Python at hand is too old; runs on any Python 3."""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "error: rag-audit needs Python 3.11 or newer; this is %d.%d\n" % sys.version_info[:2]
        + "hint: make PYTHON=python3.11 (or newer)\n"
    )
    raise SystemExit(2)
