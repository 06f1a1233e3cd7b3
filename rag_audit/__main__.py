"""`python -m rag_audit` is the same as `rag-audit`."""

from rag_audit.cli import main

main()
