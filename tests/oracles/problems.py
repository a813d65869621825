"""Random problems with random trainers, their measured errors and their certified ones.

Mean squares are compared, and how often errors exceed a radius. A certificate that is wrong on
purpose, with a constant halved, tells whether the comparison can fail.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from tests.oracles.recursions import bounds_of, course_of

import neurotron as nt
from neurotron._types import Array, Index
from neurotron.networks import sensing
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.sharp import SharpConstants, sharp_constants

RECORDS = 10
ATTACKS = 6
"""As many as `attacks_of` gives."""
DELTAS = (0.5, 0.05)
"""The probabilities δ with which radii are asked for; the larger one is the stricter test."""
COMPARISONS = ATTACKS * RECORDS * (1 + len(DELTAS))
"""Of a problem: of mean squares, and of every radius."""
FAILURE = 0.001
FLOOR = 1e-26
"""Squared errors below it are rounding, not learning."""


class Case(NamedTuple):
    """A random problem with a random trainer and an attacker's budget."""

    problem: nt.Problem
    trainer: nt.NeuroTron
    bound: float
    probability: float
    batch_size: int
    steps: int


def random_case(number: int, activation: str | None = None) -> Case:
    """Return problem `number`: every ingredient is drawn, but for an activation that is given."""
    draw = np.random.default_rng([4, number])
    if number % 4 == 1:
        return _case_at_its_floor(draw, activation)
    tight = number % 4 == 0  # one weight: the even part's bound is met with equality
    network = _network(draw, tight, activation)
    n, r = network.n_inputs, network.filter_size
    weighting = "inverse-norm" if n > 2 and draw.random() < 0.25 else None
    law = _law(draw, n, weighting)
    weights = draw.standard_normal(r)
    noise = float(draw.choice([0.0, 0.0, 0.1, 0.5]))
    start = weights * 3.0 if tight else np.ones(r)
    problem = nt.Problem.draw(
        network, law, true_weights=weights, noise=noise, initial_weights=start
    )
    covariance = problem.weighted_covariance(weighting)
    assert covariance is not None
    matrix: str | Array = str(draw.choice(["optimal", "polar", "mean"]))
    if draw.random() < 0.25:
        best = sensing.optimal(network, covariance)
        matrix = best + 0.2 * np.abs(best).max() * draw.standard_normal(best.shape) / math.sqrt(n)
    b = 1 if tight else int(draw.choice([1, 2, 4, 16]))
    plain = nt.NeuroTron("fastest", matrix, weighting=weighting)
    fastest = plain.resolve(problem, batch_size=b, steps=0, attack=None).step_size
    step_size: float | str = float(fastest) * float(draw.uniform(0.05, 1.6))
    if draw.random() < 0.15:
        step_size = "scheduled"
    trainer = dataclasses.replace(plain, step_size=step_size)
    theta, beta = float(10.0 ** draw.uniform(-2.0, 1.0)), float(draw.uniform(0.05, 1.0))
    steps = 60 if tight else int(draw.choice([300, 1500]))
    return Case(problem, trainer, 0.0 if tight and draw.random() < 0.7 else theta, beta, b, steps)


def _case_at_its_floor(draw: np.random.Generator, activation: str | None) -> Case:
    """Return a problem that starts where the attack along the worst direction can hold it."""
    network = _network(draw, False, activation)
    law, weights = (
        nt.Normal(scale=float(draw.uniform(0.5, 3.0))),
        draw.standard_normal(network.filter_size),
    )
    problem = nt.Problem.draw(network, law, true_weights=weights)
    theta, beta, b = float(10.0 ** draw.uniform(-2.0, 1.0)), float(draw.uniform(0.2, 1.0)), 16
    optimal = nt.NeuroTron("fastest")
    arm = nt.Arm(optimal, nt.attacks.Adaptive(theta, beta))
    certificate = nt.certify(problem, arm, batch_size=b)
    assert certificate.step_size is not None
    left, _, _ = np.linalg.svd(network.mean_gate)
    problem = dataclasses.replace(
        problem, initial_weights=weights + certificate.limit * left[:, -1]
    )
    trainer = dataclasses.replace(optimal, step_size=0.02 * certificate.step_size)
    return Case(problem, trainer, theta, beta, b, 1500)


