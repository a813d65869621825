"""What is measured by its peak of memory: ``python -m benchmarks.memory NAME`` prints it in MB.

The peak is that of a whole process, so every function named ``peakmem_…`` has one of its own.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import neurotron as nt
from benchmarks import process
from benchmarks.workloads import FOUR_LAWS, fewer

__all__ = ["FUNCTIONS", "ROUNDS", "measure"]

ROUNDS = 3
STEPS = fewer(40_000)


def peakmem_replicate() -> None:
    """One replicate of a setting."""
    FOUR_LAWS[0].run(STEPS)


def peakmem_replicate_ten_times_the_steps() -> None:
    """One replicate that is ten times as long."""
    FOUR_LAWS[0].run(10 * STEPS)


def peakmem_eight_replicates() -> None:
    """Eight replicates at a time."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: FOUR_LAWS[0].run(STEPS, replicate=number), range(8)))


def peakmem_study() -> None:
    """One setting of the paper's study, results on disk."""
    _study(STEPS)


def peakmem_study_ten_times_the_steps() -> None:
    """One setting of the study with ten times the steps."""
    _study(10 * STEPS)


def _study(steps: int) -> None:
    study = nt.lab.read("paper")
    study = dataclasses.replace(study, settings=[study.settings[0] | {"steps": steps}], costs={})
    with tempfile.TemporaryDirectory() as place:
        # with one worker, because the peak of several depends on which of them meet by chance
        nt.lab.run(study, f"{place}/one", replicates=4, workers=1)


FUNCTIONS: Mapping[str, Callable[[], None]] = {
    name: function for name, function in list(globals().items()) if name.startswith("peakmem_")
}


def measure(rounds: int = ROUNDS) -> dict[str, np.ndarray]:
    """Return the peaks of every function in MB, one per round."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        for name in FUNCTIONS:  # the compiler's own memory is not counted
            process.python(
                "benchmarks.memory", name, cache=cache, variables={"BENCHMARKS_QUICK": "1"}
            )
        return {
            name: np.array([_peak_of(name, cache) for _ in range(rounds)]) for name in FUNCTIONS
        }


def _peak_of(name: str, cache: Path) -> float:
    return float(process.python("benchmarks.memory", name, cache=cache).output)


def peak() -> float:
    """Return the most memory that this process ever had; ru_maxrss begins with its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    FUNCTIONS[sys.argv[1]]()
    print(peak())
