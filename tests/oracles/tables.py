"""Random tables with random trainers, their measured distances to the fit and the certified ones.

Labels are those of a wrong model. Networks are linear, with several gates or an intercept, or one
leaky gate. Some rows have weights, some trainers weigh rows by their norms, and some labels were
changed before training. In some tables the certificate is almost met with equality.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from tests.oracles.problems import (
    DELTAS,
    RECORDS,
    Case,
    Change,
    attacks_of,
    certified,
    excess,
    measure,
    wrong,
)

import neurotron as nt
from neurotron._types import Array
from neurotron.laws.even_moments import weights_of_rows
from neurotron.theory.sharp import SharpConstants

ATTACKS = 7
"""As many as `attacks_on` gives."""
COMPARISONS = (ATTACKS + 1) * RECORDS * (1 + len(DELTAS))
"""Of a table under these attacks, and with changed labels."""


def is_linear(number: int) -> bool:
    """Return whether the network of a random table is linear."""
    return number % 3 != 0 or number % 8 in (1, 5)


def random_rows(draw: np.random.Generator, number: int) -> tuple[nt.Problem, str | None]:
    """Return a table with long tails and a constant column, and how its rows are weighted."""
    X, y = _skewed(draw, int(draw.integers(2, 6)))
    count, n = X.shape
    weight = draw.exponential(size=count) + 0.05 if number % 5 == 1 else None
    weighting = "inverse-norm" if number % 5 == 2 and number % 3 else None
    inputs, intercept = X, False
    if number % 3 == 0:
        leak, outer = float(draw.choice([0.2, 0.7])), float(draw.uniform(0.5, 2.0))
        network = nt.networks.relu_gate(n, leak=leak, outer_weights=outer)
    elif number % 3 == 1:
        network = nt.networks.from_gates(draw.standard_normal((3, 2, n)), leak=1.0)
    else:
        network, inputs, intercept = nt.networks.linear(n - 1), X[:, :-1], True
    problem = nt.Problem.from_rows(
        network, inputs, y, sample_weight=weight, intercept=intercept, replacement=True
    )
    return problem, weighting


def _skewed(draw: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return rows with long tails, of which the last column is 1, and labels of a wrong model."""
    count = int(draw.integers(10, 120))
    X = draw.lognormal(0.0, draw.uniform(0.2, 0.8), (count, n))
    X[:, :-1] *= draw.choice([-1.0, 1.0, 1.0], size=(count, n - 1))
    X[:, -1] = 1.0
    spread = np.abs(X[:, 0]) ** 1.5
    return X, X[:, 0] * np.abs(X[:, 0]) - X.sum(axis=1) + spread * draw.standard_normal(count)


def random_table(number: int) -> Case:
    """Return table `number`, with its fit as the true weights: errors are distances to it."""
    draw = np.random.default_rng([21, number])
    if number % 8 == 1:
        return _table_of_one_weight(draw)
    if number % 8 == 5:
        return _table_at_its_floor(draw)
    problem, weighting = random_rows(draw, number)
    matrix = "mean" if is_linear(number) and number % 2 == 0 else "optimal"
    b = int(draw.choice([1, 2, 8]))
    plain = nt.NeuroTron("fastest", matrix, weighting=weighting)
    fastest = plain.resolve(problem, batch_size=b, steps=0, attack=None).step_size
    slow = 1.0 if is_linear(number) else problem.network.leak
    trainer = dataclasses.replace(
        plain, step_size=float(fastest) * slow * float(draw.uniform(0.1, 1.2))
    )
    centre = nt.certify(problem, trainer, steps=1, batch_size=b).centre
    assert centre is not None
    theta, beta = float(10.0 ** draw.uniform(-1.0, 1.0)), float(draw.uniform(0.05, 1.0))
    return Case(_centred(problem, centre), trainer, theta, beta, b, 300)


def _centred(problem: nt.Problem, centre: Array) -> nt.Problem:
    data = dataclasses.replace(problem.data, true_weights=centre)
    return dataclasses.replace(problem, data=data)


