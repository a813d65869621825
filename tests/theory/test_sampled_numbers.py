"""Samples of tests/long/test_errata.py: fewer networks and batches, and all the same numbers."""

from __future__ import annotations

import pytest
from tests.support import sampled
from tests.support.documents import ERRATA, assert_says, rounds_to, stated, value
from tests.support.sampled import CERTIFICATES, MATRICES, assert_near

NETS = 40
BATCHES = 20_000


def test_with_the_eigenvalues_of_the_matrix_itself_the_error_grows():
    assert_near(*sampled.WRONG_LAMBDA, sampled.wrong_lambda(BATCHES))


def test_the_printed_condition_allows_a_limit_that_is_too_large():
    assert_says(ERRATA, "recursion tends to {} and", sampled.limit_that_is_printed())


@pytest.mark.parametrize("setting", sampled.TRADE_OFFS)
def test_the_trade_off_of_theorem_1_is_negative(setting):
    values = sampled.trade_offs(setting, "mean", NETS)
    assert_near(*sampled.TRADE_OFFS[setting], values)
    assert values.max() < 0.0


def test_with_the_best_matrix_the_trade_off_is_near_zero():
    values = sampled.trade_offs("normal-1", "polar", NETS)
    assert_near(*sampled.POLAR, values)
    assert values.min() >= value(stated(*sampled.POLAR)[1])


def test_two_runs_that_are_the_same_differ_by_rounding():
    assert sampled.distance_of_equal_runs() < 1e-13


def test_a_batch_attacker_does_more_than_a_query_attacker():
    assert_near(*sampled.BATCH_ATTACKER, sampled.batch_attacker(BATCHES))


def test_an_attacker_who_sees_the_noise_does_more_than_one_who_does_not():
    assert_near(*sampled.NOISE_ATTACKER, sampled.noise_attacker(BATCHES))


def test_certified_rates_are_those_of_the_table():
    found = sampled.rates(NETS)
    for (certificate, matrix), values in found.items():
        assert_near(*sampled.RATES[matrix], values, CERTIFICATES.index(certificate))
    assert len(found) == len(CERTIFICATES) * len(MATRICES)


@pytest.mark.parametrize(
    ("number", "printed", "right"),
    [(0.608, "0.61", True), (0.608, "0.60", False), (1.74e-14, "1.7e-14", True),
     (1.76e-14, "1.7e-14", False), (-0.6026, "−0.603", True), (7079.0, "7,079", True)],
)  # fmt: skip
def test_a_number_is_right_if_all_printed_digits_are(number, printed, right):
    assert rounds_to(number, printed) is right
