"""Trainers: conformance, limits and exact scaling laws (their formulas: test_transcription)."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron._streams import Stream


@pytest.mark.parametrize("name", [*nt.trainers.BY_NAME])
def test_every_trainer_conforms(name):
    nt.check_trainer(nt.trainers.build(name, step_size=1e-2))


def test_sgd_moves_along_the_negative_gradient_of_the_squared_loss(small_problem):
    """Finite differences of the batch loss ½ mean (v − f_w(x))²."""
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=1, batch_size=6)
    x, y, _ = small_problem.data.batch(small_problem.network, Stream.of(0, 0), 0, 6)

    def loss(w):
        return 0.5 * ((y - small_problem.network(w, x)) ** 2).mean()

    start, h = small_problem.initial_weights, 1e-6
    gradient = [(loss(start + h * e) - loss(start - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose((run.weights[0] - start) / 1e-3, -np.array(gradient), rtol=1e-6)


def test_outer_weights_q_with_step_over_q_is_the_same_run_as_an_attack_of_bound_over_q():
    """docs/errata.md#e9: exactly the same weights for labels and residuals scaled by q."""
    q, eta, theta = 4.0, 1e-2, 0.8
    runs = []
    for weight, step, bound in [(q, eta / q, theta), (1.0, eta, theta / q)]:
        network = nt.networks.symmetric(8, 3, 4, seed=1, outer_weights=weight)
        problem = nt.Problem.draw(network, nt.Normal(), seed=1)
        matrix = nt.networks.sensing.gaussian(3, 8)
        attack = nt.attacks.AlternatingSign(bound=bound, probability=0.5)
        arm = nt.Arm(nt.NeuroTron(step, sensing=matrix), attack)
        runs.append(nt.simulate(problem, [arm], steps=200, batch_size=4).weights)
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-10)


def test_a_resolved_trainer_holds_its_sensing_matrix(small_problem):
    trainer = nt.NeuroTron(1e-3).resolve(small_problem, batch_size=4, steps=10, attack=None)
    expected = nt.networks.sensing.optimal(small_problem.network, np.eye(12))
    np.testing.assert_array_equal(trainer.sensing, expected)
