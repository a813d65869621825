"""Rows with large leverage cannot pull the last step towards labels a few deviations off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

import neurotron as nt
from neurotron.solvers.all_rows import LinearRows
from neurotron.solvers.strict import STRICT, noise_of, strict_finish
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
    tables = [pulled(400, 0.0, 4, seed, noise) for seed in range(3)]
    found = [off(*rows[:3], intercept=True) for rows in tables]
    usual()
    assert found == [off(*rows[:3], intercept=True) for rows in tables]


def test_few_rows_do_not_decide(usual):
    sizes = ((199, 5), (199, 3), (270, 10))  # 200 are needed, and 25 for each of 11 weights
    tables = [pulled(rows, 0.15, columns, seed)[:3] for rows, columns in sizes for seed in range(3)]
    found = [off(*rows, intercept=True) for rows in tables]
    usual()
    assert found == [off(*rows, intercept=True) for rows in tables]


def test_a_strict_step_that_shows_as_much_noise_is_not_taken(usual):
    rows = pulled(400, 0.3, 4, 1)[:3]  # too many: the search follows the attacked rows
    found = off(*rows, intercept=True)
    usual()
    assert found == off(*rows, intercept=True)


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

    point = strict_finish(linear_rows(X, y, counts), weights, scale, settled=1e-10)
    assert np.allclose(point, minimize(loss, weights, tol=1e-12).x, atol=1e-5)


def test_rows_that_count_twice_are_rows_that_occur_twice():
    X, y, weights, _ = pulled(300, columns=3)
    counts = np.where(np.arange(300) < 100, 2.0, 1.0)
    twice = np.repeat(np.arange(300), counts.astype(int))
    counted = strict_finish(linear_rows(X, y, counts), weights, 1.0, settled=1e-10)
    repeated = strict_finish(linear_rows(X[twice], y[twice]), weights, 1.0, settled=1e-10)
    assert np.allclose(counted, repeated, atol=1e-9)


def test_noise_of_rows_that_count_twice_is_that_of_rows_that_occur_twice():
    residuals = np.random.default_rng(0).exponential(size=2000)
    counts = np.where(residuals > 1.0, 4.0, 1.0)
    often = np.repeat(residuals, counts.astype(int))
    counted = noise_of(residuals, counts, 3, around_level=True)
    assert counted == pytest.approx(noise_of(often, None, 3, around_level=True), rel=2e-3)


def test_a_scale_that_rejects_all_rows_leaves_the_point():
    X, y, weights, _ = pulled(300, columns=3)
    assert (strict_finish(linear_rows(X, y + 100.0), weights, 0.1, settled=1e-10) == weights).all()


def test_the_noise_around_the_level_does_not_depend_on_the_level():
    residuals = np.random.default_rng(0).exponential(size=2000)
    noise = noise_of(residuals, None, 1, around_level=True)
    assert noise_of(residuals - 5.0, None, 1, around_level=True) == pytest.approx(noise)

    def balance(level):
        z = (residuals - level) / (4.685 * noise)
        return (z * np.maximum(1.0 - z**2, 0.0) ** 2).sum()

    level = brentq(balance, 0.2, 1.5)
    assert noise == pytest.approx(
        noise_of(residuals - level, None, 1, around_level=False), rel=5e-3
    )


def test_noise_around_zero_counts_the_level():
    residuals = np.random.default_rng(0).standard_normal(5000)
    assert noise_of(residuals, None, 1, around_level=False) == pytest.approx(1.0, abs=0.03)
    assert noise_of(residuals + 1.0, None, 1, around_level=False) > 1.2
