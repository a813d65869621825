"""What an attack amounts to for the theory: the moments of its chance β(x)."""

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
from neurotron.problem import Problem

if TYPE_CHECKING:
    from neurotron.theory.sharp import SharpConstants

__all__ = ["SLACK", "AttackMoments", "attack_moments", "attacked_rows", "largest_root"]

SLACK = 1e-11
"""By which constants are rounded to the safe side, relative to what they are computed from."""

SEEN_IN_X = {"label", "probe", "probe_output", "norm", "parameter"}


@dataclass(frozen=True)
class AttackMoments:
    """What an attacker gives: θ, τ = sup E[βω|uᵀMx|], s₂ = √E[βω²‖Mx‖²], s₁ = E[βω‖Mx‖].

    Rows with sample weights c have cω in place of ω.
    """

    bound: float
    tau: float
    s2: float
    s1: float
    batch_aware: bool


def attack_moments(
    constants: SharpConstants,
    problem: Problem,
    sensing: Array,
    weighting: str | None,
    attack: Attack | Budget | None,
) -> AttackMoments:
    """Return what an attack amounts to for a trainer with matrix M and weight ω.

    A chance that varies counts as its largest where the law is not that of rows. With rows of data
    and a chance β(x), τ is bounded by Cauchy–Schwarz in two ways.
    """
    budget = budget_of(attack)
    theta, beta = budget.bound, budget.probability
    if theta is None or beta is None:
        raise _check.InputError(f"the attack has no finite bound: {attack!r}")
    batch_aware = budget.scope == "batch"
    rows = attacked_rows(problem, sensing, attack)
    if rows is None:
        s0 = constants.s0
        # 0 · ∞ = 0: nobody attacks
        if theta * beta == 0.0:
            return AttackMoments(theta, 0.0, 0.0, 0.0, batch_aware)
        return AttackMoments(
            theta, beta * constants.tau, math.sqrt(beta) * s0, beta * s0, batch_aware
        )
    x, chance = rows
    weights = _counts(problem.law, x) * weights_of_rows(x, weighting)
    sensed = x @ sensing.T
    lengths = weights * np.linalg.norm(sensed, axis=1)

    def second(factor: Array) -> Array:
        return (sensed.T * factor) @ sensed / len(x)

    tau = min(
        largest_root(second((chance * weights) ** 2)),
        math.sqrt(float(chance.mean())) * largest_root(second(chance * weights**2)),
    )
    s2 = math.sqrt(float((chance * lengths**2).mean()) * (1.0 + SLACK))
    s1 = float((chance * lengths).mean()) * (1.0 + SLACK)
    return AttackMoments(theta, tau, s2, s1, batch_aware)


def _counts(law: Law, x: Array) -> Array:
    """Return how often each point of an empirical law counts, those of opposite sign included."""
    assert isinstance(law, Empirical)
    return np.tile(law.counts, len(x) // len(law.rows))


def attacked_rows(
    problem: Problem, sensing: Array, attack: Attack | Budget | None
) -> tuple[Array, Array] | None:
    """Return the points x an empirical law has, (N, n), and the attack's chance β(x) there, (N,).

    None if the chance is constant, or the law not empirical, or the attack looks at more than x:
    then its largest chance stands for it.
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
        raise _check.InputError(f"attack {attack!r} gave a chance outside [0, probability]")
    return x, np.broadcast_to(chance, (len(x), 1))[:, 0]


def _labels(problem: Problem, x: Array) -> Array | None:
    """Return the honest label at each point: the stored one, or the one made there; None if unsure.

    Noise makes another one at every visit, and what a subclass does is not known.
    """
    data = problem.data
    if type(data) is Rows:
        return data.y
    if type(data) is Simulated and data.true_weights is not None and data.noise == 0.0:
        return problem.network(data.true_weights, x)
    return None


def largest_root(matrix: Array) -> float:
    """Return √λ_max of a positive semidefinite matrix, rounded up; inf if it overflowed."""
    if not np.isfinite(matrix).all():
        return math.inf
    return math.sqrt(max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0) * (1.0 + SLACK))
