"""Each trainer against a literal transcription of its formula, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

import neurotron as nt
from neurotron.engine.sources import Simulated
from neurotron.engine.streams import Purpose, Stream

THETA, BETA, ETA, BATCH = 0.4, 0.6, 3e-3, 5


def gates_sum(network, w, x, power):
    """(1/k) Σ q_i σ(z_i), or with σ' A_i x instead of σ: written gate by gate."""
    total = 0.0
    for q, gate in zip(network.outer_weights, network.gates, strict=True):
        z = w @ gate @ x
        slope = 1.0 if z > 0 else network.leak
        total = total + q * slope * (z if power == "output" else gate @ x)
    return total / network.width


def literal_steps(problem, kind, matrix, steps):
    """The paper's loop: sample, attack by position, form the direction, move."""
    network, w = problem.network, problem.initial_weights.copy()
    stream, source = Stream.of(0, 0), Simulated(problem)
    for t in range(steps):
        x, y, _ = source.batch(stream, t, BATCH)
        coin, _ = stream.pairs(Purpose.ATTACK, t, BATCH)
        v = y.copy()
        for i in range(BATCH):  # paper's i = 1 … b: −θ at odd i
            if coin[i] <= BETA:
                v[i] += THETA if (i + 1) % 2 == 0 else -THETA
        residual = np.array([v[i] - gates_sum(network, w, x[i], "output") for i in range(BATCH)])
        if kind == "neuro-tron":
            move = matrix @ sum(residual[i] * x[i] for i in range(BATCH)) / BATCH
        elif kind == "sgd":
            move = (
                sum(residual[i] * gates_sum(network, w, x[i], "gradient") for i in range(BATCH))
                / BATCH
            )
        else:  # the published code: mean residual times the first sample's derivative
            move = residual.mean() * gates_sum(network, w, x[0], "gradient")
        w = w + ETA * move
    return w


@pytest.mark.parametrize("kind", ["neuro-tron", "sgd", "first-sample-sgd"])
def test_trainers_equal_a_literal_transcription(network, kind):
    problem = nt.Problem.draw(network, nt.Laplace(), seed=4)
    matrix = nt.networks.sensing.gaussian(network.filter_size, network.n_inputs, seed=8)
    trainer = {
        "neuro-tron": nt.NeuroTron(ETA, sensing=matrix),
        "sgd": nt.SGD(ETA),
        "first-sample-sgd": nt.FirstSampleSGD(ETA),
    }[kind]
    attack = nt.attacks.AlternatingSign(bound=THETA, probability=BETA)
    run = nt.simulate(problem, [nt.Arm(trainer, attack)], steps=30, batch_size=BATCH)
    np.testing.assert_allclose(
        run.weights[0], literal_steps(problem, kind, matrix, 30), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize(
    "trainer", [nt.NeuroTron(1e-2), nt.SGD(1e-2), nt.FirstSampleSGD(1e-2)], ids=repr
)
def test_every_trainer_conforms(trainer):
    nt.check_trainer(trainer)


def test_sgd_moves_along_the_negative_gradient_of_the_squared_loss(small_problem):
    """Finite differences of the batch loss ½ mean (v − f_w(x))²."""
    run = nt.simulate(small_problem, [nt.Arm(nt.SGD(1e-3))], steps=1, batch_size=6)
    x, y, _ = Simulated(small_problem).batch(Stream.of(0, 0), 0, 6)

    def loss(w):
        return 0.5 * ((y - small_problem.network(w, x)) ** 2).mean()

    start, h = small_problem.initial_weights, 1e-6
    gradient = [(loss(start + h * e) - loss(start - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose((run.weights[0] - start) / 1e-3, -np.array(gradient), rtol=1e-6)


def test_outer_weights_q_with_step_over_q_is_the_same_run_as_an_attack_of_bound_over_q():
    """THEORY §3, erratum 9: exactly the same weights for labels and residuals scaled by q."""
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
    trainer = nt.NeuroTron(1e-3).resolve(small_problem, batch_size=4, steps=10)
    expected = nt.networks.sensing.optimal(small_problem.network, np.eye(12))
    np.testing.assert_array_equal(trainer.sensing, expected)
