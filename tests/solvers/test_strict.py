"""Rows with large leverage cannot pull the last step towards labels a few deviations off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import neurotron as nt
from neurotron.solvers.all_rows import LinearRows
from neurotron.solvers.strict import STRICT, held_finish, strictly


def pulled(rows=1000, share=0.12, columns=8, seed=0, noise=None):
    """Return rows whose most extreme outputs have the labels of the opposite model.

    The outputs have the same standard deviation as the noise.
    """
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, columns))
    weights = draw.standard_normal(columns)
    weights /= np.linalg.norm(weights)
    honest = X @ weights
    y = honest + (draw.standard_normal(rows) if noise is None else noise(draw, rows))
    bad = np.argsort(-np.abs(honest))[: round(share * rows)]
    y[bad] = -honest[bad]
    return X, y, weights, bad


def off(X, y, weights, **options):
    """Return how far the outputs of the solution are from the honest ones, in noise deviations."""
    solution = nt.solve(nt.networks.linear(X.shape[1]), X, y, **options)
    return np.linalg.norm(solution.weights - weights)


def least_squares(X, y):
    return np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y)[0][:-1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [True, False])
def test_rows_with_large_leverage_do_not_pull_the_filter(seed, intercept):
    X, y, weights, bad = pulled(seed=seed)
    clean = least_squares(np.delete(X, bad, 0), np.delete(y, bad))
    error = off(X, y, weights, intercept=intercept)
    assert error < 3.0 * np.linalg.norm(clean - weights) < 0.4
    assert np.linalg.norm(least_squares(X, y) - weights) > 0.9


@pytest.mark.parametrize(
    "noise",
    [
        lambda draw, rows: draw.standard_normal(rows),
        lambda draw, rows: draw.exponential(size=rows),  # the search finds another level of it
        lambda draw, rows: draw.standard_t(3, rows),
    ],
    ids=["normal", "exponential", "Student"],
)
def test_honest_tables_cost_little(noise):
    tables = [pulled(400, 0.0, 4, seed, noise)[:3] for seed in range(8)]
    found = [off(X, y, weights, intercept=True) for X, y, weights in tables]
    usual = [np.linalg.norm(least_squares(X, y) - weights) for X, y, weights in tables]
    assert np.linalg.norm(found) < 1.15 * np.linalg.norm(usual)


def test_the_strict_step_finds_a_category_that_the_search_misses():
    X, y, weights, _ = pulled(20_000, seed=1)
    flag = np.zeros(len(X))
    flag[np.random.default_rng(1).choice(len(X), 8, replace=False)] = 1.0
    solution = nt.solve(
        nt.networks.linear(9), np.column_stack([X, flag]), y + 30.0 * flag, intercept=True
    )
    assert solution.weights == pytest.approx([*weights, 30.0], abs=1.5)
    assert np.linalg.norm(solution.weights[:-1] - weights) < 0.1


def test_the_noise_is_that_of_the_honest_rows():
    X, y, *_ = pulled(3000, seed=1)
    solution = nt.solve(nt.networks.linear(8), X, y, intercept=True)
    assert solution.noise == pytest.approx(1.0, abs=0.06)


# ---- the parts -----------------------------------------------------------------------------------


def linear_rows(X, y, counts=None):
    columns = X.shape[1]
    return LinearRows(nt.networks.linear(columns), X, y, counts, np.eye(columns), intercept=False)


def test_the_strict_step_minimises_the_bisquare_loss_with_the_scale_that_is_given():
    X, y, weights, _ = pulled(300, columns=3)
    scale, counts = 0.9, np.random.default_rng(0).integers(1, 4, 300).astype(float)

    def loss(point):
        ratios = np.minimum(((y - X @ point) / (STRICT * scale)) ** 2, 1.0)
        return counts @ (1.0 - (1.0 - ratios) ** 3)

    point = held_finish(linear_rows(X, y, counts), weights, scale, strictly, settled=1e-10)
    assert np.allclose(point, minimize(loss, weights, tol=1e-12).x, atol=1e-5)
