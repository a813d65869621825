r"""How far a filter can be from the true one if it explains a share of the rows (Theorem A).

Let e = f_ŵ − f_{w*}, and let a dᵀĀx be its odd part. If x and −x have the same law and the noise ζ
does not tell them apart, at most one of e(x) + ζ and e(−x) + ζ is smaller than the odd part, so

.. math:: P(|e + \zeta| \le s) \le \tfrac12 \bigl(1 + C(s / a \rho)\bigr), \qquad
          \rho = \|G^\top d\| .

A filter that explains more rows than this bound and the attacker allow is closer than ρ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neurotron._types import Array, Mask
from neurotron.theory.concentration import Concentration, NormalConcentration

STEPS = 36
"""Halvings of a factor of four: enough for ten digits."""
FARTHEST = 1e18
"""Sizes beyond this multiple of the level are not looked for."""
ROUNDED = 1.0 + 1e-9
"""A factor that is larger than the rounding of a bound."""


def deviation(rows: int, delta: float) -> float:
    """Return how far a share among so many rows may be above its probability.

    This is the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant. It holds for
    the shares at all levels at once, with probability 1 − `delta`, which is at most one half.
    """
    return math.sqrt(math.log(1.0 / delta) / (2.0 * rows))


@dataclass(frozen=True)
class Explained:
    """Bounds on the probability that a filter explains an honest label up to a level.

    Parameters
    ----------
    concentration
        C of the inputs.
    slope
        a, the slope of the odd part of the activation: (1 + α)/2 for the leaky ReLU.
    pairs
        Whether inputs are compared in pairs x and −x. Otherwise the network is linear, and the
        difference of two filters is its odd part.
    other
        For pairs: the smallest slope that the other input of a pair keeps, 0 unless the network has
        one gate and labels are exact.
    noise
        A lower bound on the standard deviation of normal noise, for normal inputs; 0 if none is
        known.
    """

    concentration: Concentration
    slope: float
    pairs: bool
    other: float = 0.0
    noise: float = 0.0

    def probability(self, level: Array, size: Array) -> Array:
        """Return a bound on P(|e + ζ| ≤ level) if the difference has the size ρ = ‖Gᵀd‖."""
        if self.noise > 0.0:
            return self._with_normal_noise(level, size)
        with np.errstate(over="ignore", divide="ignore"):
            near = self.concentration(level / (self.slope * size))
            if not self.pairs:
                return near
            far = np.ones_like(near)
            if self.other > 0.0:
                far = self.concentration(level / (self.other * size))
        return np.asarray(0.5 * (near + far))

    def _with_normal_noise(self, level: Array, size: Array) -> Array:
        """Return the bound for noise that is added to a normal difference, or to nothing."""
        assert isinstance(self.concentration, NormalConcentration)
        odd = self.slope * size * self.concentration.scale
        near = _within(level, np.hypot(self.noise, odd))
        return np.asarray(0.5 * (near + _within(level, self.noise)) if self.pairs else near)

    @property
    def perfect(self) -> float:
        """The bound for the level 0: a share of honest rows that a wrong filter may explain."""
        near = self.concentration.at_zero
        if not self.pairs:
            return near
        return 0.5 * (near + (near if self.other > 0.0 else 1.0))


def _within(level: Array, scale: Array | float) -> Array:
    """Return P(|N(0, scale²)| ≤ level)."""
    from scipy import special

    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        return np.asarray(special.erf(level / scale / math.sqrt(2.0)))


@dataclass(frozen=True)
class Shares:
    """What an attacker can add to the share of rows that are explained.

    Parameters
    ----------
    probability
        β, the largest probability or share of attacked labels.
    coins
        Whether each label falls to the attacker by a coin of its own, of chance at most β whatever
        the row is. Otherwise the attacker may choose the rows.
    bound
        θ, the most by which a label is changed; inf if nothing is known.
    """

    probability: float
    coins: bool
    bound: float = math.inf

    def most(self, explained: Explained, level: Array, size: Array) -> Array:
        """Return a bound on the probability that a row is explained, attacked or not."""
        beta = self.probability
        inner = explained.probability(level, size)
        outer = np.ones_like(inner)
        if math.isfinite(self.bound):
            outer = explained.probability(level + self.bound, size)
        if self.coins:
            return np.asarray((1.0 - beta) * inner + beta * outer)
        return np.minimum(inner + beta, outer)

    def most_of_noise(self, level: Array, noise: float) -> Array:
        """Return the same for any filter at all, if honest labels have normal noise."""
        inner, beta = _within(level, noise), self.probability
        return np.asarray((1.0 - beta) * inner + beta if self.coins else inner + beta)

    def gap(self, honest: float) -> float:
        """Return by how much the share of a perfect filter exceeds what a wrong one may have.

        All attacked labels are taken for unexplained; `honest` is the share of honest rows that a
        wrong filter may explain.
        """
        beta = self.probability
        wrong = (1.0 - beta) * honest + beta if self.coins else honest + beta
        return 1.0 - beta - wrong


def largest(consistent: Callable[[Array], Mask], start: Array) -> Array:
    """Return the size up to which the rows are consistent with it, elementwise; inf if unlimited.

    Larger sizes are less consistent. The search begins at `start`, which is positive, and the size
    returned is itself not consistent, or below all that can be resolved.
    """
    low, high = start.copy(), start.copy()
    beyond = consistent(high)
    while (growing := beyond & (high < FARTHEST * start)).any():
        low = np.where(growing, high, low)
        high = np.where(growing, 4.0 * high, high)
        beyond = consistent(high)
    below = ~consistent(low)
    while (falling := below & (low > start / FARTHEST)).any():
        high = np.where(falling, low, high)
        low = np.where(falling, low / 4.0, low)
        below = ~consistent(low)
    for _ in range(STEPS):
        middle = np.sqrt(low) * np.sqrt(high)
        inside = consistent(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(beyond, np.inf, high * ROUNDED)
