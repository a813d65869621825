"""Samples of what is measured: never unsafe, sharp, and with heavy tails."""

from __future__ import annotations

import pytest
from tests.support.random_problems import ATTACKS, RECORDS, Excess, excesses, limit

CASES = range(12)
LIMIT = limit(60, len(CASES) * ATTACKS * RECORDS)


@pytest.fixture(scope="module")
def found() -> list[Excess]:
    """By how much a few random problems exceed the right certificate, and two wrong ones."""
    return [excesses(number, replicates=60, of_one_weight=400) for number in CASES]


def test_measured_errors_stay_below_the_certified_ones(found):
    """A sample of tests/long/test_safety.py."""
    assert max(one.right for one in found) < LIMIT


def test_with_tau_halved_they_do_not(found):
    assert max(one.tau_halved for one in found) > LIMIT


def test_with_L2_halved_they_do_not(found):
    assert max(one.l2_halved for one in found) > LIMIT
