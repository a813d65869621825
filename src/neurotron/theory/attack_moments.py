"""What the theory needs to know about an attack: the moments of its probability β(x)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.attacks.query import QueryBuilder, visible
from neurotron.data import Rows, Simulated
from neurotron.laws import Empirical, Law
from neurotron.laws.even_moments import weights_of_rows
from neurotron.laws.projections import SLACK, tau_of_rows
from neurotron.problem import Problem
from neurotron.theory.coordinates import ORIGINAL, Coordinates

if TYPE_CHECKING:
    from neurotron.theory.sharp import SharpConstants

SEEN_IN_X = {"label", "probe", "probe_output", "norm", "parameter"}


@dataclass(frozen=True)
class AttackMoments:
    """The constants of an attacker: θ, and moments of its probability β(x).

    With sample weights c, ω is replaced by cω.
    """

    bound: float
    tau: float
    """An upper bound on sup E[βω|uᵀMx|] over unit vectors u."""
    s2: float
    """√E[βω²‖Mx‖²]."""
    coin: float
    """√E[β²ω²‖Mx‖²], because a coin is tossed without looking at the residual."""
    s1: float
    """E[βω‖Mx‖]."""
    batch_aware: bool


def attack_moments(
    constants: SharpConstants,
    problem: Problem,
    sensing: Array,
    weighting: str | None,
    attack: Attack | Budget | None,
    coordinates: Coordinates = ORIGINAL,
) -> AttackMoments:
    """Return the moments of an attack on a trainer with matrix M and weight ω.

    The bounds on τ of laws other than rows of data are for a constant probability. There, a
    probability β(x) that varies is replaced by its largest value, which is safe. For rows, all
    constants are those of β(x).
    """
    budget = budget_of(attack)
    theta, beta = budget.bound, budget.probability
    if theta is None or beta is None:
        raise _check.InputError(f"the attack has no finite bound: {attack!r}")
    batch_aware = budget.scope == "batch"
    rows = attacked_rows(problem, sensing, attack)
    if rows is None:
        s0 = constants.s0
        # without an attack all moments are 0, also where a constant is infinite
        if theta * beta == 0.0:
            return AttackMoments(theta, 0.0, 0.0, 0.0, 0.0, batch_aware)
        return AttackMoments(
            theta, beta * constants.tau, math.sqrt(beta) * s0, beta * s0, beta * s0, batch_aware
        )
    x, chance = rows
    weights = _counts(problem.law, x) * weights_of_rows(x, weighting)
    sensed = x @ coordinates.updates(sensing).T
    lengths = weights * np.linalg.norm(sensed, axis=1)

    tau = tau_of_rows((chance * weights)[:, None] * sensed, chance)
    s2 = math.sqrt(float((chance * lengths**2).mean()) * (1.0 + SLACK))
    coin = math.sqrt(float(((chance * lengths) ** 2).mean()) * (1.0 + SLACK))
    s1 = float((chance * lengths).mean()) * (1.0 + SLACK)
    return AttackMoments(theta, tau, s2, coin, s1, batch_aware)


def _counts(law: Law, x: Array) -> Array:
    """Return how much each point of an empirical law counts, including points of flipped sign."""
    assert isinstance(law, Empirical)
    return np.tile(law.counts, len(x) // len(law.rows))


def attacked_rows(
    problem: Problem, sensing: Array, attack: Attack | Budget | None
) -> tuple[Array, Array] | None:
    """Return the points x of an empirical law, (N, n), and the attack's probability β(x), (N,).

    Return None if the probability is constant, if the law is not empirical, or if the attack uses
    more than x. In these cases the largest probability is used.
    """
    law = problem.law
    if not isinstance(attack, Attack) or not isinstance(law, Empirical):
        return None
    if type(attack).chance is Attack.chance or not {*attack.query_fields} <= SEEN_IN_X:
        return None
    x = np.concatenate([law.rows, -law.rows]) if law.symmetrized else law.rows
    labels = _labels(problem, x)
    if "label" in attack.query_fields and labels is None:
        return None
    known = {} if labels is None else {"label": labels[:, None]}
    query = QueryBuilder([attack], problem.network, sensing).build(x, **known)
    chance = np.asarray(attack.chance(attack.probability, visible(query, attack)), np.float64)
    if not ((chance >= 0.0) & (chance <= attack.probability * (1.0 + 1e-12))).all():
        raise _check.InputError(
            f"`chance` of {attack!r} must return probabilities in [0, {attack.probability:g}]"
        )
    return x, np.broadcast_to(chance, (len(x), 1))[:, 0]


def _labels(problem: Problem, x: Array) -> Array | None:
    """Return the honest label of each point, stored or computed; None if it is not known.

    It is not known if labels have noise, which differs at every draw, or if a subclass makes them.
    """
    data = problem.data
    if type(data) is Rows:
        return data.y
    if type(data) is Simulated and data.true_weights is not None and data.noise == 0.0:
        return problem.network(data.true_weights, x)
    return None
