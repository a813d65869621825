"""Random tables with random trainers, their measured distances to the fit and the certified ones.

Labels are those of a wrong model. Networks are linear, with several gates or an intercept, or one
leaky gate. Some rows have weights, and some labels were changed before training.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from tests.support.random_problems import Case, certified, excess, measure

import neurotron as nt
from neurotron._types import Array
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.sharp import sharp_constants
from neurotron.theory.table import Misfit

COMPARISONS = 7 * 10
"""Attacks and recorded steps of a table, at most."""


def random_table(number: int) -> Case:
    """Return table `number`, with its fit as the true weights: errors are distances to it."""
    draw = np.random.default_rng([21, number])
    network, X = _network_and_inputs(draw, number)
    spread = np.abs(X[:, 0]) ** 1.5
    y = X[:, 0] * np.abs(X[:, 0]) - X.sum(axis=1) + spread * draw.standard_normal(len(X))
    weight = draw.exponential(size=len(X)) + 0.05 if number % 5 == 1 else None
    leaky = network.leak < 1.0
    weighting = "inverse-norm" if number % 5 == 2 and not leaky else None
    matrix = "optimal" if leaky or number % 2 else "mean"
    problem = nt.Problem.from_rows(network, X, y, sample_weight=weight, replacement=True)
    b = int(draw.choice([1, 2, 8]))
    plain = nt.NeuroTron("fastest", matrix, weighting=weighting)
    fastest = plain.resolve(problem, batch_size=b, steps=0, attack=None).step_size
    slow = network.leak if leaky else 1.0
    trainer = dataclasses.replace(
        plain, step_size=float(fastest) * slow * float(draw.uniform(0.1, 1.2))
    )
    centre = nt.certify(problem, trainer, steps=1, batch_size=b).centre
    assert centre is not None
    truth = dataclasses.replace(
        problem, data=dataclasses.replace(problem.data, true_weights=centre)
    )
    theta, beta = float(10.0 ** draw.uniform(-1.0, 1.0)), float(draw.uniform(0.05, 1.0))
    return Case(truth, trainer, theta, beta, b, 300)


def _network_and_inputs(draw: np.random.Generator, number: int) -> tuple[nt.FilterNetwork, Array]:
    """Return a network and rows with long tails, whose last column is mostly 1."""
    n, count = int(draw.integers(2, 6)), int(draw.integers(10, 120))
    X = draw.lognormal(0.0, draw.uniform(0.2, 0.8), (count, n))
    X[:, :-1] *= draw.choice([-1.0, 1.0, 1.0], size=(count, n - 1))
    X[:, -1] = 1.0
    if number % 3 == 0:
        leak = float(draw.choice([0.2, 0.7]))
        return nt.networks.relu_gate(n, leak=leak, outer_weights=float(draw.uniform(0.5, 2.0))), X
    if number % 3 == 1:
        return nt.networks.from_gates(draw.standard_normal((3, 2, n)), leak=1.0), X
    return nt.networks.linear(n), X


def excess_of_table(number: int, replicates: int) -> float:
    """Return by how many standard errors the measured mean squares exceed the certified ones."""
    case = random_table(number)
    steps, errors = measure(case, replicates)
    return excess(errors, certified(case, steps))


def excess_with_halved_residuals(number: int, replicates: int) -> float:
    """Return the same for a certificate that is wrong: s_r is halved. Nothing is attacked."""
    case = random_table(number)._replace(bound=0.0)
    trainer = case.trainer.completed(case.problem)
    matrix = np.asarray(trainer.sensing)
    right = sharp_constants(case.problem, matrix, trainer.weighting)
    wrong = dataclasses.replace(right, misfit=Misfit(s2=right.misfit.s2 / 2.0))
    moments = attack_moments(wrong, case.problem, matrix, trainer.weighting, None)
    recursion = wrong.recursion(moments, 0.0, case.batch_size)
    steps, errors = measure(case, replicates)
    start = case.problem.initial_error() ** 2
    return excess(errors[:1], recursion.after(start, steps, float(case.trainer.step_size)))


def excess_of_changed_labels(number: int, replicates: int) -> float:
    """Return the same for labels changed before training, and distances to the clean fit."""
    case = random_table(number)
    data, rows = case.problem.data, 1 + number % 3
    attack = nt.attacks.HighLeverage(bound=case.bound, probability=(rows + 0.5) / len(data.X))
    model = (case.problem.network, data.true_weights)
    labels, changed = nt.poison(data.X, data.y, attack, model=model)
    assert changed.sum() <= rows
    poisoned = dataclasses.replace(case.problem, data=dataclasses.replace(data, y=labels))
    budget = nt.Budget(case.bound, rows=rows)
    found = nt.certify(
        poisoned, case.trainer, budget=budget, steps=case.steps, batch_size=case.batch_size
    )
    steps, errors = measure(case._replace(problem=poisoned, bound=0.0), replicates)
    bounds = found.mean_square_bounds[np.searchsorted(found.at_steps, steps)]
    assert math.isfinite(found.radius)
    return excess(errors[:1], bounds)
