"""Laplace coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._formula import log, select
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw
from neurotron.laws.moments import unit_interval


@dataclass(frozen=True)
class Laplace(ScaledLaw):
    """Independent Laplace coordinates of variance 2 scale².

    Each coordinate has the density exp(−|x|/scale) / (2 scale). Use this law (probability
    distribution) for inputs with tails heavier than normal ones.

    Parameters
    ----------
    scale
        Mean of |x| of one coordinate, from 1e-70 to 1e70; 1 by default.

    Examples
    --------
    >>> Laplace(scale=2.0).variance
    8.0
    >>> round(Laplace(scale=2.0).norm_moment(1, 50), 5)
    19.76137
    """

    kurtosis = 6.0
    scale_mixture = True
    log_concave = True

    @property
    def variance(self) -> float:
        """E x² = 2 scale²."""
        return 2.0 * self.scale**2

    def variances(self) -> tuple[Array, Array]:
        """Return twice the quantiles of an exponential distribution."""
        to_zero, _, mass = unit_interval(0.1)
        return -2.0 * np.log(to_zero), mass

    @staticmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return the quantiles at u and v: ±scale · log(2 min(u, 1 − u)), and the same with v."""
        first = scale * log(2.0 * select(u < 0.5, u, 1.0 - u))
        second = scale * log(2.0 * select(v < 0.5, v, 1.0 - v))
        return select(u < 0.5, first, -first), select(v < 0.5, second, -second)

    def density(self, x: Array) -> Array:
        """Return e^{−x/scale} / (2 scale)."""
        return np.exp(-x / self.scale) / (2.0 * self.scale)
