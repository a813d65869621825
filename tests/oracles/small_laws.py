"""Laws and tables of a few points, on which one step is computed exactly for the worst attacker.

Nothing is sampled. The mean over all batches and coins is a sum, and it is convex in the changes ξ
of the labels, so its largest value is found among changes of ±θ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import neurotron as nt
from neurotron.attacks.budget import budget_of
from neurotron.networks.activations import Activation
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import SharpConstants, sharp_constants


class Uneven(nt.attacks.OddDirection):
    """Attacks one half-space four times as often as the other, so that β(x) is not even."""

    @staticmethod
    def chance(probability, query):
        return np.where(query.probe > 0.0, probability, probability / 4.0)


class UnevenBatch(Uneven):
    """The same with a view of the whole batch."""

    scope = "batch"


class SmallCase(NamedTuple):
    """A trainer and an attacker on a few points, each of which is an input with its label."""

    problem: nt.Problem
    sensing: np.ndarray
    weighting: str | None
    attack: nt.Attack | nt.Budget
    batch_size: int
    centre: np.ndarray
    """w* or the fit of a table, to which distances are measured, (r,)."""
    inputs: np.ndarray
    """(A, n); all points are drawn with the same probability."""
    labels: np.ndarray
    """Honest labels with their noise, (A,)."""
    coins: np.ndarray
    """The probability that the label of a point is attacked, (A,)."""
    counts: np.ndarray
    """Sample weights, (A,)."""

    @property
    def bound(self) -> float:
        return budget_of(self.attack).bound

    @property
    def batch_aware(self) -> bool:
        return budget_of(self.attack).scope == "batch"

    @property
    def moves(self) -> np.ndarray:
        """ωMx of every point, times its sample weight, (A, r)."""
        omega = self.counts / ((self.inputs**2).sum(axis=1) if self.weighting else 1.0)
        return omega[:, None] * (self.inputs @ self.sensing.T)

    def left(self, away: np.ndarray) -> np.ndarray:
        """Return the residuals of all points if the weights are `away` from the centre.

        The shape is (A,), or (D, A) for many weights, (D, r).
        """
        return self.labels - self.problem.network(self.centre + away, self.inputs).T

    def constants(self) -> SharpConstants:
        return sharp_constants(self.problem, self.sensing, self.weighting)

    def moments(self, constants: SharpConstants) -> AttackMoments:
        return attack_moments(constants, self.problem, self.sensing, self.weighting, self.attack)

    def recursion(self) -> Recursion:
        constants = self.constants()
        return constants.recursion(self.moments(constants), self.problem.noise, self.batch_size)


def law_case(
    network: nt.FilterNetwork,
    rows: np.ndarray,
    centre: np.ndarray,
    attack: nt.Attack | nt.Budget,
    *,
    sensing: np.ndarray | str = "optimal",
    weighting: str | None = None,
    noise: float = 0.0,
    batch_size: int = 1,
    toss: float = 0.0,
) -> SmallCase:
    """Return a case with the inputs ±rows, and with noise of ±ς.

    The coin depends on the noise if `toss` is not 0, but its mean given the input is β(x).
    """
    rows, centre = np.atleast_2d(np.asarray(rows, float)), np.asarray(centre, float)
    law = nt.Empirical(rows, symmetrized=True)
    problem = nt.Problem.draw(network, law, true_weights=centre, noise=noise)
    if isinstance(sensing, str):
        sensing = problem.sensing_matrix(sensing, weighting)
    inputs = np.concatenate([rows, -rows])
    beta = np.full(len(inputs), budget_of(attack).probability)
    if isinstance(attack, Uneven):
        beta[inputs @ sensing[0] <= 0.0] /= 4.0
    labels, coins = network(centre, inputs), beta
    if noise > 0.0:
        more = toss * np.minimum(beta, 1.0 - beta)
        labels = np.concatenate([labels + noise, labels - noise])
        coins, inputs = np.concatenate([beta + more, beta - more]), np.tile(inputs, (2, 1))
    return SmallCase(
        problem, sensing, weighting, attack, batch_size, centre, inputs, labels, coins,
        np.ones(len(inputs)),
    )  # fmt: skip


def table_case(
    network: nt.FilterNetwork,
    X: np.ndarray,
    y: np.ndarray,
    attack: nt.Attack | nt.Budget,
    *,
    sensing: str = "optimal",
    weighting: str | None = None,
    sample_weight: np.ndarray | None = None,
    batch_size: int = 1,
) -> SmallCase:
    """Return a case of a linear network on the rows of a table; its centre is solved for here."""
    problem = nt.Problem.from_rows(network, X, y, sample_weight=sample_weight, replacement=True)
    counts = problem.law.counts
    seen = X @ network.mean_gate.T
    g = counts / ((X**2).sum(axis=1) if weighting else 1.0)
    centre = np.linalg.solve((seen.T * g) @ seen, (seen.T * g) @ y)
    matrix = problem.sensing_matrix(sensing, weighting)
    beta = np.full(len(X), budget_of(attack).probability)
    if isinstance(attack, Uneven):
        beta[X @ matrix[0] <= 0.0] /= 4.0
    return SmallCase(
        problem, matrix, weighting, attack, batch_size, centre, X, y, beta, counts
    )  # fmt: skip


# ---- exact steps ---------------------------------------------------------------------------------


def worst_means(case: SmallCase, away: np.ndarray, etas: np.ndarray) -> np.ndarray:
    """Return E‖w − centre‖² after one step of each size, against the worst attacker.

    The weights are `away` from the centre before the step.
    """
    worst = _worst_of_batches if case.batch_aware else _worst_of_queries
    return worst(case, np.asarray(away, float), np.atleast_1d(etas))


def signs(count: int) -> np.ndarray:
    """Return all vectors of ±1, (2^count, count)."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=count)))


