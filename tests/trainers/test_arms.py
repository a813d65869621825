"""Bare trainers as arms, and what arms are called."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt

WEAK, STRONG = nt.attacks.Adaptive(0.1, 0.5), nt.attacks.Adaptive(1.0, 0.5)
CONSTANT = nt.attacks.Constant(0.1, 0.5)


def names(*arms, attack=None) -> list[str]:
    problem = nt.Problem.draw(nt.networks.relu_gate(2), nt.Normal(), seed=1)
    run = nt.simulate(problem, arms, attack=attack, steps=0, batch_size=1)
    return [arm.name for arm in run.arms]


def test_bare_trainers_meet_the_attack_and_an_arm_keeps_its_own(small_problem):
    bare = [nt.NeuroTron(0.02), nt.SGD(0.02), nt.Arm(nt.SGD(0.02), name="honest")]
    run = nt.simulate(small_problem, bare, attack=STRONG, steps=20, batch_size=4)
    assert [arm.attack for arm in run.arms] == [STRONG, STRONG, None]
    assert run.arms[2] is bare[2]
    arms = [nt.Arm(nt.NeuroTron(0.02), STRONG), nt.Arm(nt.SGD(0.02), STRONG), bare[2]]
    explicit = nt.simulate(small_problem, arms, steps=20, batch_size=4)
    np.testing.assert_array_equal(run.weights, explicit.weights)


@pytest.mark.parametrize("single", [nt.SGD(0.02), nt.Arm(nt.SGD(0.02))], ids=["trainer", "arm"])
def test_a_single_trainer_or_arm_needs_no_list(small_problem, single):
    run = nt.simulate(small_problem, single, steps=5, batch_size=4)
    assert [arm.name for arm in run.arms] == ["SGD"]


def test_iterate_takes_bare_trainers_too(small_problem):
    run = nt.simulation.iterate(small_problem, nt.SGD(0.1), attack=WEAK, steps=5, batch_size=4)
    assert run.arms[0].attack is WEAK


def test_default_names_are_short():
    assert names(nt.NeuroTron(), nt.SGD(0.1), nt.RefinedTron(), nt.FirstSampleSGD(0.1)) == [
        "Neuro-Tron", "SGD", "RefinedTron", "first-sample SGD",
    ]  # fmt: skip
    assert nt.Arm(nt.NeuroTron("scheduled")).name == "Neuro-Tron"


def test_a_trainer_of_ones_own_is_called_by_its_class_or_as_it_says():
    class Mine(nt.NeuroTron):
        pass

    class Other(nt.SGD):
        short_name = "the other"

    assert names(Mine(), nt.NeuroTron(), Other(0.1)) == ["Mine", "Neuro-Tron", "the other"]


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ([nt.SGD(0.1), nt.SGD(0.001)], ["SGD, step_size=0.1", "SGD, step_size=0.001"]),
        ([nt.RefinedTron(), nt.RefinedTron(quantile=0.3)],
         ["RefinedTron", "RefinedTron, quantile=0.3"]),
        ([nt.SGD(0.1), nt.SGD(0.1, averaging=True)], ["SGD", "SGD, averaging=True"]),
        ([nt.NeuroTron(), nt.NeuroTron(0.1, "mean")],
         ["Neuro-Tron, step_size='fastest', sensing='optimal'",
          "Neuro-Tron, step_size=0.1, sensing='mean'"]),
        ([nt.Arm(nt.SGD(0.1)), nt.Arm(nt.SGD(0.1), WEAK)], ["SGD", "SGD under Adaptive"]),
        ([nt.Arm(nt.SGD(0.1), CONSTANT), nt.Arm(nt.SGD(0.1), WEAK)],
         ["SGD under Constant", "SGD under Adaptive"]),
        ([nt.Arm(nt.SGD(0.1), WEAK), nt.Arm(nt.SGD(0.1), STRONG)],
         ["SGD under Adaptive(bound=0.1)", "SGD under Adaptive(bound=1)"]),
        ([nt.Arm(nt.SGD(0.1), WEAK), nt.Arm(nt.SGD(0.2))],
         ["SGD, step_size=0.1 under Adaptive", "SGD, step_size=0.2"]),
        ([nt.SGD(0.1), nt.Arm(nt.SGD(0.2), name="mine")], ["SGD", "mine"]),
        ([nt.Stages((nt.SGD(0.1), 1.0)), nt.Stages((nt.SGD(0.2), 1.0))],
         ["Stages((SGD(step_size=0.1), 1))", "Stages((SGD(step_size=0.2), 1))"]),
    ],
)  # fmt: skip
def test_arms_of_one_kind_are_told_apart_by_what_differs(arms, expected):
    assert names(*arms) == expected


def test_a_run_resumes_under_the_names_it_gave(small_problem):
    """From the same list again, and from the arms of the run."""
    trainers, options = [nt.SGD(0.02), nt.SGD(0.01)], {"batch_size": 4, "attack": WEAK}
    half = nt.simulate(small_problem, trainers, steps=20, **options)
    whole = nt.simulate(small_problem, trainers, steps=40, **options)
    again = nt.simulate(small_problem, trainers, steps=40, resume=half, **options)
    np.testing.assert_array_equal(again.weights, whole.weights)
    again = nt.simulate(small_problem, half.arms, steps=40, resume=half, batch_size=4)
    np.testing.assert_array_equal(again.weights, whole.weights)


def test_everything_is_checked_before_any_work(small_problem, monkeypatch):
    monkeypatch.setattr("neurotron.simulation.CohortState.initial", None)
    for wrong in ([nt.SGD(0.1)] * 2, [nt.NeuroTron]):
        with pytest.raises(nt.InputError):
            nt.simulation.iterate(small_problem, wrong, steps=5, batch_size=4)
