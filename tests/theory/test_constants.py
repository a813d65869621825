"""No sensing matrix beats polar in λ1/λ2, none beats optimal in the floor (docs/theory.md (d))."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron.networks import sensing
from neurotron.theory import lambda1, lambda2, lambda3


def random_problem(seed: int) -> nt.Problem:
    draw = np.random.default_rng(seed)
    r, n = int(draw.integers(1, 5)), 6
    network = nt.networks.symmetric(n, r, 4, seed=seed, outer_weights=draw.uniform(0.5, 2.0, 4))
    factor = draw.standard_normal((n, n)) + 2 * np.eye(n)
    return nt.Problem.draw(network, nt.Correlated(nt.Normal(), factor), seed=seed)


def candidates(problem: nt.Problem, best: np.ndarray, seed: int) -> list[np.ndarray]:
    """Random matrices, and small changes of the best one: the ones most likely to beat it."""
    draw = np.random.default_rng(seed + 1)
    noise = draw.standard_normal((8, *best.shape))
    scales = np.abs(best).max() * 10.0 ** draw.uniform(-6, 0, (4, 1, 1))
    return [*noise[:4], *(best + scales * noise[4:]), problem.network.mean_gate]


@given(seed=st.integers(0, 10_000))
def test_no_matrix_beats_polar_in_lambda1_over_lambda2(seed):
    problem = random_problem(seed)
    best = sensing.polar(problem.network, problem.covariance)
    ratio = lambda1(problem, best) / lambda2(best)
    smallest = np.linalg.svd(problem.network.mean_gate @ problem.covariance, compute_uv=False)[-1]
    assert ratio == pytest.approx(smallest, rel=1e-8)
    for other in candidates(problem, best, seed):
        assert lambda1(problem, other) / lambda2(other) <= ratio * (1 + 1e-9)


def floor_constant(problem, m):
    """Return the error floor under attack in units of 2βθ/(1+α)."""
    smallest = lambda1(problem, m)
    largest = np.linalg.eigvalsh(m @ problem.covariance @ m.T)[-1]
    return np.sqrt(largest) / smallest if smallest > 0.0 else np.inf


@given(seed=st.integers(0, 10_000))
def test_no_matrix_beats_optimal_in_the_error_floor(seed):
    problem = random_problem(seed)
    best = sensing.optimal(problem.network, problem.covariance)
    floor = floor_constant(problem, best)
    gate = problem.network.mean_gate
    closed_form = np.linalg.eigvalsh(gate @ problem.covariance @ gate.T)[0] ** -0.5
    assert floor == pytest.approx(closed_form, rel=1e-6)
    for other in candidates(problem, best, seed):
        assert floor_constant(problem, other) >= floor * (1 - 1e-9)


def test_for_isotropic_inputs_optimal_has_polars_ratio():
    network = nt.networks.symmetric(30, 8, 4, seed=1)
    problem = nt.Problem.draw(network, nt.Laplace(scale=0.7))
    ratios = [
        lambda1(problem, m) / lambda2(m)
        for m in (make(network, problem.covariance) for make in (sensing.polar, sensing.optimal))
    ]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-10)


def test_lambda3_is_the_mean_squared_spectral_norm():
    gates = np.array([np.diag([1.0, 2.0]), np.diag([3.0, 1.0])])
    assert lambda3(nt.networks.from_gates(gates, outer_weights=[1.0, 2.0])) == pytest.approx(
        (1 * 4 + 4 * 9) / 2
    )


def test_only_the_symmetric_part_counts():
    """A rotation by 90° has eigenvalues ±i, yet dᵀMd = 0 for all d: λ1 must be 0."""
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Normal())
    assert lambda1(problem, [[0.0, 1.0], [-1.0, 0.0]]) == pytest.approx(0.0)
