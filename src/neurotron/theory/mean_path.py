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


@dataclass(frozen=True)
class MeanPath:
    """The numbers of the recursions for B and V.

    Parameters
    ----------
    low, high
        Between them are the eigenvalues of the pull c MΣĀᵀ.
    push
        θτ, the most that an attacker adds to the mean of an update.
    square, linear, constant
        v₂, v₁, v₀: the second moment of an update's deviation from its mean is at most
        v₂Δ + v₁√Δ + v₀.
    """

    low: float
    high: float
    push: float
    square: float
    linear: float
    constant: float

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float]:
        """The six numbers."""
        return self.low, self.high, self.push, self.square, self.linear, self.constant

    @property
    def limit(self) -> float:
        """The bound on the mean path that no number of steps can improve."""
        return self.push / self.low if self.low > 0.0 else math.inf

    def gap(self, eta: float) -> float:
        """Return 1 − f(η) without cancellation; it is not positive if B and V may grow."""
        return min(eta * self.low, 2.0 - eta * self.high, eta * self.high, 2.0 - eta * self.low)
