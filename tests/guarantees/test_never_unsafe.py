"""Never unsafe: no certificate is exceeded, and those with a constant halved are.

In full: 240 random problems, 100 for each other activation, and 120 random tables. The tables have
any labels; there are networks with an intercept, with several gates, and with one leaky gate;
weights of rows, and labels that were changed before training.
"""

from __future__ import annotations

import pytest
from tests.oracles import problems, tables
from tests.oracles.problems import Excess, excesses, limit, with_l2_halved, with_tau_halved
from tests.oracles.tables import (
    excess_of_changed_labels,
    excess_of_table,
    excess_with,
    is_linear,
    with_halved_residuals,
)
from tests.support.pieces import pieces

from neurotron.networks.activations import BUILT_IN

CASES = (1, 2, 3, 4, 7, 10)
"""Problem 4 has one weight, and 1 starts where an attack can hold it."""
TABLES = (1, 2, 3, 5)
"""Table 1 has one weight, 3 has a leaky gate, and 5 starts where an attack can hold it."""
REPLICATES = 30
LIMIT = limit(len(CASES) * problems.COMPARISONS + len(TABLES) * tables.COMPARISONS)


@pytest.fixture(scope="module")
def found() -> list[Excess]:
    """By how much a few random problems exceed the right certificate, and two wrong ones."""
    return [excesses(number, replicates=REPLICATES, of_one_weight=200) for number in CASES]


def test_errors_stay_below_the_certified_mean_squares_and_radii(found):
    assert max(one.right for one in found) < LIMIT


def test_with_tau_halved_they_do_not(found):
    assert max(one.tau_halved for one in found) > LIMIT


def test_with_L2_halved_they_do_not(found):
    assert max(one.l2_halved for one in found) > LIMIT


@pytest.mark.parametrize("number", TABLES)
def test_distances_to_the_fit_of_a_table_stay_below_the_certified_ones(number):
    assert excess_of_table(number, REPLICATES) < LIMIT
    assert excess_of_changed_labels(number, REPLICATES) < LIMIT


@pytest.mark.parametrize(
    ("change", "number", "attacked"),
    [(with_tau_halved, 5, True), (with_l2_halved, 1, False), (with_halved_residuals, 5, False)],
)
def test_with_a_constant_of_a_table_halved_they_do_not(change, number, attacked):
    assert excess_with(change, number, REPLICATES, attacked=attacked) > LIMIT


# ---- in full -------------------------------------------------------------------------------------

PROBLEMS, PIECES = 240, 12
FEWER, FEWER_PIECES = 100, 5
MORE_TABLES, TABLE_PIECES = 120, 6
MANY = 200


def assert_safe(numbers, limit, **options):
    """Check that no certificate is exceeded, and that the two wrong ones are."""
    found = {number: excesses(number, **options) for number in numbers}
    assert {number: one.right for number, one in found.items() if one.right >= limit} == {}
    assert max(one.tau_halved for one in found.values()) > limit
    assert max(one.l2_halved for one in found.values()) > limit


@pytest.mark.long
@pytest.mark.parametrize("numbers", pieces(PROBLEMS, PIECES), ids=str)
def test_errors_on_many_problems_stay_below_the_certified_ones(numbers):
    strict = limit(PROBLEMS * problems.COMPARISONS)
    assert_safe(numbers, strict, replicates=MANY, of_one_weight=1000)


@pytest.mark.long
@pytest.mark.parametrize("activation", BUILT_IN)
@pytest.mark.parametrize("numbers", pieces(FEWER, FEWER_PIECES), ids=str)
def test_errors_with_other_activations_stay_below_the_certified_ones(numbers, activation):
    strict = limit(FEWER * len(BUILT_IN) * problems.COMPARISONS)
    assert_safe(numbers, strict, replicates=100, of_one_weight=500, activation=activation)


@pytest.mark.long
@pytest.mark.parametrize("numbers", pieces(MORE_TABLES, TABLE_PIECES), ids=str)
def test_distances_on_many_tables_stay_below_the_certified_ones(numbers):
    found = {
        number: max(excess_of_table(number, MANY), excess_of_changed_labels(number, MANY))
        for number in numbers
    }
    strict = limit(MORE_TABLES * tables.COMPARISONS)
    assert {number: one for number, one in found.items() if one >= strict} == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "attacked"),
    [(with_tau_halved, True), (with_l2_halved, False), (with_halved_residuals, False)],
)
def test_with_a_constant_halved_distances_on_linear_tables_do_not(change, attacked):
    linear = [number for number in range(30) if is_linear(number)]
    found = (excess_with(change, number, MANY, attacked=attacked) for number in linear)
    assert any(one > limit(MORE_TABLES * tables.COMPARISONS) for one in found)
