"""The whole step, every attack × direction × network, against one written out sample by sample."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from tests.support.networks import output_and_gradient

import neurotron as nt
from neurotron._streams import Purpose, Stream

ETA, THETA, BETA, BATCH, STEPS = 3e-3, 0.4, 0.6, 5, 30


class WatchingLength:
    """Influence scaled by a running mean of ‖direction‖², so that a wrong length shows."""

    initial_state = (1.0,)

    def influence(self, residual, state):
        return residual / state[0]

    def observe(self, residual, length, state):
        return (length,)

    def adapt(self, state, mean, step):
        return (0.5 * (state[0] + mean[0]),)


class WatchingTron(WatchingLength, nt.NeuroTron):
    pass


class WatchingSGD(WatchingLength, nt.SGD):
    pass


class WatchingFirst(WatchingLength, nt.FirstSampleSGD):
    pass


def attacks(r: int) -> list[nt.Attack]:
    u = np.random.default_rng(5).standard_normal(r)
    named = nt.attacks
    return [
        named.AlternatingSign(THETA, BETA),
        named.RandomSign(THETA, BETA),
        named.UniformNoise(THETA, BETA),
        named.Constant(THETA, BETA),
        named.OddDirection(THETA, BETA, direction=u),
        named.Impersonation(THETA, BETA, weights=u),
        named.Adaptive(THETA, BETA),
        named.LargeNorm(THETA, BETA, cutoff=3.5),
        named.Burst(THETA, BETA, share=0.0105),
        named.HalfSpace(THETA, BETA, direction=u),
        named.Multiplicative(bound=THETA, probability=BETA, factor=1.5),
        named.Replacement(bound=THETA, probability=BETA, scale=2.0),
        named.SignFlip(bound=THETA, probability=BETA),
        named.SignFlip(probability=BETA),
        named.Mixture(THETA, BETA),
    ]


IN_TURN = ("Constant", "AlternatingSign", "RandomSign", "UniformNoise", "Adaptive")
"""What a mixture does, step by step."""


def distortion(attack, problem, w, t, i, x, y, uniform, direction, matrix):
    """ξ of sample i in step t, from the sentence that describes the attack."""
    name = type(attack).__name__
    if name == "Mixture":
        name = IN_TURN[t % 5]
    if name == "AlternatingSign":
        return -THETA if i % 2 == 0 else THETA
    if name == "RandomSign":
        return THETA if uniform < 0.5 else -THETA
    if name == "UniformNoise":
        return THETA * (2 * uniform - 1)
    if name in ("Constant", "HalfSpace"):
        return THETA
    if name == "OddDirection":
        return math.copysign(THETA, attack.direction @ (matrix @ x))
    if name == "Impersonation":
        other, _ = output_and_gradient(problem.network, attack.weights, x)
        return clip(attack, other - y)
    if name == "Multiplicative":
        return clip(attack, attack.factor * y - y)
    if name == "Replacement":
        return clip(attack, attack.scale * (2 * uniform - 1) - y)
    if name == "SignFlip":
        return clip(attack, -2 * y)
    return math.copysign(THETA, (w - problem.true_weights) @ direction)


def clip(attack, change):
    return min(max(change, -attack.bound), attack.bound)


def chance(attack, t, x, matrix):
    """β of a sample of step t, from the sentence that describes the attack."""
    name = type(attack).__name__
    if name == "LargeNorm":
        return BETA if math.sqrt(x @ x) >= attack.cutoff else 0.0
    if name == "Burst":  # of every 1000 steps the first 10, and the next one by half
        return BETA if t < 10 else 0.5 * BETA if t == 10 else 0.0
    if name == "HalfSpace":
        return BETA if attack.direction @ (matrix @ x) > 0 else 0.0
    return BETA


def transcription(problem, trainer, attack):
    network, w = problem.network, problem.initial_weights.copy()
    kind, level = trainer.direction, 1.0
    matrix = trainer.sensing if kind == "sensing" else network.mean_gate
    stream = Stream.of(0, 0)
    for t in range(STEPS):
        xs, ys, _ = problem.data.batch(network, stream, t, BATCH)
        coins, uniforms = stream.pairs(Purpose.ATTACK, t, BATCH)
        outputs, gradients = zip(*(output_and_gradient(network, w, x) for x in xs), strict=True)
        move, lengths = np.zeros(len(w)), []
        for i in range(BATCH):
            direction = {
                "sensing": matrix @ xs[i], "gradient": gradients[i], "first_gradient": gradients[0]
            }[kind]  # fmt: skip
            xi = distortion(attack, problem, w, t, i, xs[i], ys[i], uniforms[i], direction, matrix)
            hit = coins[i] <= chance(attack, t, xs[i], matrix)
            residual = ys[i] + (xi if hit else 0.0) - outputs[i]
            omega = 1.0 / (xs[i] @ xs[i]) if trainer.weighting else 1.0
            move += omega * residual * direction / BATCH
            lengths.append(direction @ direction)
        w = w + trainer.step_size * move / level
        if trainer.adapts:
            level = 0.5 * (level + np.mean(lengths))
    return w


def test_every_attack_and_direction_in_one_cohort_equals_its_transcription(network):
    problem = nt.Problem.draw(network, nt.Laplace(), seed=4, noise=0.05)
    r, n = network.filter_size, network.n_inputs
    one, other = (nt.networks.sensing.gaussian(r, n, seed=s) for s in (8, 9))
    trainers = [
        nt.NeuroTron(ETA, sensing=one),
        nt.NeuroTron(ETA, sensing=other),
        nt.SGD(ETA),
        nt.FirstSampleSGD(ETA),
    ]
    others = [
        WatchingTron(ETA, sensing=one), WatchingSGD(ETA), WatchingFirst(ETA),
        nt.NeuroTron(20 * ETA, sensing=one, weighting="inverse-norm"),
    ]  # fmt: skip
    pairs = [*product(trainers, attacks(r)), *product(others, attacks(r)[-1:])]
    arms = [nt.Arm(*pair, name=f"arm {i}") for i, pair in enumerate(pairs)]
    expected = np.array([transcription(problem, arm.trainer, arm.attack) for arm in arms])
    for engine, used in (("auto", {"compiled", "numpy"}), ("numpy", {"numpy"})):
        run = nt.simulate(problem, arms, steps=STEPS, batch_size=BATCH, engine=engine)
        assert {e.name for e in run.engines} == used
        np.testing.assert_allclose(run.weights, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize(("factor", "status"), [(0.999, "finished"), (1.001, "diverged")])
def test_an_arm_diverges_exactly_at_a_million_times_one_plus_its_start(factor, status, engine):
    """One gate, x = ±1, w* = 0, start 3: the first update of SGD moves w to 3 (1 − η) or not."""
    network = nt.networks.relu_gate(1)
    problem = nt.Problem.draw(network, nt.Rademacher(), true_weights=[0.0], initial_weights=[3.0])
    limit = 1e6 * (1.0 + 3.0)
    arm = nt.Arm(nt.SGD(step_size=(factor * limit + 3.0) / 3.0))
    seeds = [
        seed
        for seed in range(20)
        if problem.data.batch(network, Stream.of(seed, 0), 0, 1).inputs[0, 0] > 0
    ]
    run = nt.simulate(problem, [arm], steps=1, batch_size=1, seed=seeds[0], engine=engine)
    assert run.status == (status,)
