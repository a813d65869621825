"""Shared by all tests: fixed examples, fixed seeds, one thread per process."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import neurotron as nt
from tests.support.cpu import CpuMeter

settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuMeter(), "cpu")


def networks() -> dict[str, nt.FilterNetwork]:
    """One network of every kind, leaky and weighted ones too."""
    draw = np.random.default_rng(0)
    build = nt.networks
    return {
        "relu_gate": build.relu_gate(6),
        "symmetric": build.symmetric(9, 4, 6, seed=3),
        "symmetric_leaky": build.symmetric(9, 4, 6, seed=3, leak=0.3),
        "symmetric_weighted": build.symmetric(9, 4, 4, seed=3, outer_weights=[1, 2, 0.5, -3]),
        "convolution": build.convolution(9, 4, 2, leak=0.1),
        "circular": build.convolution(10, 3, 4, circular=True),
        "convolution2d": build.convolution2d((4, 5), (2, 3), (1, 2), outer_weights=2.0),
        "from_gates": build.from_gates(draw.standard_normal((3, 4, 7)), leak=0.05),
    }


@pytest.fixture(params=networks())
def network(request: pytest.FixtureRequest) -> nt.FilterNetwork:
    return networks()[request.param]


@pytest.fixture(scope="session")
def small_problem() -> nt.Problem:
    network = nt.networks.symmetric(12, 4, 6, seed=1)
    return nt.Problem.draw(network, nt.Normal(), seed=1)
