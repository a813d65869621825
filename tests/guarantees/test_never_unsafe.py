"""Samples of what tests/long measures: no certificate is exceeded, and wrong ones are."""

from __future__ import annotations

import pytest
from tests.support import random_problems, random_tables
from tests.support.random_problems import Excess, excesses, limit, with_l2_halved, with_tau_halved
from tests.support.random_tables import (
    excess_of_changed_labels,
    excess_of_table,
    excess_with,
    with_halved_residuals,
)

from neurotron.networks.activations import BUILT_IN

CASES = (1, 2, 3, 4, 7, 10)
"""Problem 4 has one weight, and 1 starts where an attack can hold it."""
OTHER_CASES = (1, 2, 4, 8)
TABLES = (1, 2, 3, 5)
"""Table 1 has one weight, 3 has a leaky gate, and 5 starts where an attack can hold it."""
REPLICATES = 30
LIMIT = limit(len(CASES) * random_problems.COMPARISONS + len(TABLES) * random_tables.COMPARISONS)


@pytest.fixture(scope="module")
def found() -> list[Excess]:
    """By how much a few random problems exceed the right certificate, and two wrong ones."""
    return [excesses(number, replicates=REPLICATES, of_one_weight=200) for number in CASES]


def test_errors_stay_below_the_certified_mean_squares_and_radii(found):
    """A sample of tests/long/test_safety.py."""
    assert max(one.right for one in found) < LIMIT


def test_with_tau_halved_they_do_not(found):
    assert max(one.tau_halved for one in found) > LIMIT


def test_with_L2_halved_they_do_not(found):
    assert max(one.l2_halved for one in found) > LIMIT


@pytest.mark.long
@pytest.mark.quick
@pytest.mark.parametrize("activation", BUILT_IN)
def test_the_same_with_other_activations(activation):
    """A sample of tests/long/test_activation_safety.py."""
    cases = [
        excesses(number, replicates=REPLICATES, of_one_weight=200, activation=activation)
        for number in OTHER_CASES
    ]
    assert max(one.right for one in cases) < LIMIT
    assert max(one.l2_halved for one in cases) > LIMIT


@pytest.mark.parametrize("number", TABLES)
def test_distances_to_the_fit_of_a_table_stay_below_the_certified_ones(number):
    """A sample of tests/long/test_table_safety.py."""
    assert excess_of_table(number, REPLICATES) < LIMIT
    assert excess_of_changed_labels(number, REPLICATES) < LIMIT


@pytest.mark.parametrize(
    ("change", "number", "attacked"),
    [(with_tau_halved, 5, True), (with_l2_halved, 1, False), (with_halved_residuals, 5, False)],
)
def test_with_a_constant_of_a_table_halved_they_do_not(change, number, attacked):
    assert excess_with(change, number, REPLICATES, attacked=attacked) > LIMIT