def _table_of_one_weight(draw: np.random.Generator) -> Case:
    """Return a table whose mean squared distance follows the certified one step by step."""
    X, y = _skewed(draw, 2)
    problem = nt.Problem.from_rows(
        nt.networks.linear(1), X[:, :1], X[:, 0] + 0.01 * y, initial_weights=[9.0], replacement=True
    )
    trainer = nt.NeuroTron("fastest")
    fastest = float(trainer.resolve(problem, batch_size=1, steps=0, attack=None).step_size)
    trainer = dataclasses.replace(trainer, step_size=fastest * float(draw.uniform(0.5, 1.5)))
    return Case(_centred(problem, problem.least_squares()), trainer, 0.01, 0.5, 1, 60)


def _table_at_its_floor(draw: np.random.Generator) -> Case:
    """Return a table that starts where the constant attack can hold it."""
    X, y = _skewed(draw, int(draw.integers(2, 6)))
    values, frame = np.linalg.eigh(X.T @ X / len(X))
    roots = np.sqrt(values)
    network, z = nt.networks.linear(X.shape[1]), X @ (frame / roots) @ frame.T
    theta, beta, b = float(10.0 ** draw.uniform(-1.0, 1.0)), float(draw.uniform(0.2, 1.0)), 8
    problem = nt.Problem.from_rows(network, z, theta * 0.1 * y, replacement=True)
    centre = problem.least_squares()
    constant = (frame * roots) @ frame.T[:, -1]  # its product with every row is 1
    problem = dataclasses.replace(problem, initial_weights=centre + theta * beta * constant)
    trainer = nt.NeuroTron("fastest")
    fastest = float(trainer.resolve(problem, batch_size=b, steps=0, attack=None).step_size)
    trainer = dataclasses.replace(trainer, step_size=0.1 * fastest)
    return Case(_centred(problem, centre), trainer, theta, beta, b, 750)


def attacks_on(case: Case) -> list[nt.Attack]:
    """Return the attacks of other problems, and the one that moves the constant column."""
    return [*attacks_of(case), nt.attacks.Constant(case.bound, case.probability)]


def excess_of_table(number: int, replicates: int) -> float:
    """Return by how many standard errors the measured distances exceed the certified ones."""
    case = random_table(number)
    measured = measure(case, attacks_on(case), replicates)
    return excess(measured, certified(case, measured))


def with_halved_residuals(constants: SharpConstants) -> SharpConstants:
    """Return constants that are wrong: labels seem to fit the model twice as well."""
    misfit = constants.misfit
    smaller = type(misfit)(s2=misfit.s2 / 2.0, along=misfit.along / 2.0, s1=misfit.s1 / 2.0)
    return dataclasses.replace(constants, misfit=smaller)


def excess_with(change: Change, number: int, replicates: int, *, attacked: bool) -> float:
    """Return the same for a certificate with wrong constants, with or without attacks."""
    case = random_table(number)
    case = case if attacked else case._replace(bound=0.0)
    measured = measure(case, attacks_on(case)[:: 1 if attacked else ATTACKS], replicates)
    return excess(measured, wrong(case, measured, change))


def excess_of_changed_labels(number: int, replicates: int) -> float:
    """Return the same for labels changed before training, and distances to the clean fit."""
    case, rows = random_table(number), 1 + number % 3
    data = dataclasses.replace(case.problem.data, y=worst_labels(case, rows))
    case = case._replace(problem=dataclasses.replace(case.problem, data=data))
    budget = nt.Budget(case.bound, rows=rows)
    measured = measure(case, [nt.attacks.Constant(0.0)], replicates)
    return excess(measured, certified(case, measured, budget))


def worst_labels(case: Case, rows: int) -> Array:
    """Return labels of which some were changed so that the least-squares fit moves far.

    In a direction u, the best rows are those with the largest influence on uᵀw. The fit then moves
    in another direction, which is tried next.
    """
    problem, data = case.problem, case.problem.data
    seen = data.X @ problem.network.mean_gate.T
    counted = data.law.counts * weights_of_rows(data.X, case.trainer.weighting)
    moves = counted[:, None] * np.linalg.solve((seen.T * counted) @ seen, seen.T).T
    direction = np.linalg.svd(moves)[2][0]
    for _ in range(10):
        along = moves @ direction
        chosen = np.argsort(np.abs(along))[-rows:]
        direction = np.sign(along[chosen]) @ moves[chosen]
    labels = data.y.copy()
    labels[chosen] += case.bound * np.sign(along[chosen])
    return labels
