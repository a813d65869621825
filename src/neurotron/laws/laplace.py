"""Laplace coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw

__all__ = ["Laplace"]


@dataclass(frozen=True)
class Laplace(ScaledLaw):
    """Independent Laplace coordinates of density exp(−|x|/scale) / (2 scale).

    >>> Laplace(scale=2.0).variance
    8.0
    >>> round(Laplace(scale=2.0).norm_moment(1, 50), 5)
    19.76137
    """

    kurtosis = 6.0

    @property
    def variance(self) -> float:
        """E x² = 2 scale²."""
        return 2.0 * self.scale**2

    def coordinates(self, u: Array, v: Array) -> tuple[Array, ...]:
        """Return the quantiles at u and at v: −scale · log of the distance to the nearer end."""
        return self._quantile(u), self._quantile(v)

    def _quantile(self, u: Array) -> Array:
        tail = np.log(2.0 * np.minimum(u, 1.0 - u))
        return self.scale * select(u < 0.5, tail, -tail)

    def density(self, x: Array) -> Array:
        """Return e^{−x/scale} / (2 scale)."""
        return np.exp(-x / self.scale) / (2.0 * self.scale)