def _network(draw: np.random.Generator, tight: bool, activation: str | None) -> nt.FilterNetwork:
    seed, leak = int(draw.integers(1000)), float(draw.choice([0.0, 0.1, 0.5]))
    shape: dict[str, Any] = {"leak": leak} if activation is None else {"activation": activation}
    if tight:
        return nt.networks.relu_gate(1, **shape)
    kind = int(draw.integers(4))
    if kind == 0:
        return nt.networks.relu_gate(int(draw.integers(3, 8)), **shape)
    if kind == 1:
        return nt.networks.symmetric(
            int(draw.integers(8, 16)), int(draw.integers(2, 6)), 2 * int(draw.integers(1, 5)),
            seed=seed, **shape,
        )  # fmt: skip
    if kind == 2:
        return nt.networks.convolution(12, 3, stride=3, **shape)
    gates = draw.standard_normal((3, 3, 7))
    return nt.networks.from_gates(gates, outer_weights=draw.uniform(0.5, 2.0, 3), **shape)


def _law(draw: np.random.Generator, n: int, weighting: str | None) -> nt.Law:
    scale = float(draw.uniform(0.5, 3.0))
    if weighting is not None:
        return nt.StudentT(float(draw.choice([1.0, 2.5, 4.0])), scale=scale)
    kind = int(draw.integers(7))
    plain: list[nt.Law] = [
        nt.Normal(scale=scale), nt.Laplace(scale=scale), nt.Uniform(scale=scale),
        nt.Rademacher(scale=scale), nt.StudentT(9.0, scale=scale),
    ]  # fmt: skip
    if kind < len(plain):
        return plain[kind]
    mixing = np.eye(n) + 0.4 * draw.standard_normal((n, n)) / math.sqrt(n)
    if kind == 5:
        return nt.Correlated(nt.Normal(scale=scale), mixing)
    rows = draw.laplace(size=(200, n)) @ mixing.T
    return nt.Empirical(rows, symmetrized=True)


def attacks_of(case: Case) -> list[nt.Attack]:
    """Return the adaptive attack, that along the worst direction, and those that choose samples.

    All have the same largest probability; a burst is over half-way, half of the norms are large.
    """
    covariance = case.problem.weighted_covariance(case.trainer.weighting)
    assert covariance is not None
    left, _, _ = np.linalg.svd(case.problem.network.mean_gate @ covariance)
    theta, beta, named = case.bound, case.probability, nt.attacks
    half = named.build("large-norm", case.problem, bound=theta, probability=0.5, seed=0)
    assert isinstance(half, named.LargeNorm)
    return [
        named.Adaptive(theta, beta),
        named.OddDirection(theta, beta, direction=left[:, -1]),
        named.Burst(theta, beta, share=min(0.5, case.steps / 2000)),
        named.LargeNorm(theta, beta, cutoff=half.cutoff),
        named.HalfSpace(theta, beta, direction=left[:, -1]),
        named.Mixture(theta, beta),
    ]


class Measured(NamedTuple):
    """Errors of some runs under some attacks, (attacks, replicates, records)."""

    attacks: Sequence[nt.Attack]
    steps: Index
    errors: Array


def measure(case: Case, attacks: Sequence[nt.Attack], replicates: int) -> Measured:
    """Return the errors of every replicate at some recorded steps."""
    arms = [nt.Arm(case.trainer, attack) for attack in attacks]
    runs = [
        nt.simulate(
            case.problem, arms, steps=case.steps, batch_size=case.batch_size, replicate=number
        )
        for number in range(replicates)
    ]
    steps = runs[0].steps
    chosen = np.unique(np.linspace(1, len(steps) - 1, RECORDS).astype(int))
    errors = np.stack([run.errors[:, chosen] for run in runs], axis=1)
    return Measured(attacks, steps[chosen], errors)


class Bounds(NamedTuple):
    """What is certified under some attacks at some steps."""

    squares: Array
    """Bounds on E‖w − w*‖², (attacks, steps)."""
    radii: Array
    """The radii for each probability δ, (attacks, deltas, steps)."""


