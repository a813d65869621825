"""The parts of the solver, each against an independent derivation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from tests.solvers.tables import NETWORKS, table

from neurotron.residuals import robust
from neurotron.solvers import search
from neurotron.solvers.linearized import Linearized, coordinates_for

DRAW = np.random.default_rng(0)


def linearized(data, *, intercept=False, counts=None):
    equal = np.ones(len(data.X))
    coordinates = coordinates_for(
        data.network, data.X, equal if counts is None else counts, intercept=intercept
    )
    return Linearized(data.network, data.X, data.y, counts, equal, coordinates, intercept=intercept)


# ---- regression ----------------------------------------------------------------------------------


def test_an_increment_is_weighted_least_squares():
    rows, weights, residuals = DRAW.standard_normal((30, 4)), DRAW.random(30), DRAW.random(30)
    root = np.sqrt(weights)
    expected = np.linalg.lstsq(rows * root[:, None], residuals * root, rcond=None)[0]
    assert robust.increment(rows, weights, residuals) == pytest.approx(expected, rel=1e-9)


def test_normal_equations_of_any_units_are_solved():
    units = np.array([1e-12, 1.0, 1e12])
    rows = DRAW.standard_normal((20, 3))
    matrix, answer = (rows * units).T @ (rows * units), np.array([1.0, 2.0, 3.0]) / units
    found = robust.solve_normal_equations(matrix, matrix @ answer)
    assert found * units == pytest.approx([1.0, 2.0, 3.0], rel=1e-9)


def test_leverages_are_the_diagonal_of_the_hat_matrix():
    rows = DRAW.standard_normal((30, 4)) * [1.0, 10.0, 0.1, 1.0]
    hat = rows @ np.linalg.solve(rows.T @ rows, rows.T)
    assert robust.leverages(rows, None) ** 2 == pytest.approx(30 * np.diag(hat), rel=1e-6)


def test_counts_are_repetitions():
    values, counts = DRAW.standard_normal(9), np.array([1, 2, 3, 1, 4, 1, 2, 2, 3])
    repeated = np.repeat(values, counts)
    assert robust.mean(values, counts * 1.0) == pytest.approx(repeated.mean())
    assert robust.median(values, counts * 1.0) == pytest.approx(np.median(repeated))
    rows = DRAW.standard_normal((9, 2))
    once = robust.leverages(rows, counts * 1.0)
    assert np.repeat(once, counts) == pytest.approx(
        robust.leverages(np.repeat(rows, counts, axis=0), None), rel=1e-6
    )


# ---- the honest scale ----------------------------------------------------------------------------


def test_the_scale_is_that_of_normal_noise():
    variance = stats.truncnorm(-robust.INNER, robust.INNER).var()
    assert pytest.approx(variance, abs=1e-4) == robust.INNER_VARIANCE
    assert pytest.approx(stats.norm.ppf(0.75), abs=1e-4) == robust.NORMAL_MEDIAN


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4])
def test_tampered_rows_far_off_do_not_change_the_scale(share):
    sizes = np.abs(0.7 * np.random.default_rng(1).standard_normal(40_000))
    sizes[: int(share * 40_000)] = 0.7 * 10.0
    start = np.median(sizes) / robust.NORMAL_MEDIAN
    assert robust.honest_scale(sizes, None, start, 1e-15, 5) == pytest.approx(0.7, rel=0.02)


def test_the_scale_falls_to_the_floor_where_labels_are_exact():
    sizes = np.concatenate([np.zeros(60), np.ones(40)])
    assert robust.honest_scale(sizes, None, 0.3, 1e-9, 5) == 1e-9


def test_rejecting_is_95_percent_efficient():
    """The efficiency of an M-estimate is (E ψ')² / E ψ², with ψ(z) = z · weight(z)."""
    c = robust.BISQUARE

    def psi(z):
        return z * float(robust.bisquare(np.array([z]), 1.0)[0])

    def slope(z):
        return (psi(z + 1e-6) - psi(z - 1e-6)) / 2e-6

    def mean(f):
        return integrate.quad(lambda z: f(z) * stats.norm.pdf(z), -c, c, limit=200)[0]

    assert mean(slope) ** 2 / mean(lambda z: psi(z) ** 2) == pytest.approx(0.95, abs=1e-3)


# ---- the rows as a regression --------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NETWORKS])
@pytest.mark.parametrize("intercept", [False, True])
def test_outputs_are_linear_in_the_weights_at_every_filter(name, intercept):
    data = table(NETWORKS[name], rows=50)
    rows = linearized(data, intercept=intercept)
    point = np.random.default_rng(1).standard_normal(rows.size)
    weights, constant = rows.weights(point)
    outputs = data.network(weights, data.X) + constant
    assert rows.residuals(point) == pytest.approx(data.y - outputs, abs=1e-11)
    gradient = data.network.gradient(weights, data.X) @ rows.coordinates[: len(weights)]
    if not intercept:
        assert rows.gradient(point) == pytest.approx(gradient, abs=1e-11)
    assert (constant != 0.0) == intercept


@pytest.mark.parametrize("counted", [False, True])
def test_the_coordinates_make_the_rows_white(counted):
    data = table(NETWORKS["linear"], rows=80)
    data = data._replace(X=data.X * 10.0 ** np.arange(6.0) + 100.0)
    counts = np.random.default_rng(1).random(80) + 0.5 if counted else None
    rows = linearized(data, counts=counts).projected[0]
    weighted = rows if counts is None else rows * counts[:, None]
    assert weighted.T @ rows / 80 == pytest.approx(np.eye(6), abs=1e-9)


# ---- the judge -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "symmetric", "convolution"])
def test_a_descent_from_nearby_ends_at_the_true_filter(name):
    data = table(NETWORKS[name], rows=200, share=0.4)
    rows = linearized(data)
    start = np.linalg.lstsq(rows.coordinates, 0.8 * data.true_weights, rcond=None)[0]
    weights, _ = rows.weights(search.descend(rows, start))
    assert np.abs(weights - data.true_weights).max() < 1e-11


def test_hampels_weights_are_the_slopes_of_their_influence():
    """Influence rises, is constant and falls to nothing, without a jump."""
    full, flat, none = robust.HAMPEL
    sizes = np.linspace(0.01, none + 1.0, 2_000)
    influence = sizes * robust.hampel(3.0 * sizes, 3.0)
    expected = np.interp(sizes, [0.0, full, flat, none, 99.0], [0.0, full, full, 0.0, 0.0])
    np.testing.assert_allclose(influence, expected, atol=1e-12)
    np.testing.assert_array_equal(robust.hampel(-3.0 * sizes, 3.0), robust.hampel(3.0 * sizes, 3.0))
