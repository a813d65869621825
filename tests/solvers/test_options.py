"""The options of `solve` that say how long it searches, and with what it begins."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.messages import refused

import neurotron as nt

DRAW = np.random.default_rng(0)
NETWORK = nt.networks.linear(3)
X = DRAW.standard_normal((400, 3))
WEIGHTS = np.array([1.0, -2.0, 0.5])
NOISE = DRAW.standard_normal(400)
Y = X @ WEIGHTS + 0.1 * NOISE


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"max_starts": 0}, ("`max_starts`", "0")),
        ({"max_rows": 0}, ("`max_rows`", "0")),
        ({"tolerance": 0.0}, ("`tolerance`", "0")),
        ({"start": ([1.0], 0.0)}, ("`start[0]`", "(3,)", "(1,)")),
        ({"start": (WEIGHTS, np.inf)}, ("`start[1]`", "inf")),
    ],
    ids=str,
)
def test_a_wrong_option_gets_one_sentence(options, parts):
    with refused(*parts):
        nt.solve(NETWORK, X, Y, **options)


def test_a_search_that_ends_early_has_converged():
    assert nt.solve(NETWORK, X, Y).converged
    short = nt.solve(NETWORK, X, Y, max_starts=2)
    assert (short.converged, short.starts) == (False, 2)


@pytest.mark.parametrize("intercept", [False, True])
def test_half_of_the_rows_decides_for_the_filter_that_the_search_begins_with(intercept):
    constant = 3.0 if intercept else 0.0
    for weights, other in ((WEIGHTS, -WEIGHTS), (-WEIGHTS, WEIGHTS)):
        y = np.where(np.arange(400) % 2, X @ weights, X @ other) + constant
        solution = nt.solve(
            NETWORK, X, y, intercept=intercept, max_starts=1, start=(weights, constant)
        )
        assert solution.weights == pytest.approx(weights, abs=1e-9)
        assert solution.intercept == pytest.approx(constant)


def test_a_coarse_tolerance_ends_near_the_same_filter():
    coarse = nt.solve(NETWORK, X, Y, tolerance=0.5)
    assert coarse.weights == pytest.approx(nt.solve(NETWORK, X, Y).weights, abs=0.05)
