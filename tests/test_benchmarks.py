"""What speed is measured against must itself be right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.peer import Learner, ThriftyLearner
from benchmarks.workloads import FOUR_LAWS, OUTER, STUDY

from neurotron import studies
from neurotron.studies.building import arm_rows, build_problem

SMALL = dataclasses.replace(
    FOUR_LAWS[0], n_inputs=8, filter_size=3, width=4, step_size=0.02, outer_weights=1.5
)


def test_the_study_is_that_of_the_paper():
    assert [len(setting.arms()) for setting in STUDY] == [28, 28, 28, 28, 3, 3]
    assert {setting.name for setting in OUTER} == {"outer weights 1", "outer weights 10"}


def test_its_settings_are_those_of_the_catalog():
    paper = studies.read("paper")
    settings = [setting for setting in paper.settings if setting.name != "impersonation"]
    for workload, setting in zip(STUDY, settings, strict=True):
        problem, ours = build_problem(paper, setting, 0), workload.problem()
        assert repr(problem.law) == repr(ours.law)
        assert problem.network.gates.shape == ours.network.gates.shape
        np.testing.assert_array_equal(problem.network.outer_weights, ours.network.outer_weights)
        assert setting.batch_size == workload.batch_size
        levels = {(b, p) for sweep in setting.sweeps for b, p in sweep.levels
                  if sweep.attack == "alternating-sign"}  # fmt: skip
        assert levels == set(workload.levels)
        assert str(workload.step_size) in {row["step_size"] for row in arm_rows(paper, setting)}


@pytest.mark.parametrize("trainer", ["tron", "sgd"])
def test_the_transcription_recovers_the_filter(trainer):
    learner = Learner(SMALL, trainer, bound=0.0, probability=0.0)
    errors = [learner.step() for _ in range(3000)]
    assert errors[-1] < 1e-10


def test_its_gradient_is_that_of_its_output():
    learner = Learner(SMALL, "sgd", bound=0.0, probability=0.0)
    draw = np.random.default_rng(0)
    inputs, weights, h = draw.standard_normal((5, 8)), draw.standard_normal(3), 1e-6
    for j, direction in enumerate(np.eye(3)):
        above = learner.net(weights + h * direction, inputs)
        below = learner.net(weights - h * direction, inputs)
        slope = learner.gradient(weights, inputs)[j]
        np.testing.assert_allclose((above - below) / (2 * h), slope, atol=1e-6)


def test_the_order_of_its_products_does_not_matter():
    pair = [kind(SMALL, "tron", 0.5, 0.5) for kind in (Learner, ThriftyLearner)]
    for _ in range(50):
        one, other = (learner.step() for learner in pair)
        assert one == pytest.approx(other, rel=1e-9)
