"""rag-audit: evaluate a RAG pipeline, see what changed, and check the judge claim by claim."""

__version__ = "0.1.0"
