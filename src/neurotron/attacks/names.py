"""Attacks by name, and from text to an attack on a given problem."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from neurotron import _check, _seeds
from neurotron._registry import Registry, parse
from neurotron._types import Array
from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.alternating_sign import AlternatingSign
from neurotron.attacks.base import Attack
from neurotron.attacks.burst import Burst
from neurotron.attacks.constant import Constant
from neurotron.attacks.half_space import HalfSpace
from neurotron.attacks.impersonation import Impersonation
from neurotron.attacks.large_norm import LargeNorm
from neurotron.attacks.mixture import Mixture
from neurotron.attacks.multiplicative import Multiplicative
from neurotron.attacks.odd_direction import OddDirection
from neurotron.attacks.random_sign import RandomSign
from neurotron.attacks.replacement import Replacement
from neurotron.attacks.sign_flip import SignFlip
from neurotron.attacks.uniform_noise import UniformNoise
from neurotron.laws import Law
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
        "burst": Burst,
        "large-norm": LargeNorm,
        "half-space": HalfSpace,
        "mixture": Mixture,
        "multiplicative": Multiplicative,
        "replacement": Replacement,
        "sign-flip": SignFlip,
    },
)

MOST_ROWS, MOST_NUMBERS = 100_000, 2_000_000
"""Of the sample of norms by which a cutoff is found."""


def build(
    text: str, problem: Problem, *, bound: float, probability: float, seed: int
) -> Attack | None:
    """Return the attack on `problem` that `text` describes; None for "none".

    Here `probability` is the budget β: the share of all labels that is attacked, on average. An
    attack that leaves some samples alone has a larger chance at the others: "burst" attacks all
    labels of a share β of the steps, "large-norm" those with the largest ‖x‖, "half-space" one side
    with chance min(1, 2β), as is right for a symmetric law. What the text says is left as it is,
    and the chance goes by it: "burst:share=0.5" attacks half of the steps with chance min(1, 2β).

    The `bound` holds for every attack; those outside the theorem are clipped to it, which a large
    one, or infinity, undoes.

    A vector it needs is the worst one for its purpose: the direction in which Neuro-Tron is held
    least, or a filter to impersonate, drawn by `seed`.

    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal())
    >>> nt.attacks.build("odd-direction", problem, bound=1.0, probability=0.5, seed=0)
    OddDirection(bound=1, probability=0.5)
    >>> nt.attacks.build("burst", problem, bound=1.0, probability=0.2, seed=0)
    Burst(bound=1, probability=1, share=0.2)
    """
    _check.text("text", text)
    _check.instance("problem", problem, Problem)
    _check.integer("seed", seed, 0)
    bound = _check.number("bound", bound, "[0, inf]")
    probability = _check.number("probability", probability, "[0, 1]")
    if text == "none":
        return None
    name, given = parse(text)
    kind = BY_NAME.factories.get(name)
    needed = BY_NAME.settings(name) if name in BY_NAME else {}
    filled: dict[str, Any] = {"bound": bound, "probability": probability}
    if "direction" in needed:
        filled["direction"] = _weakest_direction(problem)
    if "weights" in needed:
        draw = _seeds.generator(seed, "impersonation")
        filled["weights"] = draw.standard_normal(problem.network.filter_size)
    if kind is Burst:
        filled["share"] = _check.number("share", given.get("share", probability), "[0, 1]")
        filled["probability"] = _spread(probability, filled["share"])
    if kind is LargeNorm:
        norms = _norms(problem.law, problem.network.n_inputs)
        cutoff = given.get("cutoff", _cutoff(norms, probability))
        filled["cutoff"] = _check.number("cutoff", cutoff, "[0, inf)")
        filled["probability"] = _spread(probability, float((norms >= filled["cutoff"]).mean()))
    if kind is HalfSpace:
        filled["probability"] = _spread(probability, 0.5)
    return BY_NAME.build(text, **filled)


def _spread(budget: float, share: float) -> float:
    """Return the chance, at most 1, by which attacks on a share of the labels spend the budget."""
    return budget / share if budget < share else float(budget > 0.0)


@lru_cache(maxsize=8)
def _norms(law: Law, n_inputs: int) -> Array:
    """Return ‖x‖ of a sample, the same whenever it is asked for, in ascending order."""
    rows = max(min(MOST_ROWS, MOST_NUMBERS // n_inputs), 1000)
    draw = _seeds.generator(0, "norms")
    u, v = 1.0 - draw.random((2, law.pairs(rows, n_inputs)))
    return np.sort(np.linalg.norm(law.inputs(u, v, rows, n_inputs), axis=1))


def _cutoff(norms: Array, share: float) -> float:
    """Return what a share of the norms is not below; 0 for all of them.

    A hair below a norm of the sample: with inputs ±1 all norms are that one, up to rounding.
    """
    count = round(share * len(norms))
    return 0.0 if count == len(norms) else (1.0 - 1e-9) * float(norms[-max(count, 1)])


def _weakest_direction(problem: Problem) -> Array:
    """Return the left singular vector of the smallest singular value of ĀΣ, or of Ā without Σ."""
    seen = problem.network.mean_gate
    if problem.covariance is not None:
        seen = seen @ problem.covariance
    left, _, _ = np.linalg.svd(seen, full_matrices=False)
    return np.ascontiguousarray(left[:, -1])
