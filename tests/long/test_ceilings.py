"""No attack exceeds a ceiling of a linear smoother, on 1,000 random tables.

The attacks are all of the library, random ones, and those that know the smoother; the ceilings are
those of each prediction, of their mean, of the largest, of their RMS and of the RMSE. Attacks that
are executed and refitted reach their ceilings. And the check can fail.
"""

from __future__ import annotations

import pytest
from tests.support.pieces import pieces
from tests.support.smoothers import ROUNDING, RandomTable

pytestmark = [pytest.mark.long, pytest.mark.quick]

TABLES, PIECES = 1000, 4


@pytest.mark.parametrize("numbers", pieces(TABLES, PIECES), ids=str)
def test_no_attack_exceeds_a_ceiling(numbers):
    found = {number: RandomTable(number).excess() for number in numbers}
    assert {number: excess for number, excess in found.items() if excess > ROUNDING} == {}


@pytest.mark.parametrize("numbers", pieces(TABLES, PIECES), ids=str)
def test_a_refit_reaches_the_ceiling_of_a_prediction(numbers):
    found = {number: RandomTable(number).refitted() for number in numbers}
    assert {number: away for number, away in found.items() if away > 1e-6} == {}


@pytest.mark.parametrize("part", [0.5, 0.99])
def test_a_smaller_ceiling_is_exceeded_on_every_table(part):
    assert min(RandomTable(number).excess(part) for number in range(50)) > ROUNDING
