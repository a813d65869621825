"""Samples of docs/evidence: never unsafe, sharp, and with heavy tails."""

from __future__ import annotations

import math

import pytest
from evidence import heavy_tails, safety, sharpness

CASES = range(12)


@pytest.fixture(scope="module")
def rows() -> list[tuple[float, float, float]]:
    """Excess over the right certificate, and over those with τ and L2 halved, of a few problems."""
    found = []
    for number in CASES:
        case = safety.random_case(number)
        steps, errors = safety.measure(case, 400 if case.problem.network.filter_size == 1 else 60)
        assert len(errors) == safety.ATTACKS
        found.append(
            tuple(
                safety.excess(errors, safety.certified(case, steps, **mutation))
                for mutation in ({}, {"tau": 0.5}, {"l2": 0.5})
            )
        )
    return found


LIMIT = safety.limit(60, len(CASES) * safety.ATTACKS * safety.RECORDS)


def test_measured_errors_stay_below_the_certified_ones(rows):
    assert max(right for right, _, _ in rows) < LIMIT


def test_with_tau_halved_they_do_not(rows):
    assert max(wrong for _, wrong, _ in rows) > LIMIT


def test_with_L2_halved_they_do_not(rows):
    assert max(wrong for _, _, wrong in rows) > LIMIT


def test_the_certificate_is_sharp():
    row = sharpness.net(seed=0, beta=0.5, theta=1.0, runs=2)
    for name, bar in sharpness.BARS.items():
        assert 0.97 <= row[f"{name}: ratio"] <= bar


@pytest.mark.parametrize("law", heavy_tails.LAWS)
def test_heavy_tails_with_inverse_norm_weights_are_certified(law):
    row = heavy_tails.case(law, "OddDirection", steps=3000, runs=12)
    assert row["excess"] < safety.limit(12, 3 * heavy_tails.RECORDS)
    assert math.isfinite(row["certified RMS"])
    assert row["largest measured/certified"] > 0.05
