r"""The contribution of rounding errors to a guarantee (docs/theory.md, "Rounding").

Theorems are about real numbers, but a computer stores 53 binary digits. As long as the root mean
square of ‖w − w*‖ is at most D, a computed step differs from the exact one by an error whose root
mean square is at most

.. math:: \varrho(\eta) = u (\|w_*\| + D) + 2 \eta\, \gamma_m\, \big( \| |A|^\top |w_*| \|
          + \||A|\|_2 D \big) \sqrt{E[\omega^2 \|x\|^2 \|Mx\|^2]}, \quad
          \gamma_m = \frac{m u}{1 - m u},

The first part is for storing the weights. The second is for the label, the output and the update,
each computed with m operations; |A| is the matrix of absolute values `FilterNetwork.magnitude`.
Minkowski's inequality adds this error to the bound on the root mean square after every step, so
bounds that are iterated include all rounding errors, each reduced by the steps after it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._types import Array
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem

UNIT = 2.0**-53
"""The relative error u of one operation."""
OTHER_OPERATIONS = 24
"""Operations of an output besides the products with x, filter, mix and outer weights."""
LEAST = 1e-100
"""Smallest bound, also for a filter of zeros: the squares of smaller numbers underflow."""


@dataclass(frozen=True)
class Rounding:
    """Bounds on the rounding errors of a step on a problem, as root mean squares.

    Parameters
    ----------
    storage
        Error added in a step by storing the weights.
    answers
        Error added in a step by rounding labels and outputs, divided by the step size.
    farther_storage, farther_answers
        How much larger both are per unit of the distance of the weights from w*.

    Examples
    --------
    >>> rounding = Rounding(storage=1e-16, answers=1e-13, farther_storage=1e-16)
    >>> f"{rounding.within(3.0).of_step(0.001):.3g}"
    '5e-16'
    >>> f"{rounding.least(pull=1.0, square=4.0):.3g}"
    '2.27e-13'
    """

    storage: float
    answers: float
    farther_storage: float = 0.0
    farther_answers: float = 0.0

    @classmethod
    def of(
        cls,
        problem: Problem,
        initial_error: float,
        spread: float,
        *,
        centre: Array | None = None,
        left: float = 0.0,
    ) -> Rounding:
        """Return the bounds for w*, or for any w* within `initial_error` of the start.

        `spread` is at least √E[ω²‖x‖²‖Mx‖²]. For a table, the `centre` takes the place of w*, and
        its residuals r add to what is rounded: `left` is √E[ω²r²‖Mx‖²]. So does the output of zero
        weights, which activations such as softplus have.
        """
        network, truth = problem.network, problem.true_weights if centre is None else centre
        magnitude = network.magnitude
        near = problem.initial_weights if truth is None else truth
        largest, gamma = float(np.linalg.norm(magnitude, 2)), _twice_gamma(network)
        seen = float(np.linalg.norm(np.abs(near) @ magnitude))
        found = cls(
            max(UNIT * float(np.linalg.norm(near)), LEAST), gamma * (seen * spread + left),
            UNIT, gamma * largest * spread,
        )  # fmt: skip
        if truth is not None:
            return found
        near_start = found.within(initial_error)
        return dataclasses.replace(found, storage=near_start.storage, answers=near_start.answers)

    def within(self, distance: float) -> Rounding:
        """Return the bounds as long as the weights are at most this far from w*."""
        return Rounding(
            self.storage + self.farther_storage * distance,
            self.answers + self.farther_answers * distance,
        )

    def scaled(self, stretches: float, shrinks: float) -> Rounding:
        """Return the bounds in coordinates that stretch and shrink distances by these factors."""
        both = stretches * shrinks
        return Rounding(
            stretches * self.storage, stretches * self.answers,
            both * self.farther_storage, both * self.farther_answers,
        )  # fmt: skip

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """The four numbers."""
        return self.storage, self.answers, self.farther_storage, self.farther_answers

    def of_step(self, step_size: Any) -> Any:
        """Return the error of one step at w* itself, elementwise."""
        return self.storage + step_size * self.answers

    def least(self, pull: float, square: float) -> float:
        """Return the smallest error that rounding adds in the long run, over all step sizes.

        A step of size η multiplies the excess over an exact bound by at most 1 − η(p − ηd₂)/2.
        """
        ratio = self.answers / self.storage * (pull / square)
        step = pull / (square * (1.0 + math.sqrt(1.0 + ratio)))
        return float(2.0 * self.of_step(step) / (step * (pull - step * square)))


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
