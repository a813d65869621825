r"""The recursion behind the sharp certificate, in terms of numbers only (docs/theory.md (e)).

With Δ a bound on E‖w − w*‖² before a step of size η, and s = √Δ, the bound after it is

.. math:: F(\Delta) = \Delta - \eta (p \Delta - q f(\eta) s)
          + \eta^2 (d_2 \Delta + d_1 s + d_0), \quad
          f(\eta) = \max_{\ell \le \lambda \le h} |1 - \eta\lambda| .

F is concave and non-decreasing in Δ, so it may be iterated from any bound on the initial error. Up
to η = 2/(ℓ + h) it is quadratic in η, so the best step size at every Δ is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from neurotron.theory.one_step import decrease


@dataclass(frozen=True)
class Recursion:
    """The recursion F for bounds on E‖w − w*‖², given by seven numbers.

    Parameters
    ----------
    pull
        p = (1+α)λ1, the strength with which honest labels pull towards w*.
    push
        q = 2θτ, the strength with which an attacker can push away from w*.
    square, linear, constant
        The coefficients d₂, d₁, d₀ of the second moment of a step's direction.
    low, high
        ℓ and h: between them are the eigenvalues of the pull of the other samples of the batch,
        which takes a part of an attacker's push back in the same step. If an attacker sees the
        whole batch they are negative, and the push is larger instead.

    Examples
    --------
    >>> clean = Recursion(pull=1.0, push=0.0, square=4.0, linear=0.0, constant=0.0)
    >>> clean.fastest
    0.125
    >>> clean.floor(0.3)  # the error grows without limit
    inf
    """

    pull: float
    push: float
    square: float
    linear: float
    constant: float
    low: float = 0.0
    high: float = 0.0

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float, float]:
        """The seven numbers (p, q, d₂, d₁, d₀, ℓ, h)."""
        return (
            self.pull, self.push, self.square, self.linear, self.constant, self.low, self.high,
        )  # fmt: skip

    @property
    def fastest(self) -> float:
        """The step size p/(2d₂), with which the error falls fastest without an attack."""
        return self.pull / (2.0 * self.square)

    @property
    def limit(self) -> float:
        """The bound q/p on the root mean squared error that no step size can improve."""
        return self.push / self.pull

    def floor(self, step_size: float) -> float:
        """Return √Δ∞ with F(Δ∞) = Δ∞, the final bound of a constant step size.

        It is inf if the bound grows without limit.
        """
        square, linear, constant = decrease(step_size, *self.numbers)
        if square <= 0.0:
            return math.inf
        return float(linear + math.sqrt(linear**2 + 4.0 * square * constant)) / (2.0 * square)
