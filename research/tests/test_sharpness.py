"""Verdicts on how sharp certificates are, on results in which the truth is known."""

from __future__ import annotations

import math

import pytest
from research.sharpness import sharpness
from tests.support.results import ending_at
from tests.support.studies import CERTIFIED, judged

from neurotron.lab import VERDICTS

HOLDS, _, DOES_NOT_HOLD, UNDECIDED, NOT_TESTED = VERDICTS
NETWORKS = 40
NORMAL = sharpness.sharp_for_normal_and_laplace


def spread(level, width=0.1, radius=1.4):
    """Return a world whose squared errors have the mean level², where 1 is certified."""

    def world(setting, replicate, arm):
        sign = 1.0 if replicate % 2 else -1.0
        error = level * math.sqrt(1.0 + sign * width)
        certified = arm["algorithm"] == "neuro-tron" and arm["attack"] == "adaptive"
        sure = {"radius": radius, "root_mean_square": 1.0} if certified else {}
        return {"errors": ending_at(error)} | sure

    return world


def honest(error, lost=()):
    """Return a world in which some networks end at an error, and all others at rounding."""
    return lambda setting, replicate, arm: {
        "errors": ending_at(error if replicate in lost else 1e-15)
    }


@pytest.mark.parametrize(
    ("claim", "world", "verdict"),
    [
        (sharpness.certified_mean_square, spread(0.9), HOLDS),
        (sharpness.certified_mean_square, spread(1.0), HOLDS),  # above it by chance
        (sharpness.certified_mean_square, spread(1.1), DOES_NOT_HOLD),
        (NORMAL, spread(0.99, width=0.01), HOLDS),
        (NORMAL, spread(0.8), DOES_NOT_HOLD),
        (NORMAL, spread(1 / 1.03), UNDECIDED),
        (sharpness.radius_near_error, spread(0.98), HOLDS),
        (sharpness.radius_near_error, spread(0.8), DOES_NOT_HOLD),
        (sharpness.radius_near_error, spread(1.4 / 1.5), UNDECIDED),
        (sharpness.sharp_for_cauchy, spread(0.99), NOT_TESTED),
        (sharpness.recovers_to_rounding, honest(0.0), HOLDS),
        (sharpness.recovers_to_rounding, honest(2e-13, lost=(7,)), DOES_NOT_HOLD),
    ],
)
def test_a_claim_comes_out_as_the_runs_were_made(claim, world, verdict, tmp_path):
    found = judged(tmp_path / "r", claim, world, CERTIFIED, NETWORKS)
    assert found.verdict == verdict, found.findings


def test_sharpness_is_judged_for_the_steps_of_the_certificate(tmp_path):
    arms = [f"{law}, Tron, adaptive θ=1 β={beta:g}" for law in "NL" for beta in (0.4, 0.45)]
    sharp, radius, square = (
        judged(tmp_path / name.name, name, spread(0.8), CERTIFIED, NETWORKS).findings
        for name in (NORMAL, sharpness.radius_near_error, sharpness.certified_mean_square)
    )
    assert [found.case for found in sharp] == [found.case for found in radius] == arms
    assert len(square) == 8  # also with a constant step size
    estimates = sharp[0].estimate, radius[0].estimate, square[0].estimate
    assert estimates == pytest.approx((1 / 0.8, 1.4 / 0.8, 0.8))
    assert "95 % confidence" in radius[0].measure
