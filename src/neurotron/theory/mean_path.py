r"""A sure bound on the mean path of the weights, and a bound on the deviations from it.

Given the past, the mean of an update is −c MΣĀᵀd plus what the attacker adds, whose length is at
most θτ. So d = w − w* is the sum of a path b, which obeys a *sure* bound ‖b‖ ≤ B, and of a part Z
with E‖Z‖² ≤ V, which comes from the randomness of the samples (docs/theory.md (e)):

.. math:: B_{t+1} = f_t B_t + \eta_t\theta\tau, \quad
          V_{t+1} = f_t^2 V_t + \eta_t^2 (v_2\Delta_t + v_1\sqrt{\Delta_t} + v_0), \quad
          f_t = \max_{\ell \le \lambda \le h} |1 - \eta_t\lambda| .

Chebyshev's inequality gives P(‖d‖ > B + √(V/δ)) ≤ δ. Under attack this is much less than √(Δ/δ),
because only V is divided by δ.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from neurotron._types import Array
from neurotron.theory.one_step import largest_factor


class Deviation(NamedTuple):
    """B and V after some numbers of steps: ‖b‖ ≤ `path` surely, and E‖Z‖² ≤ `spread`."""

    path: Any
    spread: Any

    def radius(self, delta: float, rounding: Any = 0.0) -> Any:
        """Return B + (√V + the root mean square of rounding errors)/√δ."""
        return self.path + (np.sqrt(self.spread) + rounding) / math.sqrt(delta)


@dataclass(frozen=True)
class MeanPath:
    """The recursions for B and V.

    Parameters
    ----------
    low, high
        Between them are the eigenvalues of the pull c MΣĀᵀ.
    push
        θτ, the most that an attacker adds to the mean of an update.
    square, linear, constant
        v₂, v₁, v₀: the second moment of an update's deviation from its mean is at most
        v₂Δ + v₁√Δ + v₀.

    Examples
    --------
    >>> path = MeanPath(low=0.5, high=0.5, push=0.1, square=0.0, linear=0.0, constant=0.04)
    >>> round(path.limit, 12)
    0.2
    >>> end = path.follow(Deviation(1.0, 0.0), np.ones(1001), np.full(1000, 0.01))
    >>> round(end.path[-1], 3), round(end.radius(delta=0.05)[-1], 3)
    (np.float64(0.205), np.float64(0.295))
    """

    low: float
    high: float
    push: float
    square: float
    linear: float
    constant: float

    @property
    def limit(self) -> float:
        """The bound on the mean path that no number of steps can improve."""
        return self.push / self.low if self.low > 0.0 else math.inf

    def factor(self, eta: Any) -> Any:
        """Return f(η) = max |1 − ηλ| over the eigenvalues λ of the pull."""
        return largest_factor(eta, self.low, self.high)

    def gap(self, eta: float) -> float:
        """Return 1 − f(η) without cancellation; it is not positive if B and V may grow."""
        return min(eta * self.low, 2.0 - eta * self.high, eta * self.high, 2.0 - eta * self.low)

    def added(self, eta: Any, delta: Any) -> Any:
        """Return η²(v₂Δ + v₁√Δ + v₀), what a step adds to V."""
        return eta**2 * (self.square * delta + self.linear * np.sqrt(delta) + self.constant)

    def follow(self, start: Deviation, deltas: Array, etas: Array) -> Deviation:
        """Return B and V after 0, 1, … steps of sizes `etas`, where Δ is at most `deltas`."""
        with np.errstate(over="ignore", invalid="ignore"):
            factors, pushes = self.factor(etas), etas * self.push
            squares, added = factors * factors, self.added(etas, deltas[: len(etas)])
            return Deviation(
                linear_steps(float(start.path), factors, pushes),
                linear_steps(float(start.spread), squares, added),
            )


def linear_steps(start: float, factors: Array, added: Array) -> Array:
    """Return v after 0, 1, … steps v ← f v + a, compiled if the compiler is loaded anyway."""
    if "numba" not in sys.modules:
        steps = zip(factors.tolist(), added.tolist(), strict=True)
        return np.array([*accumulate(steps, lambda v, step: step[0] * v + step[1], initial=start)])
    from neurotron.theory.iteration import fill_linear

    values = np.full(len(factors) + 1, start)
    fill_linear(factors, added, values)
    return values
