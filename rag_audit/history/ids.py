"""Run ids: short, sortable by time, unique across processes."""

import secrets
from datetime import UTC, datetime

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_run_id(now: datetime) -> str:
    """An id such as `20261129-204253-3fk9q2x`: UTC date and time, two digits of milliseconds, five random ones."""
    moment = now.astimezone(UTC)
    milliseconds = moment.microsecond // 1000
    tail = _DIGITS[milliseconds // 32] + _DIGITS[milliseconds % 32]
    return f"{moment:%Y%m%d-%H%M%S}-{tail}{''.join(secrets.choice(_DIGITS) for _ in range(5))}"
