"""Samples of what is measured: never unsafe, sharp, and with heavy tails."""

from __future__ import annotations

import math

import pytest
from evidence import heavy_tails, sharpness
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


def test_the_certificate_is_sharp():
    row = sharpness.net(seed=0, beta=0.5, theta=1.0, runs=2)
    for name, bar in sharpness.BARS.items():
        assert 0.97 <= row[f"{name}: ratio"] <= bar


@pytest.mark.parametrize("law", heavy_tails.LAWS)
def test_heavy_tails_with_inverse_norm_weights_are_certified(law):
    row = heavy_tails.case(law, "OddDirection", steps=3000, runs=12)
    assert row["excess"] < limit(12, 3 * heavy_tails.RECORDS)
    assert math.isfinite(row["certified RMS"])
    assert row["largest measured/certified"] > 0.05
