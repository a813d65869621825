r"""The contribution of rounding errors to a guarantee (docs/theory.md, "Rounding").

Theorems are about real numbers, but a computer stores 53 binary digits. As long as the root mean
square of ‖w − w*‖ is at most D, a computed step differs from the exact one by an error whose root
mean square is at most

.. math:: \varrho(\eta) = u (\|w_*\| + D) + 2 \eta\, \gamma_m\, \big( \| |A|^\top |w_*| \|
          + \||A|\|_2 D \big) \sqrt{E[\omega^2 \|x\|^2 \|Mx\|^2]}, \quad
          \gamma_m = \frac{m u}{1 - m u},

The first part is for storing the weights. The second is for the label, the output and the update,
each computed with m operations; |A| is the matrix of absolute values `FilterNetwork.magnitude`. A
step without rounding multiplies the excess over the exact bound by at most (1 + κ)/2, where
1 − κ = η(p − ηd₂).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._types import Array, Index
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.theory.mean_path import linear_steps

UNIT = 2.0**-53
"""The relative error u of one operation."""
OTHER_OPERATIONS = 24
"""Operations of an output besides the products with x, filter, mix and outer weights."""
LEAST = 1e-100
"""Smallest bound, also for a filter of zeros: the squares of smaller numbers underflow."""


@dataclass(frozen=True)
class Rounding:
    """Bounds on the rounding errors of a trainer on a problem, as root mean squares.

    Parameters
    ----------
    storage
        Error added in a step by storing the weights.
    answers
        Error added in a step by rounding labels and outputs, divided by the step size.
    pull, square
        p and d₂ of the recursion: without an attack, E‖w − w*‖² falls by the factor
        1 − η(p − ηd₂) in a step.

    Examples
    --------
    >>> rounding = Rounding(storage=1e-16, answers=1e-13, pull=1.0, square=4.0)
    >>> f"{rounding.floor(0.1):.3g}, {rounding.floor(0.001):.3g}, {rounding.least:.3g}"
    '3.37e-13, 4.02e-13, 2.27e-13'
    """

    storage: float
    answers: float
    pull: float
    square: float

    @classmethod
    def of(
        cls,
        problem: Problem,
        initial_error: float,
        spread: float,
        pull: float,
        square: float,
        *,
        centre: Array | None = None,
        left: float = 0.0,
    ) -> Rounding:
        """Return the bounds for w*, or for any w* within `initial_error` of the start.

        They assume that the weights are never farther from w* than the start. `spread` is at least
        √E[ω²‖x‖²‖Mx‖²]. For a table, the `centre` takes the place of w*, and its residuals r add to
        what is rounded: `left` is √E[ω²r²‖Mx‖²]. So does the output of zero weights, which
        activations such as softplus have.
        """
        network, truth = problem.network, problem.true_weights if centre is None else centre
        magnitude = network.magnitude
        near = problem.initial_weights if truth is None else truth
        away = initial_error if truth is not None else 2.0 * initial_error
        length = np.linalg.norm(near) + away
        largest = float(np.linalg.norm(magnitude, 2))
        seen = np.linalg.norm(np.abs(near) @ magnitude) + largest * away
        answers = _twice_gamma(network) * (float(seen) * spread + left)
        return cls(max(UNIT * float(length), LEAST), answers, pull, square)

    def of_step(self, step_size: Any) -> Any:
        """Return ϱ(η), the error of one step, elementwise."""
        return self.storage + step_size * self.answers

    def follow(self, factors: Array, etas: Array) -> Array:
        """Return the error that is added after 0, 1, … steps, which multiply it by `factors`."""
        excess = linear_steps(self.storage, factors, self.of_step(etas))
        return np.where(excess < math.inf, excess, math.inf)  # not a number: not known

    def decrease(self, step_size: Any) -> Any:
        """Return 1 − κ = η(p − ηd₂), elementwise."""
        return step_size * (self.pull - step_size * self.square)

    def floor(self, step_size: float) -> float:
        """Return the error that rounding adds in the long run; inf if the step is too large."""
        decrease = self.decrease(step_size)
        return 2.0 * self.of_step(step_size) / decrease if decrease > 0.0 else math.inf

    @property
    def least(self) -> float:
        """The smallest error that rounding adds in the long run, over all step sizes."""
        ratio = self.answers / self.storage * (self.pull / self.square)
        return self.floor(self.pull / (self.square * (1.0 + math.sqrt(1.0 + ratio))))

    def added(self, roots: Array, steps: Index, smallest: Any, largest: float, end: float) -> Array:
        """Return the error that rounding adds to each bound √Δ in `roots` after `steps` steps.

        The bounds move from the start towards their `end`, with step sizes between the `smallest`
        so far and the `largest`.
        """
        if roots[-1] <= roots[0] and self.decrease(largest) > 0.0:
            falling = self.kept(steps, smallest, largest)
            return np.asarray(np.maximum(falling, self.storage))
        # A bound that grows from s to G(s) amplifies earlier errors by at most G(s)/s. A bound
        # that grows towards its end also stays below the bound that starts there.
        with np.errstate(all="ignore"):
            growth = np.where(steps > 0, roots / roots[0], 1.0)
            growing = self.of_step(largest) * steps * growth
            beyond = end - roots + self.kept(math.inf, smallest, largest)
        worst = np.fmin(growing, beyond)
        return np.where(np.isnan(worst), math.inf, np.maximum(worst, self.storage))

    def room(self, target: float, floor: Callable[[float], float]) -> float | None:
        """Return the Δ to aim at so that √Δ plus the rounding error stays below √target.

        `floor` gives the rounding error for a Δ that one aims at. Return None if it is too large.
        """
        there = floor(target)
        for spare in (there, 2.0 * there):  # a smaller Δ may need smaller steps, which round more
            root = math.sqrt(target) - spare
            if root > 0.0 and floor(root**2) <= spare:
                return root**2
        return None

    def kept(self, steps: Any, smallest: Any, largest: float) -> Any:
        """Return the sum of the errors of all steps, each reduced by the steps after it."""

        def terms(step_size: Any) -> Any:
            with np.errstate(divide="ignore"):
                return np.minimum(steps, 2.0 / np.maximum(self.decrease(step_size), 0.0))

        return self.storage * terms(smallest) + largest * self.answers * terms(largest)


def label_rounding(network: FilterNetwork, weights: Array, inputs: Array) -> Array:
    """Return the largest difference between computed labels f_w(x) and exact ones, (b,)."""
    sizes = np.abs(inputs) @ (np.abs(weights) @ network.magnitude) + network.at_zero
    return np.asarray(_twice_gamma(network) * sizes)


def rounding_reach(network: FilterNetwork, inputs: Array) -> Array:
    """Return g with |rounding of f_w(x)| ≤ that of f_v(x) + g‖w − v‖ for all w and v, (b,)."""
    sizes = np.linalg.norm(np.abs(inputs) @ network.magnitude.T, axis=1)
    return np.asarray(0.5 * _twice_gamma(network) * sizes)


def output_reach(network: FilterNetwork, projected: Array) -> Array:
    """Return g with |f_w(x) − f_v(x)| ≤ g‖w − v‖ for all w and v: (1/k) Σ |q_i| ‖A_i x‖, (b,).

    It is multiplied by the steepest slope of the activation. Inputs are given by what the network
    projects them to, (b, L, r).
    """
    gates = projected if network.mix is None else network.mix @ projected
    lengths = np.sqrt(np.einsum("bkr,bkr->bk", gates, gates))
    return np.asarray(lengths @ np.abs(network.share)) * network.steepest


def _twice_gamma(network: FilterNetwork) -> float:
    """Return 2γ_m for the operations of an output, relative to the sizes of its terms."""
    count = network.n_inputs + network.filter_size + len(network.basis) + network.width
    operations = (count + OTHER_OPERATIONS) * UNIT
    return 2.0 * operations / (1.0 - operations)


def squared(roots: Array) -> Array:
    """Return the squares; those that overflow are infinite."""
    with np.errstate(over="ignore"):
        return np.square(roots)
