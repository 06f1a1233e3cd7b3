"""Models that need no network and no key: deterministic, and honest about what they cannot do."""
