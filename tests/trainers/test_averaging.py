"""Polyak averaging: the weights that count, where they begin, and what they are good for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neurotron as nt
from neurotron.attacks import Constant, RandomSign
from neurotron.engine.state import newest_share

ENGINES = ("compiled", "numpy")


def averaged_and_plain(trainer, **settings):
    return trainer(**settings, averaging=True), trainer(**settings)


def course(problem, trainer, steps, engine):
    """w_1 … w_T of a trainer, from runs of 1 … T steps."""
    arms = [nt.Arm(trainer, Constant(1.0, 0.4))]
    return np.array([
        nt.simulate(problem, arms, steps=t, batch_size=4, engine=engine).weights[0]
        for t in range(1, steps + 1)
    ])  # fmt: skip


def cubic_mean(weights):
    t = np.arange(1.0, len(weights) + 1)
    return (t * (t + 1) * (t + 2)) @ weights / (t * (t + 1) * (t + 2)).sum()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [nt.NeuroTron, nt.SGD, nt.FirstSampleSGD])
def test_the_weights_are_the_mean_weighted_by_t_cubed(small_problem, kind, engine):
    averaging, plain = averaged_and_plain(kind, step_size=0.1)
    weights = course(small_problem, plain, 9, engine)
    for steps in (1, 2, 9):
        arms = [nt.Arm(averaging, Constant(1.0, 0.4))]
        run = nt.simulate(small_problem, arms, steps=steps, batch_size=4, engine=engine)
        np.testing.assert_allclose(run.weights[0], cubic_mean(weights[:steps]), rtol=1e-13)
        np.testing.assert_array_equal(run.state.weights[:, 0], weights[steps - 1])
        error = np.linalg.norm(run.weights[0] - small_problem.true_weights)
        assert run.errors[0, -1] == pytest.approx(error, rel=1e-13)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=50))
def test_shares_of_the_newest_add_up_to_the_cubic_mean(numbers):
    average = 123.0
    for count, number in enumerate(numbers, 1):
        average += newest_share(float(count)) * (number - average)
    assert average == pytest.approx(cubic_mean(np.array(numbers)), abs=1e-11)


def test_the_last_half_of_the_steps_makes_up_94_percent():
    t = np.arange(1.0, 10_001)
    weight = t * (t + 1) * (t + 2)
    assert weight[5000:].sum() / weight.sum() == pytest.approx(0.9375, abs=1e-3)


def test_averaging_changes_what_is_shown_not_how_it_moves(small_problem):
    for kind in (nt.NeuroTron, nt.SGD):
        arms = [nt.Arm(t, Constant(1.0, 0.4)) for t in averaged_and_plain(kind, step_size=0.05)]
        run = nt.simulate(small_problem, arms, steps=100, batch_size=4)
        np.testing.assert_array_equal(run.state.weights[:, 0], run.state.weights[:, 1])
        np.testing.assert_array_equal(run.losses[0], run.losses[1])
        np.testing.assert_array_equal(run.errors[0, 0], run.errors[1, 0])
        assert (run.weights[0] != run.weights[1]).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_averaging_begins_anew_with_a_stage(small_problem, engine):
    first, second = nt.SGD(0.1), nt.SGD(0.05)
    steps, end = 12, 6

    def run(*stages, steps):
        arms = [nt.Arm(nt.Stages(*stages), Constant(1.0, 0.4))]
        return nt.simulate(small_problem, arms, steps=steps, batch_size=4, engine=engine)

    later = [  # the weights of steps 7 … 12 of the second stage, without averaging
        run((first, end / t), (second, 1 - end / t), steps=t).weights[0]
        for t in range(end + 1, steps + 1)
    ]
    averaging = run((first, 0.5), (nt.SGD(0.05, averaging=True), 0.5), steps=steps)
    np.testing.assert_allclose(averaging.weights[0], cubic_mean(np.array(later)), rtol=1e-13)


def test_averaging_lowers_the_floor_under_random_signs():
    problem = nt.Problem.draw(nt.networks.symmetric(20, 5, 4, seed=1), nt.Normal(), seed=1)
    averaging, plain = averaged_and_plain(nt.NeuroTron, step_size="fastest")
    arms = [nt.Arm(t, RandomSign(1.0, 0.4)) for t in (averaging, plain)]
    runs = [nt.simulate(problem, arms, steps=5000, batch_size=16, replicate=i) for i in range(5)]
    errors = np.array([run.errors[:, -1] for run in runs])
    assert (errors[:, 0] < 0.3 * errors[:, 1]).all()


def test_averages_reach_the_floor_of_the_optimal_matrix_whatever_the_matrix():
    """M = Ā and M = (ĀΣĀᵀ)⁻¹Ā have the same H⁻¹M, so their averages have the same noise."""
    problem = nt.Problem.draw(nt.networks.symmetric(20, 5, 4, seed=1), nt.Normal(), seed=1)
    arms = [
        nt.Arm(nt.NeuroTron("fastest", sensing=s, averaging=a), RandomSign(1.0, 0.4))
        for s in ("optimal", "mean")
        for a in (True, False)
    ]
    runs = [nt.simulate(problem, arms, steps=8000, batch_size=16, replicate=i) for i in range(5)]
    optimal, _, mean, last = np.array(
        [run.weights - problem.true_weights for run in runs]
    ).swapaxes(0, 1)

    def size(away):
        return np.sqrt((away**2).sum(axis=1).mean())

    assert size(mean - optimal) < 0.5 * size(optimal)
    assert size(mean) < 1.3 * size(optimal)
    assert size(mean) < 0.3 * size(last)


@pytest.mark.parametrize("step_size", [0.01, "scheduled"])
@pytest.mark.parametrize("method", ["sharp", "theorem1"])
def test_a_certificate_of_the_last_weights_is_not_one_of_their_average(
    small_problem, step_size, method
):
    arm = nt.Arm(nt.NeuroTron(step_size, averaging=True), Constant(0.1, 0.2))
    with pytest.raises(nt.InputError) as caught:
        nt.certify(small_problem, arm, batch_size=8, steps=100, method=method)
    assert str(caught.value) == (
        "no theorem covers averaged weights: certify without `averaging`, or use the method "
        "'measured'"
    )


def test_averages_can_be_measured(small_problem):
    arm = nt.Arm(nt.NeuroTron(0.05, averaging=True), RandomSign(1.0, 0.4))
    measured = nt.certify(
        small_problem, arm, batch_size=8, steps=400, method="measured", failure=0.2
    )
    runs = [
        nt.simulate(small_problem, [arm], steps=400, batch_size=8, replicate=i) for i in range(4)
    ]
    assert measured.radius == max(run.errors[0, -1] for run in runs)
