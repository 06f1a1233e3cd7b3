"""Short content hashes: equal texts give equal fingerprints on every machine and in every version."""

import hashlib
from collections.abc import Iterable


def fingerprint(parts: Iterable[str | None]) -> str:
    """Hash a sequence of texts (None apart from the empty text) to 24 hexadecimal digits of SHA-256.

    Each part is prefixed with its length, so that moving a character between parts gives another hash.
    """
    digest = hashlib.sha256()
    for part in parts:
        encoded = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update(b"-" if part is None else str(len(encoded)).encode())
        digest.update(b":" + encoded)
    return digest.hexdigest()[:24]
