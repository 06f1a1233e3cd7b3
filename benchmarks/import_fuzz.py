"""Damage every sample thousands of times and import it: `python -m benchmarks.import_fuzz [EXAMPLES [NAME…]]`."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from tests.importers.mutation import check_import, damaged
from tests.importers.samples import SAMPLES, Sample


def fuzz(sample: Sample, examples: int) -> Counter[str]:
    """Import so many damaged copies; raises with the smallest copy that was neither opened nor refused."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / sample.name

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(damaged(sample))
        def run(data: bytes) -> None:
            path.write_bytes(data)
            outcomes[check_import(path, sample)] += 1

        run()
    return outcomes


def main() -> None:
    """Fuzz each format, or those that are named, in turn."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for name in sys.argv[2:] or SAMPLES:
        sample = SAMPLES[name]
        started = time.perf_counter()
        outcomes = fuzz(sample, examples)
        seconds = time.perf_counter() - started
        print(f"{name:28} {outcomes['opened']:6} opened {outcomes['refused']:6} refused  {seconds:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
