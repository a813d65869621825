"""What the file of timings says about where they are from."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import vectors
from benchmarks.workloads import QUICK
from neurotron._environment import environment


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker of pytest-benchmark also where it is not loaded."""
    config.addinivalue_line("markers", "benchmark: how the function is timed")


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    """Keep our own fingerprint of the machine in place of the plugin's."""
    machine_info.clear()
    told = {**environment(), "vectors": vectors.name(vectors.measured_bits())}
    machine_info.update(environment=told, quick=QUICK)
