"""Rows with large leverage cannot pull the last step towards labels that are a few deviations off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

import neurotron as nt
from neurotron.solvers.all_rows import LinearRows
from neurotron.solvers.strict import STRICT, level_and_scale, strict_finish
from neurotron.solvers.table import Table


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


@pytest.fixture
def usual(monkeypatch):
    """Return what switches the strict step off."""
    return lambda: monkeypatch.setattr(
        Table, "checked_by_leverage", lambda self, searched, found, point, scale, tolerance: (
            point, scale
        )
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [True, False])
def test_rows_with_large_leverage_do_not_pull_the_filter(seed, intercept, usual):
    X, y, weights, bad = pulled(seed=seed)
    clean = np.linalg.lstsq(np.delete(X, bad, 0), np.delete(y, bad))[0]
    strict = off(X, y, weights, intercept=intercept)
    assert strict < 3.0 * np.linalg.norm(clean - weights) < 0.4
    usual()
    assert off(X, y, weights, intercept=intercept) > 0.9


@pytest.mark.parametrize(
    "noise",
    [
        lambda draw, rows: draw.standard_normal(rows),
        lambda draw, rows: draw.exponential(size=rows),  # the search finds another level of it
        lambda draw, rows: draw.standard_t(3, rows),
    ],
)
def test_honest_tables_keep_the_usual_last_step(noise, usual):
    tables = [pulled(400, 0.0, 4, seed, noise) for seed in range(5)]
    found = [off(*rows[:3], intercept=True) for rows in tables]
    usual()
    assert found == [off(*rows[:3], intercept=True) for rows in tables]


def test_few_rows_do_not_decide(usual):
    tables = [pulled(rows, 0.15, 5, seed)[:3] for rows in (140, 199) for seed in range(5)]
    found = [off(*rows, intercept=True) for rows in tables]
    usual()
    assert found == [off(*rows, intercept=True) for rows in tables]


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

    point, kept = strict_finish(linear_rows(X, y, counts), weights, scale, settled=1e-10)
    expected = minimize(loss, weights, tol=1e-12).x
    assert np.allclose(point, expected, atol=1e-5)
    near = np.abs(y - X @ point) < STRICT * scale
    assert kept == pytest.approx(counts @ near / counts.sum(), abs=1e-12)


def test_rows_that_count_twice_are_rows_that_occur_twice():
    X, y, weights, _ = pulled(300, columns=3)
    counts = np.where(np.arange(300) < 100, 2.0, 1.0)
    twice = np.repeat(np.arange(300), counts.astype(int))
    counted = strict_finish(linear_rows(X, y, counts), weights, 1.0, settled=1e-10)
    repeated = strict_finish(linear_rows(X[twice], y[twice]), weights, 1.0, settled=1e-10)
    assert np.allclose(counted[0], repeated[0], atol=1e-9)
    assert counted[1] == pytest.approx(repeated[1])


def test_a_scale_that_rejects_all_rows_keeps_none():
    X, y, weights, _ = pulled(300, columns=3)
    point, kept = strict_finish(linear_rows(X, y + 100.0), weights, 0.1, settled=1e-10)
    assert kept == 0.0
    assert (point == weights).all()


def test_the_level_balances_the_weighted_residuals():
    residuals = np.random.default_rng(0).exponential(size=2000) - 5.0
    level, scale = level_and_scale(residuals, None, 1, intercept=True)

    def balance(level):
        z = (residuals - level) / (4.685 * scale)
        return (z * np.maximum(1.0 - z**2, 0.0) ** 2).sum()

    assert level == pytest.approx(brentq(balance, -5.0, -3.5), abs=2e-3 * scale)
    assert level > np.median(residuals)


def test_without_an_intercept_the_level_is_zero():
    residuals = np.random.default_rng(0).standard_normal(5000)
    level, scale = level_and_scale(residuals, None, 1, intercept=False)
    assert level == 0.0
    assert scale == pytest.approx(1.0, abs=0.03)
