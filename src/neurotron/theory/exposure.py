"""What an attack amounts to for the theory: its budget, and the moments of its chance β(x)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.attacks import Attack, Query
from neurotron.attacks.scope import looks_beyond
from neurotron.laws import Empirical
from neurotron.problem import Problem

__all__ = ["NO_ATTACK", "Budget", "attacked_rows", "budget_of", "misstated"]

SEEN_IN_X = {"label", "probe", "probe_output", "norm", "setting"}


@dataclass(frozen=True)
class Budget:
    """What an attacker may do, whoever it is.

    Parameters
    ----------
    bound
        θ ≥ 0, the largest change of a label; None if that is what `plan` is asked for.
    probability
        β in [0, 1], the largest chance that a label is attacked; None likewise.
    sees
        "query" if the change of a label depends on its own sample (and on the past) only, "batch"
        if on the whole batch.

    Examples
    --------
    >>> Budget(bound=1.0, probability=0.5)
    Budget(bound=1, probability=0.5)
    """

    bound: float | None = None
    probability: float | None = None
    sees: Literal["query", "batch"] = "query"

    def __post_init__(self) -> None:
        for name, interval in (("bound", "[0, 1e70]"), ("probability", "[0, 1]")):
            if getattr(self, name) is not None:
                number = _check.number(name, getattr(self, name), interval)
                object.__setattr__(self, name, number)
        _check.choice("sees", self.sees, ("query", "batch"))

    def __repr__(self) -> str:
        numbers = (("bound", self.bound), ("probability", self.probability))
        parts = [f"{name}={value:g}" for name, value in numbers if value is not None]
        return f"Budget({', '.join(parts + ['sees=batch'] * (self.sees == 'batch'))})"


NO_ATTACK = Budget(bound=0.0, probability=0.0)


def budget_of(attack: Attack | Budget | None) -> Budget:
    """Return the budget of an attack; its `probability` is the largest chance it may have."""
    if attack is None:
        return NO_ATTACK
    if isinstance(attack, Budget):
        return attack
    _check.instance("attack", attack, Attack)
    bound = attack.bound if math.isfinite(attack.bound) else None
    return Budget(bound, attack.probability, attack.sees)


def misstated(
    attack: Attack | Budget | None, batch_size: int, method: str = "sharp"
) -> tuple[str, str]:
    """Return which formula of a user's attack depends on what it must not, and on what, or "", "".

    No guarantee holds if coins depend on other samples. The sharp certificate must know whether ξ
    does; Theorem 1 holds either way.
    """
    if not isinstance(attack, Attack) or type(attack).__module__.startswith("neurotron."):
        return "", ""
    formulas = ["chance"]
    if attack.sees == "query" and method == "sharp":
        formulas.append("distort")
    for formula in formulas:
        if found := looks_beyond(attack, formula, batch_size=batch_size):
            return formula, found
    return "", ""


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
    if type(attack).chance is Attack.chance or not {*attack.uses} <= SEEN_IN_X:
        return None
    if "label" in attack.uses and (problem.true_weights is None or problem.noise > 0.0):
        return None
    x = np.concatenate([law.rows, -law.rows]) if law.symmetrized else law.rows
    unseen = np.full((1, 1), np.nan)
    query = Query(*([unseen] * len(Query._fields)))._replace(
        norm=np.linalg.norm(x, axis=1)[:, None]
    )
    if problem.true_weights is not None:
        query = query._replace(label=problem.network(problem.true_weights, x)[:, None])
    if attack.setting is not None:
        query = query._replace(setting=np.full((1, 1), attack.setting))
    if attack.vector is not None:
        query = query._replace(
            probe=(x @ (sensing.T @ attack.vector))[:, None],
            probe_output=problem.network(attack.vector, x)[:, None],
        )
    chance = np.asarray(attack.chance(attack.probability, query), np.float64)
    if not ((chance >= 0.0) & (chance <= attack.probability * (1.0 + 1e-12))).all():
        raise _check.InputError(f"attack {attack!r} gave a chance outside [0, probability]")
    return x, np.broadcast_to(chance, (len(x), 1))[:, 0]
