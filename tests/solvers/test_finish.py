"""Where rejected rows are clearly apart, the rest is fitted by least squares."""

from __future__ import annotations

import numpy as np

import neurotron as nt


def bent(count, seed=0):
    """Return rows that a linear model does not fit well: it is bent, and noise is not normal."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((count, 3))
    noise = 0.1 * draw.uniform(-1.0, 1.0, count)
    return X, X @ [1.0, -2.0, 0.5] + 0.01 * X[:, 0] ** 2 + noise


def least_squares(X, y):
    return np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]


def solved(X, y):
    solution = nt.solve(nt.networks.linear(3), X, y, intercept=True)
    return np.append(solution.weights, solution.intercept)


def test_rows_that_are_far_from_rejected_ones_are_fitted_by_least_squares():
    X, y = bent(2000)
    y[:200] += 3.0
    assert np.allclose(solved(X, y), least_squares(X[200:], y[200:]), rtol=1e-9)


def test_without_rejected_rows_all_keep_their_bisquare_weights():
    X, y = bent(2000)
    found = solved(X, y)
    assert not np.allclose(found, least_squares(X, y), rtol=1e-6)
    assert np.allclose(found, least_squares(X, y), atol=0.01)


def test_rows_next_to_rejected_ones_are_not_trusted_with_full_weights():
    X, y = bent(4000)
    draw = np.random.default_rng(1)
    y[:400] += draw.uniform(0.1, 0.8, 400)  # attacked rows lie everywhere next to honest ones
    trusting = least_squares(X, y)
    honest = least_squares(X[400:], y[400:])
    off = np.linalg.norm(solved(X, y) - honest)
    assert off < 0.2 * np.linalg.norm(trusting - honest)
