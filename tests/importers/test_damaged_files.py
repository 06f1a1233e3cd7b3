"""Damaged files never end in a traceback: they open with counts that balance, or are refused with a reason."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.importers.mutation import check_import, damaged
from tests.importers.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_file_opens_balanced_or_is_refused(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    path = tmp_path / sample.name

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(damaged(sample))
    def holds(data: bytes) -> None:
        path.write_bytes(data)
        check_import(path, sample)

    holds()


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".eval"])
def test_any_bytes_are_refused_or_opened(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"file{suffix}"
    sample = SAMPLES["ragas-csv"]

    @settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=200))
    def holds(data: bytes) -> None:
        path.write_bytes(data)
        check_import(path, sample)

    holds()
