"""Verdicts on the defence, on results in which the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.results import ending_at, made

import neurotron as nt
from neurotron.lab.claims import defence

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
