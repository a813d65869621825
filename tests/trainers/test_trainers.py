"""Trainers: conformance, limits and exact scaling laws (their formulas: test_transcription)."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt


@pytest.mark.parametrize("name", [*nt.trainers.BY_NAME])
def test_every_trainer_conforms(name):
    nt.check_trainer(nt.trainers.build(name, step_size=1e-2))


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
