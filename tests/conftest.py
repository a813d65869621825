"""Shared by all tests: fixed examples, fixed seeds, one thread per process."""

from __future__ import annotations

import os
import signal

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# a shell's background job ignores Ctrl-C, and so would the commands that tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import HealthCheck, settings
from tests.support.cpu import CpuMeter
from tests.support.networks import networks
from tests.support.passed import Resuming

import neurotron as nt

settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuMeter(), "cpu")
    config.pluginmanager.register(Resuming(), "resuming")


@pytest.fixture(params=networks())
def network(request: pytest.FixtureRequest) -> nt.FilterNetwork:
    return networks()[request.param]


@pytest.fixture(scope="session")
def small_problem() -> nt.Problem:
    network = nt.networks.symmetric(12, 4, 6, seed=1)
    return nt.Problem.draw(network, nt.Normal(), seed=1)
