"""Verdicts on certificates and on verified runs, on results in which the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.results import ending_at, made
from tests.support.studies import CERTIFIED

from neurotron.lab.claims import certificates

# ---- verified radii ------------------------------------------------------------------------------

ARMS = 4 * 5
"""Arms of a setting: four trainers, five levels."""


def verified(folder, world):
    return certificates.verification_holds(made(folder, CERTIFIED, world, 10))


def outside(*, arms=0, replicates=0, radius=2.0):
    """Return a world in which all errors are 1, and some are outside their verified radius."""
    last = {}

    def world(setting, replicate, arm):
        number = last[setting, replicate] = last.get((setting, replicate), 0) + 1
        missed = setting == "normal" and replicate < replicates and number <= arms
        return {"errors": ending_at(1.0), "verified_radius": 0.5 if missed else radius}

    return world


def test_a_verified_radius_that_is_never_smaller_than_the_error_holds(tmp_path):
    normal, laplace = verified(tmp_path, outside())
    assert (normal.case, laplace.case) == ("N", "L")
    assert (normal.holds, normal.estimate, normal.replicates) == (True, 0.0, 10)
    assert (normal.count, normal.total, normal.worst) == (0, 10 * ARMS, 0.5)


@pytest.mark.parametrize(
    ("arms", "replicates", "holds"), [(1, 1, None), (ARMS, 1, None), (1, 2, None), (1, 4, False)]
)
def test_misses_leave_it_open_until_chance_cannot_explain_them(arms, replicates, holds, tmp_path):
    normal, laplace = verified(tmp_path, outside(arms=arms, replicates=replicates))
    assert (normal.holds, laplace.holds) == (holds, True)
    assert (normal.count, normal.worst) == (arms * replicates, 2.0)
    assert normal.estimate == replicates / 10


def test_chance_makes_too_many_misses_no_more_often_than_its_level():
    draw, level, allowed = np.random.default_rng(0), 0.01, 0.05
    together = 20.0 * (draw.random((20_000, 10)) < allowed / 20.0)  # all arms fail at once
    apart = draw.binomial(20, allowed / 20.0, (20_000, 10))
    for misses in (together, apart):
        found = [certificates._by_chance(one / allowed, level) for one in misses]
        assert np.mean(found) >= 1.0 - level


def test_runs_without_a_radius_or_an_error_are_not_judged(tmp_path):
    assert verified(tmp_path / "none", outside(radius=math.inf)) == []
    assert verified(tmp_path / "not-asked", outside(radius=None)) == []

    def world(setting, replicate, arm):
        lost = {"status": "diverged", "stopped_at": 10, "errors": ending_at(math.inf)}
        radius = math.inf if arm["attack"] == "half-space" else 3.0
        return (lost if arm["trainer"] == "Tron" else {}) | {"verified_radius": radius}

    normal, _ = verified(tmp_path / "some", world)
    assert (normal.holds, normal.worst, normal.total) == (True, 0.0, 10 * 3 * 4)


@pytest.mark.parametrize(("error", "holds", "part"), [(0.0, True, 0.0), (1e-300, False, math.inf)])
def test_a_radius_of_zero_is_smaller_than_any_error_but_zero(error, holds, part, tmp_path):
    run = {"errors": ending_at(error), "verified_radius": 0.0}
    found, _ = verified(tmp_path, lambda *_: run)
    assert (found.holds, found.worst) == (holds, part)
