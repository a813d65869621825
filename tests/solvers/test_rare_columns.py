"""A category that few rows have gets the weight that most of these rows agree with."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.solvers.rare_columns import corrected, rare_columns

TRUE = np.array([3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0, 2.0])


def flags(share, seed, count=20_000):
    """Return rows with six rare flags and two other columns; a share of the labels is poisoned."""
    draw = np.random.default_rng(seed)
    X = np.column_stack([draw.random((count, 6)) < 0.01, draw.standard_normal((count, 2))])
    y = X @ TRUE + draw.standard_normal(count)
    poisoned = np.zeros(count, np.bool_)
    poisoned[draw.permutation(count)[: round(share * count)]] = True
    return X, y + 20.0 * poisoned, poisoned


@pytest.mark.parametrize("seed", range(3))
def test_a_flag_of_few_rows_is_found_although_most_of_a_sample_of_them_are_poisoned(seed):
    X, y, poisoned = flags(0.35, seed)
    for flag in range(6):
        assert poisoned[X[:, flag] > 0].mean() < 0.45  # fewer than half of its rows
    solution = nt.solve(nt.networks.linear(8), X, y, intercept=True)
    assert np.allclose(solution.weights, TRUE, atol=0.6)
    assert (solution.rejected == poisoned).mean() > 0.999


def test_a_category_that_no_searched_row_has_is_found():
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.standard_normal((40_000, 2)), np.zeros(40_000)])
    X[draw.choice(40_000, 8, replace=False), 2] = 1.0
    y = X @ [1.0, 2.0, 30.0] + draw.standard_normal(40_000)
    solution = nt.solve(nt.networks.linear(3), X, y, intercept=True)
    assert solution.weights[2] == pytest.approx(30.0, abs=1.5)


def test_columns_that_vary_in_all_rows_are_not_rare_and_categories_are():
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.standard_normal(5000), draw.random(5000) < 0.02, np.ones(5000)])
    assert rare_columns(rows, np.array([0.0, 0.0, 1.0])).tolist() == [1, 2]


def test_weights_that_most_rows_agree_with_stay():
    X, y, poisoned = flags(0.3, 0)
    left, columns = y - X @ TRUE, np.arange(6)
    assert corrected(left, X, np.zeros(8), columns, None, 1.0) is None
    wrong, expected = left - 20.0 * X[:, 0], [-20.0, *[0.0] * 7]
    changes = corrected(wrong, X, np.zeros(8), columns, None, 1.0)
    assert changes == pytest.approx(expected, abs=1.0)
    counted = corrected(wrong, X, np.zeros(8), columns, 1.0 - poisoned, 1.0)
    assert counted == pytest.approx(expected, abs=0.3)