def certified(case: Case, measured: Measured, budget: nt.Budget | None = None) -> Bounds:
    """Return what `certify` certifies, against the attacks themselves or against a budget."""

    def found(attack: nt.Attack, confidence: float) -> nt.guarantees.Certificate:
        arm = nt.Arm(case.trainer, attack if budget is None else None)
        return nt.certify(
            case.problem, arm, batch_size=case.batch_size, steps=int(measured.steps[-1]),
            confidence=confidence, budget=budget,
        )  # fmt: skip

    pairs = [[found(attack, 1.0 - delta) for delta in DELTAS] for attack in measured.attacks]
    at = np.searchsorted(pairs[0][0].at_steps, measured.steps)
    squares = np.array([pair[0].mean_square_bounds[at] for pair in pairs])
    return Bounds(squares, np.array([[one.radii[at] for one in pair] for pair in pairs]))


Change = Callable[[SharpConstants], SharpConstants]


def with_tau_halved(constants: SharpConstants) -> SharpConstants:
    """Return constants that are wrong: an attacker seems to be half as strong."""
    return dataclasses.replace(constants, tau=constants.tau / 2.0)


def with_l2_halved(constants: SharpConstants) -> SharpConstants:
    """Return constants that are wrong: updates seem to vary half as much."""
    return dataclasses.replace(constants, L2=constants.L2 / 2.0)


def wrong(case: Case, measured: Measured, change: Change) -> Bounds:
    """Return what would be certified with constants that are wrong."""
    plain = dataclasses.replace(case.trainer, step_size=1.0)
    start, noise, b = case.problem.initial_error(), case.problem.noise, case.batch_size
    eta = None if case.trainer.step_size == "scheduled" else float(case.trainer.step_size)
    squares, radii = [], []
    for attack in measured.attacks:
        trainer = plain.resolve(case.problem, batch_size=b, steps=0, attack=attack)
        matrix = np.asarray(trainer.sensing)
        constants = change(sharp_constants(case.problem, matrix, trainer.weighting))
        seen = attack_moments(constants, case.problem, matrix, trainer.weighting, attack)
        recursion, path = (of(seen, noise, b) for of in (constants.recursion, constants.mean_path))
        found = bounds_of(course_of(recursion, path, start), eta, int(measured.steps[-1]))
        squares.append(found.root[measured.steps] ** 2)
        radii.append([found.radius(delta)[measured.steps] for delta in DELTAS])
    return Bounds(np.array(squares), np.array(radii))


def excess(measured: Measured, bounds: Bounds) -> float:
    """Return by how many standard errors measurements exceed what is certified, at most.

    It is the normal quantile of the smallest one-sided p-value: a t-test for every mean square, and
    a binomial test for how often errors exceed a radius. Compare it with `limit`.
    """
    squares = measured.errors**2
    replicates = squares.shape[1]
    mean, spread = squares.mean(axis=1), squares.std(axis=1, ddof=1) / math.sqrt(replicates)
    over = mean - np.maximum(bounds.squares, FLOOR)
    statistics = over / np.maximum(spread, 1e-12 * np.maximum(mean, FLOOR))
    outside = (measured.errors[:, None] > bounds.radii[:, :, None]).sum(axis=2)
    chances = [
        stats.t.sf(statistics, replicates - 1),
        *(stats.binom.sf(outside[:, i] - 1, replicates, delta) for i, delta in enumerate(DELTAS)),
    ]
    return float(stats.norm.isf(min(chance.min() for chance in chances)))


def limit(comparisons: int) -> float:
    """Return the normal quantile at 99.9 % over all comparisons (Bonferroni)."""
    return float(stats.norm.isf(FAILURE / comparisons))


class Excess(NamedTuple):
    """How far measured errors exceed a certificate: the right one, and two that are wrong."""

    right: float
    tau_halved: float
    l2_halved: float


def excesses(
    number: int, *, replicates: int, of_one_weight: int, activation: str | None = None
) -> Excess:
    """Return by how much random problem `number` exceeds its certificates.

    A problem with one weight has more replicates: its certificate is met with equality.
    """
    case = random_case(number, activation)
    one_weight = case.problem.network.filter_size == 1
    measured = measure(case, attacks_of(case), of_one_weight if one_weight else replicates)
    return Excess(
        excess(measured, certified(case, measured)),
        excess(measured, wrong(case, measured, with_tau_halved)),
        excess(measured, wrong(case, measured, with_l2_halved)),
    )
