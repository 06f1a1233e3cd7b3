"""What several tests of the history share."""

import os

import pytest


@pytest.fixture
def no_syncing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that write thousands of records and look at contents, not at what survives a power cut."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
