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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Index
from neurotron.theory.one_step import largest_factor

__all__ = ["Deviation", "MeanPath"]


class Deviation(NamedTuple):
    """B and V at some steps: ‖b‖ ≤ `path` surely, and E‖Z‖² ≤ `spread`."""

    path: Array
    spread: Array

    def radius(self, failure: float, added: Array | float = 0.0) -> Array:
        """Return B + (√V + what rounding errors add)/√δ."""
        return self.path + (np.sqrt(self.spread) + added) / math.sqrt(failure)


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
    >>> course = path.follow(1.0, 0.0, np.ones(1001), np.full(1000, 0.01))
    >>> course.radius(failure=0.05)[-1].round(3), course.path[-1].round(3)
    (np.float64(0.295), np.float64(0.205))
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

    def follow(self, path: float, spread: float, deltas: Array, etas: Array) -> Deviation:
        """Return B and V after 0, 1, … steps of sizes `etas`, where Δ is at most `deltas`."""
        factors = np.broadcast_to(largest_factor(etas, self.low, self.high), etas.shape)
        paths, spreads = [path], [spread]
        pushes, added = etas * self.push, etas**2 * self._size(deltas[: len(etas)])
        for factor, push, more in zip(
            factors.tolist(), pushes.tolist(), added.tolist(), strict=True
        ):
            path = factor * path + push
            spread = factor * factor * spread + more
            paths.append(path)
            spreads.append(spread)
        return Deviation(np.array(paths), np.array(spreads))

    def later(self, path: float, spread: float, delta: float, eta: float, steps: Index) -> Deviation:
        """Return B and V after further steps of one size, where Δ stays below `delta`."""
        factor = float(largest_factor(eta, self.low, self.high))
        if factor >= 1.0:
            return Deviation(np.full(len(steps), math.inf), np.full(len(steps), math.inf))
        kept = factor ** np.asarray(steps, float)
        path_end = eta * self.push / (1.0 - factor)
        spread_end = eta**2 * float(self._size(delta)) / (1.0 - factor * factor)
        return Deviation(
            path_end + kept * (path - path_end), spread_end + kept**2 * (spread - spread_end)
        )

    def smaller_steps(self, path: float, spread: float, delta: float, eta: float) -> Deviation:
        """Return bounds on B and V for ever, if Δ stays below `delta` and no step is above `eta`.

        B moves towards its limit, and V towards a value that is smaller for smaller steps.
        """
        factor = float(largest_factor(eta, self.low, self.high))
        if factor >= 1.0 or eta * (self.low + self.high) > 2.0:
            return Deviation(np.full(1, math.inf), np.full(1, math.inf))
        end = eta**2 * float(self._size(delta)) / (1.0 - factor * factor)
        return Deviation(np.array([max(path, self.limit)]), np.array([max(spread, end)]))

    def _size(self, delta: Array | float) -> Array:
        return np.asarray(
            self.square * delta + self.linear * np.sqrt(delta) + self.constant, dtype=float
        )
