"""One thing that is wrong with a project's files."""

from dataclasses import dataclass

from rag_audit.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what to do."""

    file: str
    line: int | None
    id: str | None
    problem: str
    hint: str = ""

    def error(self) -> ConfigError:
        """The problem as an error."""
        return ConfigError(
            f"{self.id}: {self.problem}" if self.id else self.problem,
            self.hint or "rag-audit questions check lists every problem.",
            where=self.place,
        )

    @property
    def place(self) -> str:
        """`file:line`, or the file."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.id}: {self.problem}" if self.id else f"{self.place}: {self.problem}"
