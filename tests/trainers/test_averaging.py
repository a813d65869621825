"""Polyak averaging: the weights that count, where they begin, and what they are good for."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.attacks import Constant, RandomSign

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
