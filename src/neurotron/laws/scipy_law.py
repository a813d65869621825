"""Any one-dimensional law of ``scipy.stats`` as the law of each coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.laws.base import ProductLaw

__all__ = ["ScipyLaw"]


@dataclass(frozen=True)
class ScipyLaw(ProductLaw):
    """Independent coordinates of a frozen continuous ``scipy.stats`` distribution, by quantiles.

    Whether it is symmetric is read off its quantiles; an asymmetric one may be trained on, and is
    refused where the theory needs symmetry. A norm moment of order 1 or 3 is reported infinite
    when the next even one is.

    >>> from scipy import stats
    >>> ScipyLaw(stats.logistic(scale=2.0)).symmetric
    True
    >>> ScipyLaw(stats.expon()).symmetric
    False
    """

    distribution: Any

    def __post_init__(self) -> None:
        frozen = self.distribution
        if not all(hasattr(frozen, name) for name in ("ppf", "isf", "pdf", "stats")):
            raise _check.InputError(
                "`distribution` must be a frozen continuous scipy.stats distribution such as "
                f"scipy.stats.logistic(), got {frozen!r}"
            )
        if not np.isfinite(frozen.ppf([0.25, 0.75])).all():
            raise _check.InputError(
                f"`distribution` has no finite quartiles: check the parameters of {self!r}"
            )

    def __repr__(self) -> str:
        frozen = self.distribution
        name = getattr(getattr(frozen, "dist", None), "name", type(frozen).__name__)
        given = [f"{value:g}" for value in getattr(frozen, "args", ())]
        given += [f"{key}={value:g}" for key, value in getattr(frozen, "kwds", {}).items()]
        return f"ScipyLaw({name}({', '.join(given)}))"

    @cached_property
    def symmetric(self) -> bool:
        """Whether the quantiles at p and 1 − p are opposite, on a grid down to 1e-9."""
        p = np.concatenate([np.geomspace(1e-9, 0.1, 40), np.linspace(0.1, 0.5, 41)])
        low, high = self.distribution.ppf(p), self.distribution.isf(p)
        return bool(np.allclose(low, -high, rtol=1e-8, atol=1e-8 * self.unit))

    @cached_property
    def unit(self) -> float:
        """Half the distance between the quartiles."""
        low, high = self.distribution.ppf([0.25, 0.75])
        return float(high - low) / 2.0

    @cached_property
    def support(self) -> float:
        """Largest |x| of one coordinate."""
        return float(np.abs(self.distribution.support()).max())

    @cached_property
    def _moments(self) -> tuple[float, float]:
        with np.errstate(all="ignore"):
            mean, variance, skew, excess = map(float, self.distribution.stats(moments="mvsk"))
        second = variance + mean**2
        # E x⁴ from the central moments of a law that need not be centred
        central = (excess + 3.0) * variance**2
        fourth = central + 4 * mean * skew * variance**1.5 + 6 * mean**2 * variance + mean**4
        if not math.isfinite(second):
            return math.inf, math.inf
        return second, fourth / second**2 if math.isfinite(fourth) else math.inf

    @property
    def variance(self) -> float:
        """E x² of one coordinate (the second moment, if the law is not centred)."""
        return self._moments[0]

    @property
    def kurtosis(self) -> float:
        """E x⁴ / (E x²)² of one coordinate."""
        return self._moments[1]

    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return the quantiles at u and at v."""
        return np.asarray(self.distribution.ppf(u)), np.asarray(self.distribution.ppf(v))

    def density(self, x: Array) -> Array:
        """Return half the density of |x|."""
        return np.asarray((self.distribution.pdf(x) + self.distribution.pdf(-x)) / 2.0)

    def covariance(self, n_inputs: int) -> Array | None:
        """Return E[xxᵀ], with the square of the mean off the diagonal."""
        if math.isinf(self.variance):
            return None
        mean = float(self.distribution.mean())
        off_diagonal = np.full((n_inputs, n_inputs), mean**2)
        return off_diagonal + (self.variance - mean**2) * np.eye(n_inputs)
