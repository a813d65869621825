"""Tables of many rows: a few rows find the filter, and all rows refine it without being copied."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import neurotron as nt

DRAW = np.random.default_rng(0)
NETWORK = nt.networks.linear(4)
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])
X = DRAW.standard_normal((12_000, 4)) * [0.01, 1.0, 30.0, 1e3] + [0.0, 5.0, 0.0, 2e3]
EXACT = X @ WEIGHTS + 7.0
NOISE = DRAW.standard_normal(12_000)
ROWS = np.arange(12_000)


@pytest.mark.parametrize("offset", [0.0, 1e5], ids=["well determined", "nearly dependent"])
def test_exact_labels_are_recovered_from_many_rows_in_any_units(offset):
    y = np.where(ROWS < 4_800, EXACT + 100.0, EXACT)
    solution = nt.solve(NETWORK, X + offset, y, intercept=True)
    assert solution.predict(X + offset) == pytest.approx(EXACT, rel=1e-9)
    assert (solution.rejected == (ROWS < 4_800)).all()
    if not offset:
        assert solution.weights == pytest.approx(WEIGHTS, abs=1e-9)
        assert solution.proven_against >= 4_800


def test_the_inputs_are_neither_changed_nor_locked():
    inputs = X[:200].copy()
    nt.solve(NETWORK, inputs, EXACT[:200], intercept=True)
    assert inputs.flags.writeable
    assert (inputs == X[:200]).all()


def test_a_row_of_weight_two_counts_like_two_of_many_rows():
    y = EXACT + np.where(ROWS < 3_000, NOISE + 6.0, NOISE)
    counts = DRAW.integers(1, 3, 12_000)
    weighted = nt.solve(NETWORK, X, y, intercept=True, sample_weight=counts)
    twice = np.repeat(ROWS, counts)
    repeated = nt.solve(NETWORK, X[twice], y[twice], intercept=True)
    assert weighted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-3)
    assert weighted.noise == pytest.approx(repeated.noise, rel=1e-3)


@pytest.mark.parametrize(
    "attack",
    [lambda X: 3.0, lambda X: np.where(ROWS % 2, 3.0, -3.0), lambda X: 3.0 * X[:, 1] - 15.0],
    ids=["one side", "both sides", "another model"],
)
def test_an_attack_that_hides_in_the_noise_of_many_rows_is_found(attack):
    bad = ROWS < 3_600
    solution = nt.solve(NETWORK, X, EXACT + NOISE + attack(X) * bad, intercept=True)
    assert solution.hidden_share == pytest.approx(0.3, abs=0.05)
    assert solution.predict(X) == pytest.approx(EXACT, abs=0.3)


def test_a_linear_solution_needs_less_memory_than_a_copy_of_the_inputs():
    wide = np.random.default_rng(3).standard_normal((40_000, 20))
    y = wide @ np.ones(20) + np.random.default_rng(4).standard_normal(40_000)
    tracemalloc.start()
    nt.solve(nt.networks.linear(20), wide, y, intercept=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < wide.nbytes
