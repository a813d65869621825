"""Clipped, Huber's and trimmed gradients, and clipped Neuro-Tron: formulas and scaling laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.support.networks import output_and_gradient

import neurotron as nt
from neurotron._streams import Purpose, Stream
from neurotron.trainers.robust_sgd import effective_size

ROBUST = [nt.ClippedSGD, nt.HuberSGD, nt.TrimmedSGD]


def literal(kind, rho, tau):
    """How a residual counts, from the sentence that describes the trainer."""
    if kind is nt.TrimmedSGD:
        return rho if abs(rho) <= tau else 0.0
    if kind is nt.HuberSGD:
        tau = 1.345 * (tau / 0.6745)
    return max(-tau, min(tau, rho))


# ---- a whole run, sample by sample ---------------------------------------------------------------


def transcription(problem, trainer, attack, steps, batch):
    """The trainer, written sample by sample; the attack adds its bound."""
    network, w = problem.network, problem.initial_weights.copy()
    stream = Stream.of(0, 0)
    tau = None
    length = 0.0
    for t in range(steps):
        xs, ys, _ = problem.data.batch(network, stream, t, batch)
        coins, _ = stream.pairs(Purpose.ATTACK, t, batch)
        move = np.zeros(len(w))
        total = within = squares = sizes = 0.0
        for x, y, coin in zip(xs, ys, coins, strict=True):
            output, gradient = output_and_gradient(network, w, x)
            rho = y + (attack.bound if coin <= attack.probability else 0.0) - output
            omega = 1.0 / (x @ x) if trainer.weighting else 1.0
            direction = trainer.sensing @ x if isinstance(trainer, nt.NeuroTron) else gradient
            square = direction @ direction
            if tau is not None:
                kind = nt.ClippedSGD if isinstance(trainer, nt.ClippedTron) else type(trainer)
                move += omega * literal(kind, rho, tau) * direction / batch
            if square > 0:
                total += omega
                sizes += omega * abs(rho)
                within += omega * (tau is not None and abs(rho) <= tau)
            squares += omega * square / batch
        if t >= 100:
            sgd = not isinstance(trainer, nt.ClippedTron)
            w = w + (trainer.pace / length if sgd else trainer.step_size) * move
        gain = max(trainer.speed, 5 / (5 + t))
        if total > 0:
            tau = (
                sizes / total if tau is None
                else tau * math.exp(gain * (trainer.quantile - within / total))
            )  # fmt: skip
        length += (squares - length) * max(1 / 500, 1 / (t + 1))
    return w


@pytest.mark.parametrize("weighting", [None, "inverse-norm"])
@pytest.mark.parametrize("name", ["symmetric", "relu_gate"])
def test_every_robust_trainer_equals_its_transcription(name, weighting):
    build = {"symmetric": lambda: nt.networks.symmetric(6, 3, 4, seed=3),
             "relu_gate": lambda: nt.networks.relu_gate(3)}  # fmt: skip
    network = build[name]()
    problem = nt.Problem.draw(network, nt.Laplace(), seed=4, noise=0.05)
    attack = nt.attacks.Constant(2.0, 0.3)
    matrix = nt.networks.sensing.gaussian(3, network.n_inputs, seed=8)
    trainers = [kind(0.7, quantile=0.3, weighting=weighting) for kind in ROBUST]
    trainers.append(nt.ClippedTron(0.05, sensing=matrix, weighting=weighting, speed=0.1))
    arms = [nt.Arm(trainer, attack) for trainer in trainers]
    run = nt.simulate(problem, arms, steps=125, batch_size=3)
    for arm, weights in zip(arms, run.weights, strict=True):
        assert np.abs(weights - problem.initial_weights).max() > 1e-3
        expected = transcription(problem, arm.trainer, attack, 125, 3)
        np.testing.assert_allclose(weights, expected, rtol=1e-9, err_msg=arm.name)


# ---- pace ----------------------------------------------------------------------------------------


def test_the_pace_is_half_the_root_of_the_batch_unless_few_directions_share_the_gradient():
    problem = nt.Problem.draw(nt.networks.relu_gate(6), nt.Normal(), seed=1)
    assert effective_size(problem, None) == pytest.approx(6.0)
    for batch_size, pace in [(1, 0.5), (16, 2.0), (100, 5.0), (10_000, 6.0)]:
        resolved = nt.HuberSGD().resolve(problem, batch_size=batch_size, steps=1, attack=None)
        assert resolved.pace == pytest.approx(pace)
    given = nt.HuberSGD(0.3).resolve(problem, batch_size=16, steps=1, attack=None)
    assert given.pace == 0.3


def test_the_effective_size_is_trace_over_largest_eigenvalue():
    covariance = np.diag([4.0, 1.0, 1.0])
    law = nt.Correlated.from_covariance(covariance)
    problem = nt.Problem.draw(nt.networks.relu_gate(3), law, seed=1)
    assert effective_size(problem, None) == pytest.approx(6.0 / 4.0)


# ---- scaling laws, exact for powers of two ------------------------------------------------------


def scaled_run(labels=1.0, inputs=1.0):
    """The robust trainers, with labels and inputs in other units."""
    network = nt.networks.symmetric(20, 5, 4, seed=1)
    one = nt.Problem.draw(network, nt.Normal(), seed=1)
    unit = labels / inputs
    problem = nt.Problem.draw(
        network, nt.Normal(scale=inputs), true_weights=one.true_weights * unit,
        initial_weights=one.initial_weights * unit,
    )  # fmt: skip
    attack = nt.attacks.Adaptive(labels, 0.3)
    arms = [nt.Arm(kind(2.0), attack) for kind in ROBUST]
    return nt.simulate(problem, arms, steps=400, batch_size=8)


@pytest.mark.parametrize(("labels", "inputs"), [(2.0**20, 1.0), (1.0, 2.0**20), (2.0**-9, 0.25)])
def test_units_of_labels_and_inputs_play_no_part(labels, inputs):
    plain, other = scaled_run(), scaled_run(labels, inputs)
    np.testing.assert_array_equal(other.weights, plain.weights * (labels / inputs))
    np.testing.assert_array_equal(other.losses, plain.losses * labels**2)


def test_the_pace_it_finds_does_not_depend_on_units(small_problem):
    scaled = nt.Problem.draw(small_problem.network, nt.Normal(scale=1e3), seed=1)
    one, other = (effective_size(p, None) for p in (small_problem, scaled))
    assert one == pytest.approx(other, rel=1e-12)


# ---- conformance and text ------------------------------------------------------------------------


@pytest.mark.parametrize("trainer", [
    nt.NeuroTron("fastest"), nt.NeuroTron("scheduled"), nt.NeuroTron(0.01, averaging=True),
    nt.SGD(0.01, averaging=True), nt.RefinedTron(averaging=True),
    nt.Stages((nt.SGD(0.01), 0.5), (nt.HuberSGD(), 0.5)),
], ids=repr)  # fmt: skip
def test_a_trainer_with_settings_conforms(trainer):
    nt.check_trainer(trainer)


@pytest.mark.parametrize(("text", "shown"), [
    ("refined-tron", "RefinedTron()"),
    ("refined-tron:quantile=0.3", "RefinedTron(quantile=0.3)"),
    ("refined-tron:warm_up=50,averaging=true", "RefinedTron(warm_up=50, averaging=True)"),
    ("clipped-tron:quantile=0.4",
     "ClippedTron(step_size='fastest', sensing='optimal', quantile=0.4, speed=0.05)"),
    ("clipped-sgd:pace=2,weighting=inverse-norm",
     "ClippedSGD(pace=2, weighting='inverse-norm', quantile=0.2, speed=0.05)"),
    ("huber-sgd", "HuberSGD(quantile=0.5, speed=0.05)"),
    ("trimmed-sgd:averaging=true", "TrimmedSGD(quantile=0.5, speed=0.05, averaging=True)"),
    ("sgd:step_size=0.1,averaging=true", "SGD(step_size=0.1, averaging=True)"),
])  # fmt: skip
def test_text_builds_what_it_says_and_repr_shows_it(text, shown):
    assert repr(nt.trainers.BY_NAME.build(text)) == shown


def test_repr_of_clipped_tron_shows_its_own_settings_if_they_are_changed():
    """Two arms that differ in them only would have the same name."""
    assert "quantile=0.3" in repr(nt.ClippedTron(quantile=0.3))
    assert "speed=0.2" in repr(nt.ClippedTron(speed=0.2))
