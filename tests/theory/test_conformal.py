"""Indices of order statistics against enumeration, 50 digits and the binomial distribution."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from scipy.stats import beta, binom

from neurotron.theory.conformal import coin_coverage, coin_index, rank, rows_needed


@pytest.mark.parametrize("rows", [4, 9, 10])
@pytest.mark.parametrize("level", [0.5, 0.7, 0.9])
def test_without_poison_the_rank_is_the_smallest_that_covers(rows, level):
    """The rank of a new score among all is uniform, so the k-th of n covers k of n + 1."""
    k = rank(level, rows)
    assert Fraction(k, rows + 1) >= Fraction(str(level)) > Fraction(k - 1, rows + 1)


@pytest.mark.parametrize(("rows", "m"), [(4, 1), (5, 1), (5, 2)])
def test_poisoned_rows_shift_the_rank_by_their_number_and_not_by_less(rows, m):
    """All attacks on all orders of scores: m of them become the smallest, the largest, or stay."""
    k = rank(0.5, rows)

    def covered(index):
        held = 0
        for new in range(rows + 1):  # the place of the new score among the clean ones 0, 1, …
            clean = [place for place in range(rows + 1) if place != new]
            held += all(
                sorted(attacked)[index - 1] >= new
                for chosen in combinations(range(rows), m)
                for written in product((-1.0, np.inf), repeat=m)
                for attacked in [changed(clean, chosen, written)]
            )
        return Fraction(held, rows + 1)

    assert covered(k + m) == Fraction(k, rows + 1)
    assert covered(k + m - 1) == Fraction(k - 1, rows + 1)


def changed(scores, chosen, written):
    scores = list(scores)
    for row, value in zip(chosen, written, strict=True):
        scores[row] = value
    return scores


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("rows", [1, 4, 6])
def test_coverage_against_coins_is_that_of_the_enumeration(rows, probability):
    for index in range(1, rows + 1):
        mean = 0.0
        for fallen in product((False, True), repeat=rows):
            chance = np.prod([probability if one else 1.0 - probability for one in fallen])
            for new in range(rows + 1):
                clean = [place for place in range(rows + 1) if place != new]
                scores = sorted(-1 if f else s for f, s in zip(fallen, clean, strict=True))
                mean += chance * (scores[index - 1] >= new) / (rows + 1)
        found = coin_coverage(index, rows, probability)
        assert found == pytest.approx(mean, abs=2e-11)
        assert found <= mean + 1e-15


@pytest.mark.parametrize("rows", [20, 1_000, 50_000])
@pytest.mark.parametrize("probability", [1e-6, 0.1, 0.7])
def test_coverage_against_coins_is_rounded_down(rows, probability):
    index = coin_index(0.9, rows, probability)
    if index > rows:
        return
    with mpmath.workdps(50):
        chance, mean, term = mpmath.mpf(repr(probability)), mpmath.mpf(0), None
        for count in range(index):
            term = (
                (1 - chance) ** (rows + 1)
                if term is None
                else term * (rows + 2 - count) / count * chance / (1 - chance)
            )
            mean += (index - count) * term
        exact = mean / ((rows + 1) * (1 - chance))
        below = exact - mpmath.mpf(coin_coverage(index, rows, probability))
        assert -1e-16 <= below <= 3e-12 / (1 - probability)


def test_coins_need_much_less_than_a_budget():
    assert (rank(0.9, 99), coin_index(0.9, 99, 0.1)) == (90, 91)
    assert rank(0.9, 99) + 10 > 99


@pytest.mark.parametrize("rows", [29, 99, 1_000])
@pytest.mark.parametrize("given", [0.9, 0.95, 0.999])
def test_calibration_rows_are_good_enough_with_the_confidence_given_and_not_with_one_less(
    rows, given
):
    """The conditional coverage of the k-th of n uniform scores has a beta law."""
    k = rank(0.9, rows, given)
    if k > rows:
        assert binom.sf(rows - 1, rows, 0.9) > 1.0 - given
        return
    assert beta.sf(0.9, k, rows + 1 - k) >= given
    assert beta.sf(0.9, k - 1, rows + 2 - k) < given


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("m", [0, 1, 20])
def test_the_rows_needed_against_a_budget_have_a_formula(level, m):
    alpha = 1 - Fraction(str(level))
    found = rows_needed(lambda rows: rank(level, rows) + m)
    assert found == -(-(m + 1 - alpha) // alpha)


@pytest.mark.parametrize(
    "index",
    [
        lambda rows: coin_index(0.9, rows, 0.3),
        lambda rows: rank(0.9, rows, given=0.99) + 3,
    ],
)
def test_the_rows_needed_are_enough_and_one_row_less_is_not(index):
    needed = rows_needed(index)
    assert index(needed) <= needed
    assert index(needed - 1) > needed - 1
