"""Every error a person can meet: two lines, what is wrong and what to do about it.

RagAuditError
├── UsageError        the command line asked for something that does not exist
├── ConfigError       a setting, config.yml or questions.yml is wrong
├── InputError        a document or an imported file cannot be used
├── HistoryError      the history cannot be read or written
└── ProviderError     a model service or a local model failed
    └── KeyRejected   the service refused the key: nothing further can succeed
"""


class RagAuditError(Exception):
    """An error with a message and a hint; `where` is `file:line` or a file when there is one."""

    def __init__(self, message: str, hint: str, *, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(RagAuditError):
    """The command line asked for something that does not exist."""


class ConfigError(RagAuditError):
    """A setting, config.yml or questions.yml is wrong."""


class InputError(RagAuditError):
    """A document, a question or an imported file cannot be used."""


class HistoryError(RagAuditError):
    """The history cannot be read or written."""


class ProviderError(RagAuditError):
    """A model service or a local model failed; `reason` is the word under which the missing scores are counted.

    `may_cost`: the service may have done, and charged, the work all the same.
    """

    def __init__(
        self,
        message: str,
        hint: str,
        *,
        where: str | None = None,
        reason: str = "provider_error",
        may_cost: bool = False,
    ) -> None:
        super().__init__(message, hint, where=where)
        self.reason = reason
        self.may_cost = may_cost


class KeyRejected(ProviderError):
    """The service refused the key: nothing further can succeed."""
