"""What changed between two runs, for which question, because of what, and whether it means anything."""

from rag_audit.diff.compare import compare_runs
from rag_audit.diff.gate import CONDITIONS

__all__ = ["CONDITIONS", "compare_runs"]
