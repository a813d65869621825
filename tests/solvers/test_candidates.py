"""A minority never wins because it agrees better than the majority."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.tables import NETWORKS, table

import neurotron as nt
from neurotron.solvers.candidates import concentrated
from neurotron.solvers.linearized import Linearized, coordinates_for


def picked(network, share, distance, seed, rows=20):
    """Return exact labels, but those of a near filter in the rows where it differs most."""
    draw = np.random.default_rng(seed)
    weights, away = draw.standard_normal((2, network.filter_size))
    other = weights + distance * np.linalg.norm(weights) * away / np.linalg.norm(away)
    X = draw.standard_normal((rows * network.filter_size, network.n_inputs))
    y, theirs = network(weights, X), network(other, X)
    rows_of_theirs = np.argsort(-np.abs(y - theirs))[: round(share * len(X))]
    y[rows_of_theirs] = theirs[rows_of_theirs]
    return X, y, weights


@pytest.mark.parametrize("name", ["linear", "symmetric", "convolution"])
@pytest.mark.parametrize("share", [0.3, 0.4])
@pytest.mark.parametrize("distance", [0.03, 0.001])
def test_a_filter_near_the_true_one_does_not_win_on_picked_rows(name, share, distance):
    for seed in range(3):
        X, y, weights = picked(NETWORKS[name], share, distance, seed)
        assert nt.solve(NETWORKS[name], X, y).weights == pytest.approx(weights, abs=1e-10)


@pytest.mark.parametrize("name", ["linear", "symmetric"])
@pytest.mark.parametrize("opposite", [True, False])
def test_a_minority_without_noise_does_not_win(name, opposite):
    network = NETWORKS[name]
    for seed in range(3):
        draw = np.random.default_rng(seed)
        weights = draw.standard_normal(network.filter_size)
        other = -weights if opposite else draw.standard_normal(network.filter_size)
        X = draw.standard_normal((40 * network.filter_size, network.n_inputs))
        exact = network(weights, X)
        y = exact + 0.2 * exact.std() * draw.standard_normal(len(X))
        few = round(0.45 * len(X))
        y[:few] = network(other, X[:few])
        solution = nt.solve(network, X, y)
        error = np.linalg.norm(solution.weights - weights)
        assert error < 0.3 * np.linalg.norm(other - weights)


def test_the_filter_of_fewer_than_half_of_the_rows_is_not_called_converged():
    draw = np.random.default_rng(0)
    X = draw.standard_normal((300, 3))
    y = X @ [1.0, 2.0, 3.0]
    y[120:] = 20.0 * draw.standard_normal(180)  # no filter explains these
    solution = nt.solve(nt.networks.linear(3), X, y)
    assert solution.weights == pytest.approx([1.0, 2.0, 3.0])
    assert solution.rejected.mean() > 0.5
    assert not solution.converged


def test_concentration_ends_at_least_squares_of_the_rows_with_the_smallest_residuals():
    data = table(NETWORKS["linear"], 200, 0.3, noise=0.5)
    equal = np.ones(len(data.X))
    coordinates = coordinates_for(data.network, data.X, equal)
    rows = Linearized(data.network, data.X, data.y, None, equal, coordinates)
    weights, _ = rows.weights(concentrated(rows, np.zeros(rows.size), 0.6))
    kept = np.argsort(np.abs(data.y - data.X @ weights))[:120]
    assert weights == pytest.approx(np.linalg.lstsq(data.X[kept], data.y[kept])[0], abs=1e-8)


def test_counts_with_many_zeros_are_fitted_by_all_labels():
    """The zeros agree exactly with a filter that says nothing about the others."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((500, 3))
    y = np.maximum(np.round(2.0 * X[:, 0] + draw.standard_normal(500) - 0.5), 0.0)
    with pytest.warns(UserWarning, match="labels are equal"):
        solution = nt.solve(nt.networks.linear(3), X, y, intercept=True)
    columns = np.column_stack([X, np.ones(500)])
    usual = np.linalg.lstsq(columns, y)[0]
    found = np.append(solution.weights, solution.intercept)
    assert np.std(columns @ (found - usual)) < 0.4 * np.std(columns @ usual)
    assert solution.noise > 0.5
    assert solution.rejected.mean() < 0.02
