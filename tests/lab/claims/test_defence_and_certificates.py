"""Verdicts on the defence and on certificates, on results in which the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.claims import certificates, defence

FAILURE = 0.05
TEXT = f"""
name = "s"
failure = {FAILURE}
[trainers]
Refined = "refined-tron"
slower = "refined-tron:pace=1"
Tron = "neuro-tron:step_size=scheduled"
constant = "neuro-tron:step_size=1e-3"
[[settings]]
name = "normal"
title = "N"
same_problem = true
sweeps = [
  {{ attack = "none" }},
  {{ attack = "adaptive", bound = 1, probability = [0.4, 0.45] }},
  {{ attack = "half-space", bound = 1, probability = 0.45 }},
  {{ attack = "sign-flip", bound = 1e6, probability = 0.4 }},
]
[[settings]]
name = "laplace"
title = "L"
like = "normal"
law = "laplace"
"""
STUDY = nt.lab.studies.parse(TEXT.encode(), "s")
NETWORKS = 40


def judged(check, folder, outcome):
    return check(made(folder, STUDY, outcome, NETWORKS))


def runs_that(*, fail=lambda arm, replicate: False, error=1e-3, **others):
    """Return a world in which all runs are exact, but for those that fail."""

    def outcome(setting, replicate, arm):
        failing = fail(arm, replicate)
        return {"errors": ending_at(error if failing else 1e-15)} | others

    return outcome


def test_exact_runs_of_all_settings_are_counted_together_and_other_attacks_left_out(tmp_path):
    def fails(arm, replicate):
        return arm["attack"] in ("half-space", "sign-flip") or arm["probability"] > 0.4

    (found,) = judged(defence.exact_below_half, tmp_path, runs_that(fail=fails))
    assert found.holds is True
    assert (found.estimate, found.replicates) == (1.0, NETWORKS)
    assert f"{4 * NETWORKS} runs on {2 * NETWORKS} networks" in found.measure


@pytest.mark.parametrize(("lost", "holds"), [(0, True), (1, None), (8, False)])
def test_one_network_in_forty_leaves_a_share_of_99_percent_open(lost, holds, tmp_path):
    outcome = runs_that(fail=lambda arm, replicate: replicate < lost)
    (found,) = judged(defence.exact_below_half, tmp_path, outcome)
    assert found.holds is holds
    assert found.estimate == pytest.approx(1.0 - lost / NETWORKS)


def test_near_one_half_close_is_enough_and_exact_is_not_asked(tmp_path):
    outcome = runs_that(fail=lambda arm, replicate: arm["probability"] == 0.45, error=9e-7)
    (found,) = judged(defence.close_near_half, tmp_path / "close", outcome)
    assert found.holds is True
    outcome = runs_that(fail=lambda arm, replicate: arm["probability"] == 0.45, error=2e-6)
    (found,) = judged(defence.close_near_half, tmp_path / "far", outcome)
    assert (found.holds, found.estimate) == (False, 0.0)


def test_a_half_space_is_judged_law_by_law(tmp_path):
    def outcome(setting, replicate, arm):
        lost = setting == "laplace" and replicate < 20
        return {"errors": ending_at(1e-3 if lost else 1e-15)}

    normal, laplace = judged(defence.close_in_half_space, tmp_path, outcome)
    # two trainers of one algorithm: 80 runs on 40 networks
    assert (normal.case, normal.holds, normal.replicates) == ("N", True, NETWORKS)
    assert (laplace.holds, laplace.estimate) == (False, 0.5)


@pytest.mark.parametrize(("worse", "holds"), [("slower", True), ("Refined", False), ("", True)])
def test_the_defaults_are_compared_with_every_other_constant(worse, holds, tmp_path):
    outcome = runs_that(fail=lambda arm, replicate: arm["trainer"] == worse and replicate % 2)
    (found,) = judged(defence.defaults_recover_most, tmp_path, outcome)
    assert (found.case, found.holds) == ("against slower", holds)


def spread(level, width=0.1):
    """Return a world whose squared errors have the mean level², where 1 is certified."""

    def outcome(setting, replicate, arm):
        sign = 1.0 if replicate % 2 else -1.0
        error = level * math.sqrt(1.0 + sign * width)
        certified = arm["algorithm"] == "neuro-tron" and arm["attack"] == "adaptive"
        sure = {"radius": 1.5, "root_mean_square": 1.0} if certified else {}
        return {"errors": ending_at(error)} | sure

    return outcome


@pytest.mark.parametrize(("level", "holds"), [(0.9, True), (1.0, True), (1.1, False)])
def test_a_mean_square_above_its_bound_is_noticed_and_chance_is_not(level, holds, tmp_path):
    findings = judged(certificates.certified_mean_square, tmp_path, spread(level))
    assert len(findings) == 8  # two laws, two trainers, two levels of the certified arm
    assert {found.holds for found in findings} == {holds}
    assert findings[0].estimate == pytest.approx(level)


@pytest.mark.parametrize(("level", "holds"), [(0.95, True), (0.8, False), (1 / 1.1, None)])
def test_a_certificate_is_sharp_if_errors_come_near_it(level, holds, tmp_path):
    findings = judged(certificates.sharp(1.1, "normal"), tmp_path, spread(level))
    assert {found.holds for found in findings} == {holds}
    assert findings[0].estimate == pytest.approx(1.0 / level)


def test_sharpness_is_judged_for_the_laws_named_and_the_steps_of_the_certificate(tmp_path):
    results = made(tmp_path, STUDY, spread(0.95), NETWORKS)
    for laws, titles in ((["normal"], "N"), (["laplace"], "L"), (["normal", "laplace"], "NL")):
        cases = [found.case for found in certificates.sharp(1.1, *laws)(results)]
        assert cases == [f"{t}, Tron, adaptive θ=1 β={b:g}" for t in titles for b in (0.4, 0.45)]
    assert certificates.sharp(1.1, "lap")(results) == []


@pytest.mark.parametrize(("level", "holds"), [(0.95, True), (0.8, False), (1.5 / 1.65, None)])
def test_a_radius_is_compared_with_the_measured_error(level, holds, tmp_path):
    findings = judged(certificates.radius_near_error(1.65), tmp_path, spread(level))
    assert {found.holds for found in findings} == {holds}
    assert findings[0].estimate == pytest.approx(1.5 / level)
    assert "95 % confidence" in findings[0].measure
    assert not any("constant" in found.case for found in findings)


def test_recovery_to_rounding_asks_it_of_every_run(tmp_path):
    outcome = runs_that(fail=lambda arm, replicate: False)
    findings = judged(certificates.recovers_to_rounding, tmp_path / "all", outcome)
    assert [found.holds for found in findings] == [True] * 4
    outcome = runs_that(fail=lambda arm, replicate: replicate == 7, error=2e-13)
    findings = judged(certificates.recovers_to_rounding, tmp_path / "but-one", outcome)
    assert [found.holds for found in findings] == [False] * 4


VERIFIED = TEXT.replace("[trainers]", "verify = 100\n[trainers]", 1)
VERIFYING = nt.lab.studies.parse(VERIFIED.encode(), "s")
ARMS = 4 * 5
"""Arms of a setting: four trainers, five levels."""


def verified(folder, outcome, replicates=10):
    return certificates.verification_holds(made(folder, VERIFYING, outcome, replicates))


def outside(*, arms=0, replicates=0, radius=2.0):
    """Return a world in which all errors are 1, and some are outside their verified radius."""
    last = {}

    def outcome(setting, replicate, arm):
        number = last[setting, replicate] = last.get((setting, replicate), 0) + 1
        missed = setting == "normal" and replicate < replicates and number <= arms
        return {"errors": ending_at(1.0), "verified_radius": 0.5 if missed else radius}

    return outcome


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

    def outcome(setting, replicate, arm):
        lost = {"status": "diverged", "stopped_at": 10, "errors": ending_at(math.inf)}
        radius = math.inf if arm["attack"] == "half-space" else 3.0
        return (lost if arm["trainer"] == "Tron" else {}) | {"verified_radius": radius}

    normal, _ = verified(tmp_path / "some", outcome)
    assert (normal.holds, normal.worst, normal.total) == (True, 0.0, 10 * 3 * 4)


@pytest.mark.parametrize(("error", "holds", "part"), [(0.0, True, 0.0), (1e-300, False, math.inf)])
def test_a_radius_of_zero_is_smaller_than_any_error_but_zero(error, holds, part, tmp_path):
    run = {"errors": ending_at(error), "verified_radius": 0.0}
    found, _ = verified(tmp_path, lambda *_: run)
    assert (found.holds, found.worst) == (holds, part)
