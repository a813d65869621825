"""Attacks by name, and from text to an attack on a given problem."""

from __future__ import annotations

import numpy as np

from neurotron import _seeds
from neurotron._registry import Registry, parse
from neurotron._types import Array
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.alternating_sign import AlternatingSign
from neurotron.attacks.base import Attack
from neurotron.attacks.constant import Constant
from neurotron.attacks.impersonation import Impersonation
from neurotron.attacks.odd_direction import OddDirection
from neurotron.attacks.random_sign import RandomSign
from neurotron.attacks.uniform_noise import UniformNoise
from neurotron.problem import Problem

__all__ = ["BY_NAME", "build"]

BY_NAME: Registry[Attack] = Registry(
    "attack",
    {
        "alternating-sign": AlternatingSign,
        "random-sign": RandomSign,
        "uniform-noise": UniformNoise,
        "constant": Constant,
        "odd-direction": OddDirection,
        "impersonation": Impersonation,
        "adaptive": Adaptive,
    },
)


def build(
    text: str, problem: Problem, *, bound: float, probability: float, seed: int
) -> Attack | None:
    """Return the attack on `problem` that `text` describes; None for "none".

    A vector it needs is the worst one for its purpose: the direction in which Neuro-Tron is held
    least, or a filter to impersonate, drawn by `seed`.

    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
    >>> nt.attacks.build("odd-direction", problem, bound=1.0, probability=0.5, seed=0)
    OddDirection(bound=1, probability=0.5)
    """
    if text == "none":
        return None
    name, _ = parse(text)
    needed = BY_NAME.settings(name) if name in BY_NAME else {}
    vectors: dict[str, Array] = {}
    if "direction" in needed:
        vectors["direction"] = _weakest_direction(problem)
    if "weights" in needed:
        draw = _seeds.generator(seed, "impersonation")
        vectors["weights"] = draw.standard_normal(problem.network.filter_size)
    return BY_NAME.build(text, bound=bound, probability=probability, **vectors)


def _weakest_direction(problem: Problem) -> Array:
    """Return the left singular vector of the smallest singular value of ĀΣ, or of Ā without Σ."""
    seen = problem.network.mean_gate
    if problem.covariance is not None:
        seen = seen @ problem.covariance
    left, _, _ = np.linalg.svd(seen, full_matrices=False)
    return np.ascontiguousarray(left[:, -1])
