"""What the file of timings says of where they are from."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.workloads import QUICK
from neurotron._environment import environment


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    """Keep our own fingerprint of the machine in place of the plugin's."""
    machine_info.clear()
    machine_info.update(environment=environment(), quick=QUICK)