def means(case: SmallCase, away: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E[ρωMx], (V, r), and E[ρ²ω²‖Mx‖²], (V,), for each row of `changes`, (V, A)."""
    left, moves, count = case.left(away), case.moves, len(case.labels)
    first = (left + case.coins * changes) @ moves / count
    squares = (1.0 - case.coins) * left**2 + case.coins * (left + changes) ** 2
    return first, squares @ (moves**2).sum(axis=1) / count


def mean_after(
    away: np.ndarray, eta: float, batch_size: int, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return E‖away + η g‖² of a batch of independent samples, (V, V); (V, 1) for one sample.

    The last sample of the batch has the moments of the row, and all others those of the column.
    """
    size, others = eta / batch_size, batch_size - 1.0
    alone = 2.0 * size * (first @ away) + size**2 * second
    if others == 0.0:
        return (away @ away + alone)[:, None]
    together = alone + size**2 * (others - 1.0) * (first**2).sum(axis=1)
    products = first @ (2.0 * others * size**2 * first.T)
    products += (away @ away + alone)[:, None]
    products += others * together
    return products


def _worst_of_queries(case: SmallCase, away: np.ndarray, etas: np.ndarray) -> np.ndarray:
    """The changes at the last position may differ from those at the others."""
    used = case.coins > 0.0
    count = int(used.sum()) if case.bound else 0
    changes = np.zeros((2**count, len(used)))
    if count:
        changes[:, used] = case.bound * signs(count)
    first, second = means(case, away, changes)
    b = case.batch_size
    return np.array([mean_after(away, eta, b, first, second).max() for eta in etas])


def samples(case: SmallCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all batches: the points, whether each is attacked, (K, b) each, and how likely."""
    points = np.tile(np.arange(len(case.labels)), 2)
    attacked = np.repeat([0.0, 1.0], len(case.labels))
    likely = np.concatenate([1.0 - case.coins, case.coins]) / len(case.labels)
    possible = np.flatnonzero(likely > 0.0)
    drawn = np.array(list(itertools.product(possible, repeat=case.batch_size)))
    return points[drawn], attacked[drawn], likely[drawn].prod(axis=1)


def _worst_of_batches(case: SmallCase, away: np.ndarray, etas: np.ndarray) -> np.ndarray:
    """All changes are chosen anew for each batch."""
    points, attacked, likely = samples(case)
    moves = case.moves[points] / case.batch_size
    honest = (case.left(away)[points][:, :, None] * moves).sum(axis=1)
    pushes = case.bound * attacked[:, :, None] * moves
    updates = honest + np.tensordot(signs(case.batch_size), pushes, (1, 1))  # (2^b, K, r)
    lengths, along = (updates**2).sum(axis=2), updates @ away
    worst = [(2.0 * eta * along + eta**2 * lengths).max(axis=0) for eta in etas]
    return away @ away + np.array(worst) @ likely


# ---- random cases --------------------------------------------------------------------------------


def random_law_case(number: int, activation: Activation | None = None) -> SmallCase:
    """Return a small network with a small law, any sensing matrix and an attacker."""
    draw = np.random.default_rng([13, number])
    n = int(draw.integers(1, 3))
    r = int(draw.integers(1, n + 1))
    b, batch = int(draw.integers(1, 4)), number % 3 == 2
    noise = float(draw.choice([0.0, 0.0, 1.0, 10.0]))
    count = r if noise > 0.0 and b * (1 + batch) > 3 else int(draw.integers(r, 3))
    theta, beta = float(draw.choice([0.0, 0.3, 1.0, 10.0])), float(draw.choice([0.1, 0.5, 1.0]))
    attack: nt.Attack | nt.Budget = nt.Budget(theta, beta, "batch" if batch else "query")
    if draw.random() < 0.5:
        attack = (UnevenBatch if batch else Uneven)(theta, beta, direction=np.eye(r)[0])
    gates = draw.standard_normal((int(draw.integers(1, 4)), r, n))
    q, leak = draw.uniform(0.5, 2.0, len(gates)), float(draw.choice([0.0, 0.5, 1.0]))
    shape: dict[str, Any] = {"leak": leak} if activation is None else {"activation": activation}
    return law_case(
        nt.networks.from_gates(gates, outer_weights=q, **shape),
        draw.standard_normal((count, n)) * draw.lognormal(0.0, 1.0, (count, 1)),
        draw.standard_normal(r),
        attack,
        sensing=draw.standard_normal((r, n)) if number % 2 else "optimal",
        weighting="inverse-norm" if draw.random() < 0.3 else None,
        noise=noise,
        batch_size=b,
        toss=float(draw.uniform(-1.0, 1.0)),
    )  # fmt: skip


def random_table_case(number: int) -> SmallCase:
    """Return a small table of a wrong model, without symmetry, some with weights."""
    draw = np.random.default_rng([14, number])
    count, b, batch = int(draw.integers(3, 6)), int(draw.integers(1, 4)), number % 3 == 2
    X = np.column_stack([draw.lognormal(0.0, 0.8, count), np.ones(count)])
    X[:, 0] *= draw.choice([-1.0, 1.0, 1.0], count)
    theta, beta = float(draw.choice([0.0, 0.3, 3.0])), float(draw.choice([0.1, 0.5, 1.0]))
    attack: nt.Attack | nt.Budget = nt.Budget(theta, beta, "batch" if batch else "query")
    network = nt.networks.linear(2)
    if number % 4 == 3:
        network = nt.networks.from_gates(draw.standard_normal((2, 1, 2)), leak=1.0)
    if draw.random() < 0.5:
        direction = np.eye(network.filter_size)[0]
        attack = (UnevenBatch if batch else Uneven)(theta, beta, direction=direction)
    return table_case(
        network, X, X[:, 0] + draw.standard_normal(count) * (0.2 + X[:, 0] ** 2), attack,
        sensing=str(draw.choice(["optimal", "mean"])),
        weighting="inverse-norm" if number % 5 == 2 else None,
        sample_weight=draw.random(count) + 0.2 if number % 5 == 1 else None,
        batch_size=min(b, 2) if batch else b,
    )  # fmt: skip


def starts(case: SmallCase, number: int) -> Iterator[np.ndarray]:
    """Yield differences from the centre: none, the mirror image, and some of random length."""
    draw = np.random.default_rng([15, number])
    yield np.zeros(len(case.centre))
    yield -2.0 * case.centre
    for size in 10.0 ** draw.uniform(-1.5, 1.5, 2):
        direction = draw.standard_normal(len(case.centre))
        yield size * direction / np.linalg.norm(direction)
