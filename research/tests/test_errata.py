"""Every sampled number of docs/errata.md and docs/theory.md, computed again in full."""

from __future__ import annotations

import numpy as np
import pytest
from research.pages import value
from research.tests import sampled
from research.tests.documents import ERRATA, PROOFS, assert_says, stated
from research.tests.sampled import CERTIFICATES, MATRICES, assert_near, standard_error

READS = (ERRATA, PROOFS)
NETS, FEW = 600, 40
BATCHES = 20_000


def long(test):
    return pytest.mark.long(pytest.mark.quick(test))


# ---- samples: fewer networks and batches ---------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "sample"),
    [
        (sampled.WRONG_LAMBDA, lambda: sampled.wrong_lambda(BATCHES)),
        (sampled.BATCH_ATTACKER, lambda: sampled.batch_attacker(BATCHES)),
        (sampled.NOISE_ATTACKER, lambda: sampled.noise_attacker(BATCHES)),
        (sampled.POLAR, lambda: sampled.trade_offs("normal-1", "polar", FEW)),
    ],
    ids=["wrong lambda", "batch attacker", "noise attacker", "polar"],
)
def test_a_number_is_near_that_of_a_smaller_sample(said, sample):
    assert_near(*said, sample())


@pytest.mark.parametrize("setting", sampled.TRADE_OFFS)
def test_the_trade_off_of_theorem_1_is_negative(setting):
    values = sampled.trade_offs(setting, "mean", FEW)
    assert_near(*sampled.TRADE_OFFS[setting], values)
    assert values.max() < 0.0


def test_certified_rates_are_near_those_of_the_table():
    found = sampled.rates(FEW)
    assert len(found) == len(CERTIFICATES) * len(MATRICES)
    for (certificate, matrix), values in found.items():
        assert_near(*sampled.RATES[matrix], values, CERTIFICATES.index(certificate))


def test_the_printed_condition_allows_a_limit_that_is_too_large():
    assert_says(ERRATA, "recursion tends to {} and", sampled.limit_that_is_printed())


# ---- in full -------------------------------------------------------------------------------------


@long
def test_with_the_eigenvalues_of_the_matrix_itself_the_error_grows():
    squares = sampled.wrong_lambda(400_000)
    assert_says(*sampled.WRONG_LAMBDA, squares.mean(), standard_error(squares))
    assert squares.mean() > 2.0


@long
def test_the_trade_off_of_theorem_1_is_negative_on_every_network_of_the_paper():
    found = [sampled.trade_offs(setting, "mean", NETS) for setting in sampled.TRADE_OFFS]
    for said, values in zip(sampled.TRADE_OFFS.values(), found, strict=True):
        assert_says(*said, values.mean())
        assert values.max() < 0.0
    assert_says(ERRATA, "with standard errors of {} and {};", *map(standard_error, found))
    deviations = [values.std(ddof=1) for values in found]
    assert_says(ERRATA, "have a standard deviation of {} and {} and", *deviations)
    ends = [end for values in found for end in (values.min(), values.max())]
    assert_says(ERRATA, "lie between ${}$ and ${}$, and between ${}$ and ${}$", *ends)


@long
def test_with_the_best_matrix_the_trade_off_is_near_zero():
    values = sampled.trade_offs("normal-1", "polar", NETS)
    assert_says(*sampled.POLAR, values.mean(), values.min())


@long
def test_two_runs_that_are_the_same_differ_by_rounding():
    """Its size depends on the processor, so only its order is checked."""
    words = r"(equal to ${}\cdot 10^{-15}$ of their size"
    (printed,) = stated(ERRATA, words)
    assert 0.2 < sampled.distance_of_equal_runs() * 1e15 / value(printed) < 5.0


@long
def test_a_batch_attacker_does_more_than_a_query_attacker():
    squares = sampled.batch_attacker(200_000)
    assert_says(*sampled.BATCH_ATTACKER, squares.mean(), standard_error(squares))


@long
def test_an_attacker_who_sees_the_noise_does_more_than_one_who_does_not():
    squares = sampled.noise_attacker(400_000)
    assert_says(*sampled.NOISE_ATTACKER, squares.mean(), standard_error(squares))


@long
def test_certified_rates_are_those_of_the_table():
    rates = {case: float(np.mean(values)) for case, values in sampled.rates(NETS).items()}
    for matrix in MATRICES:
        numbers = [rates[certificate, matrix] for certificate in CERTIFICATES]
        assert_says(*sampled.RATES[matrix], *numbers)
    slow = rates["Theorem 1", "mean"]
    assert_says(ERRATA, r"$1 - \kappa$ is ${}\cdot 10^{-8}$ for", slow * 1e8)
    assert_says(ERRATA, r"$1/\log(1/\kappa) = {}\cdot 10^7$ steps", 1e-7 / slow)
