"""What JSON and UTF-8 files cannot hold, replaced: lone surrogates, and whole numbers beyond 53 bits."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

_BIGGEST = 2**53


def storable(text: str) -> str:
    """The text with U+FFFD for lone surrogates, such as the odd bytes of a file name or an argument."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable_document(value: Any) -> Any:
    """Plain data with every text storable, whole numbers beyond 53 bits as text, dataclasses as mappings."""
    if isinstance(value, str):
        return storable(value)
    if is_dataclass(value) and not isinstance(value, type):
        return storable_document(asdict(value))
    if isinstance(value, Mapping):
        return {storable(str(key)): storable_document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_document(item) for item in value]
    if isinstance(value, int) and abs(value) > _BIGGEST:
        return str(value)
    return value
