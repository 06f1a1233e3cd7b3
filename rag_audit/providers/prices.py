"""What a call cost: tokens as reported times prices that the user states; an unknown price is an unknown cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_audit.errors import ConfigError

_MILLION = 1_000_000
_CACHE_WRITE_SURCHARGE = 1.25
"""What writing to a cache costs beside fresh input where the price list does not say."""


@dataclass(frozen=True, slots=True)
class BilledTokens:
    """Tokens of one call as they are billed; no token is in two of them."""

    fresh: int
    """Input that was neither read from nor written to a cache."""
    cache_write: int
    cache_read: int
    output: int


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached_input: float
    cache_write: float
    as_of: str | None = None

    def cost(self, tokens: BilledTokens) -> float:
        """US dollars for one call."""
        return (
            tokens.fresh * self.input
            + tokens.cache_write * self.cache_write
            + tokens.cache_read * self.cached_input
            + tokens.output * self.output
        ) / _MILLION


def price_of(prices: Mapping[str, Any], *names: str) -> Price | None:
    """The price of the first of the names that the setting `prices` knows (`anthropic:M`, then `M`); None if none."""
    for name in names:
        if name in prices:
            return _read(name, prices[name])
    return None


def _read(name: str, entry: Any) -> Price:
    def number(key: str, fallback: float | None = None) -> float:
        value = entry.get(key, fallback) if isinstance(entry, Mapping) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise ConfigError(
                f"prices: {name} has no usable {key!r}",
                "Give USD per million tokens: {input: 1.0, cached_input: 0.1, output: 5.0, as_of: 2026-11-01}.",
            )
        return float(value)

    fresh = number("input")
    as_of = entry.get("as_of")
    return Price(
        input=fresh,
        output=number("output"),
        cached_input=number("cached_input", fresh),
        cache_write=number("cache_write", fresh * _CACHE_WRITE_SURCHARGE),
        as_of=None if as_of is None else str(as_of),
    )
