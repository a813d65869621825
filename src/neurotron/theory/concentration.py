r"""How much probability a projection of the inputs can have near one point (docs/verification.md).

For independent coordinates z, a `Concentration` is a function C that does not fall, with

.. math:: P(|c^\top z| \le t) \le C(t) \quad \text{for all unit vectors } c, \; t \ge 0 .

The law may allow a smaller C for directions c that no single coordinate dominates: the largest
square of an entry of c is at most the `leverage`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from neurotron._types import Array
from neurotron.laws import Laplace, Normal, ProductLaw, ScipyLaw, StudentT, Uniform

NODES = 1000
"""Quantiles of a mixing law, each rounded down."""
SLACK = 1e-9
"""A relative allowance for rounding in special functions."""
MOST_FREEDOM = 1e8
"""From so many degrees of freedom on, quantiles of the mixing law are not computed."""
TABULATED, REACHED = 1000, 7.0
"""Points of a table from e⁻⁷ to e⁷ units, between which cubics are right to about eight digits."""
KEPT = 32
"""Mixing laws whose quantiles and tables are kept, since all problems of a study share them."""


class Concentration(ABC):
    """A bound C(t) on P(|cᵀz| ≤ t) for every unit vector c that is allowed."""

    anywhere: ClassVar[bool] = False
    """Whether P(|cᵀz − a| ≤ t) ≤ C(t) for every point a, too, so that independent noise may be
    added."""

    @property
    def slope(self) -> float:
        """κ with P(|cᵀz − a| ≤ t) ≤ κ t for all c, a and t; inf if none is known."""
        return math.inf

    @property
    @abstractmethod
    def unit(self) -> float:
        """A typical size of projections, from which numbers are looked for."""

    @property
    def at_zero(self) -> float:
        """C(0), the probability that a projection may have in a single point."""
        return float(self(np.zeros(1))[0])

    @property
    def quick(self) -> Concentration:
        """About the same function at little cost: no bound, but good enough to choose a level."""
        return self

    @abstractmethod
    def __call__(self, t: Array) -> Array:
        """Return C at every t ≥ 0."""


@dataclass(frozen=True)
class NormalConcentration(Concentration):
    """Normal coordinates, for which C is exact: every projection is normal.

    >>> NormalConcentration(scale=2.0)(np.array([0.0, 2.0])).round(4)
    array([0.    , 0.6827])
    """

    scale: float
    anywhere = True

    @property
    def unit(self) -> float:
        """The scale."""
        return self.scale

    @property
    def slope(self) -> float:
        """Twice the density at 0."""
        return math.sqrt(2.0 / math.pi) / self.scale * (1.0 + SLACK)

    def __call__(self, t: Array) -> Array:
        """Return P(|N(0, scale²)| ≤ t)."""
        from scipy import special

        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(special.erf(t / self.scale / math.sqrt(2.0)) * (1.0 + SLACK), 1.0)


@dataclass(frozen=True)
class Proportional(Concentration):
    """Laws of which only a bound on the density of projections is known: C(t) = κ t.

    >>> Proportional(0.5)(np.array([0.0, 1.0, 3.0]))
    array([0. , 0.5, 1. ])
    """

    factor: float
    anywhere = True

    @property
    def unit(self) -> float:
        """1/κ."""
        return 1.0 / self.factor

    @property
    def slope(self) -> float:
        """κ."""
        return self.factor

    def __call__(self, t: Array) -> Array:
        """Return κ t, at most 1."""
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(self.slope * t, 1.0)


@dataclass(frozen=True, eq=False)
class Mixture(Proportional):
    """Scale mixtures of normals: z = √V g with g normal and V independent of it.

    Given all V, P(|cᵀz| > t) is g_t(W) = 2Φ(−t/√W) with W = Σ c_j² V_j. It is convex in W below
    t²/3 and concave above; its tangent at t²/3 replaces it below. The result is concave, so its
    mean over W is least if W is the mean of as few V as the leverage allows.

    Parameters
    ----------
    factor
        κ of the law, its slope.
    variances
        Quantiles of that mean, rounded down, with equal probabilities; shape (nodes,).
    """

    variances: Array

    def __call__(self, t: Array) -> Array:
        """Return the smaller of 1 − E ĝ_t(W) and κ t."""
        t = np.asarray(t, float)
        with np.errstate(all="ignore"):
            near = self.slope * t
        return np.clip(np.fmin(1.0 - self.outside(t) + SLACK, near), 0.0, 1.0)

    @cached_property
    def quick(self) -> Concentration:
        """A table of the mean, interpolated: to compute it again takes a thousand times as long."""
        logarithms = math.log(self.unit) + np.linspace(-REACHED, REACHED, TABULATED)
        return Tabulated(self.factor, logarithms, 1.0 - self.outside(np.exp(logarithms)))

    def outside(self, t: Array) -> Array:
        """Return E ĝ_t(W), a lower bound on P(|cᵀz| > t)."""
        from scipy import special

        t = t[..., None]
        with np.errstate(all="ignore"):
            bend = t**2 / 3.0
            value, rise = _TAIL, _SLOPE / bend
            above = special.erfc(t / np.sqrt(2.0 * self.variances))
            below = value + rise * (self.variances - bend)
            return np.asarray(np.where(self.variances >= bend, above, below).mean(axis=-1))


_TAIL = math.erfc(math.sqrt(1.5))
"""g_t at the bend W = t²/3, whatever t is."""
_SLOPE = math.sqrt(3.0 / (2.0 * math.pi)) * math.exp(-1.5)
"""W times the derivative of g_t at the bend."""


@dataclass(frozen=True, eq=False)
class Tabulated(Proportional):
    """The `values` of a smooth function at equidistant `logarithms` of t, and κ t below them."""

    logarithms: Array
    values: Array

    def __call__(self, t: Array) -> Array:
        """Return the cubic through the four nearest values, at most κ t."""
        first, last = self.logarithms[[0, -1]]
        with np.errstate(divide="ignore"):
            place = (np.log(t) - first) / (last - first) * (len(self.values) - 1)
        place = np.clip(place, 1.0, len(self.values) - 3.0)
        i = place.astype(np.intp)
        f = place - i
        nodes = [
            -f * (f - 1.0) * (f - 2.0) / 6.0, (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0,
            -(f + 1.0) * f * (f - 2.0) / 2.0, (f + 1.0) * f * (f - 1.0) / 6.0,
        ]  # fmt: skip
        cubic = sum(node * self.values[i + k - 1] for k, node in enumerate(nodes))
        return np.minimum(cubic, super().__call__(t))


@dataclass(frozen=True)
class ByKurtosis(Concentration):
    """Laws of which only E(cᵀz)² = scale² and E(cᵀz)⁴ ≤ kurtosis · scale⁴ are used.

    By Cantelli's inequality for (cᵀz)², P(|cᵀz| > t) ≥ A/(A + κ − 1) with A = (1 − t²/scale²)² for
    t below the scale.

    >>> ByKurtosis(scale=1.0, kurtosis=3.0)(np.array([0.0, 1.0])).round(4)
    array([0.6667, 1.    ])
    """

    scale: float
    kurtosis: float

    @property
    def unit(self) -> float:
        """The scale."""
        return self.scale

    def __call__(self, t: Array) -> Array:
        """Return 1 − A/(A + κ − 1), and 1 from the scale on."""
        beyond = max(self.kurtosis * (1.0 + SLACK) - 1.0, SLACK)  # an exact 1 would divide 0 by 0
        with np.errstate(over="ignore", under="ignore"):
            room = np.square(1.0 - np.minimum(t / self.scale, 1.0) ** 2)
        return np.asarray(1.0 / (1.0 + room / beyond))


@dataclass(frozen=True)
class AnyInterval(Concentration):
    """Intervals anywhere, from a bound for the difference of two independent inputs.

    Two independent inputs are both in an interval of length 2t only if their projections differ by
    at most 2t. So the probability of the interval is at most the root of C(2t) of the difference.
    """

    difference: Concentration
    anywhere = True

    @property
    def unit(self) -> float:
        """That of the difference."""
        return self.difference.unit

    def __call__(self, t: Array) -> Array:
        """Return the root of C(2t) of the difference."""
        return np.sqrt(self.difference(2.0 * np.asarray(t, float)))


def concentration_of(law: ProductLaw, leverage: float = 1.0) -> Concentration | None:
    """Return the bound of a law with independent coordinates; None if none is known.

    Parameters
    ----------
    law
        The law of one coordinate.
    leverage
        The largest square of an entry of the directions, in (0, 1].

    Examples
    --------
    >>> import neurotron as nt
    >>> normal, laplace = concentration_of(nt.Normal()), concentration_of(nt.Laplace(), 0.1)
    >>> normal(np.array([0.5])).round(3), laplace(np.array([0.5])).round(3)
    (array([0.383]), array([0.287]))
    """
    if type(law) is Normal:
        return NormalConcentration(law.scale)
    if type(law) is Laplace:
        return _of_laplace(law.scale, max(int(1.0 / leverage + 1e-9), 1))
    if type(law) is StudentT:
        return _of_student(law.dof, law.scale)
    if type(law) is Uniform:  # Ball: central sections of a cube have at most √2 times its area
        return Proportional(math.sqrt(2.0) / law.scale * (1.0 + SLACK))
    if law.log_concave:
        return _of_log_concave(law)
    if law.symmetric and math.isfinite(law.kurtosis):
        kurtosis = 3.0 + max(law.kurtosis - 3.0, 0.0) * leverage
        return ByKurtosis(math.sqrt(law.variance), kurtosis)
    return None


def _levels() -> Array:
    return np.arange(NODES) / NODES


@lru_cache(maxsize=KEPT)
def _of_laplace(scale: float, count: int) -> Concentration:
    """Return the bound for the mean of `count` exponential variances."""
    from scipy import special

    variances = 2.0 * scale**2 / count * special.gammaincinv(count, _levels())
    root = math.exp(math.lgamma(count - 0.5) - math.lgamma(count)) * math.sqrt(count / 2.0)
    return Mixture(math.sqrt(2.0 / math.pi) * root / scale * (1.0 + SLACK), variances)


@lru_cache(maxsize=KEPT)
def _of_student(dof: float, scale: float) -> Concentration:
    """Return the bound for one coordinate, z² = scale² g² ν/χ², whose density is largest at 0."""
    from scipy import special

    slope = 2.0 * float(StudentT(dof=dof, scale=scale).density(np.zeros(1))[0]) * (1.0 + SLACK)
    if dof > MOST_FREEDOM:
        return Proportional(slope)
    with np.errstate(divide="ignore", over="ignore"):
        half = special.gammainccinv(dof / 2.0, _levels())
        variances = scale**2 * dof / (2.0 * half)
    return Mixture(slope, np.where(np.isfinite(variances), variances, 0.0))


def _of_log_concave(law: ProductLaw) -> Concentration | None:
    """Return κ = 2/σ, twice the largest density of log-concave laws; √2/σ if it is symmetric.

    The law knows E x², which tells σ only if the law is symmetric. SciPy knows σ itself.
    """
    deviation = math.sqrt(law.variance)
    if not law.symmetric:
        deviation = float(law.distribution.std()) if isinstance(law, ScipyLaw) else 0.0
    if not 0.0 < deviation < math.inf:
        return None
    return Proportional((math.sqrt(2.0) if law.symmetric else 2.0) / deviation * (1.0 + SLACK))
