"""Normal coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._formula import cos_turn, log, sin_turn
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw


@dataclass(frozen=True)
class Normal(ScaledLaw):
    r"""Independent normal coordinates N(0, scale²).

    This is the standard law (probability distribution) of simulated inputs. Samples are drawn by
    the Box–Muller transform. With σ the scale, the norm moments are

    .. math:: m_i = \sigma^i 2^{i/2} \Gamma((n+i)/2) / \Gamma(n/2)

    Parameters
    ----------
    scale
        Standard deviation of each coordinate, from 1e-70 to 1e70; 1 by default.

    Examples
    --------
    >>> Normal(scale=3.0).variance
    9.0
    """

    kurtosis = 3.0
    scale_mixture = True
    log_concave = True
    light_tailed = True

    @property
    def variance(self) -> float:
        """E x² = scale²."""
        return self.scale**2

    @staticmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return scale · √(−2 log u) · (cos 2πv, sin 2πv)."""
        radius = scale * np.sqrt(-2.0 * log(u))
        return radius * cos_turn(v), radius * sin_turn(v)

    def density(self, x: Array) -> Array:
        """Return e^{−x²/2 scale²} / (√(2π) scale)."""
        with np.errstate(under="ignore"):
            return np.exp(-0.5 * (x / self.scale) ** 2) / (math.sqrt(2.0 * math.pi) * self.scale)

    def _norm_moment(self, order: int, n: int) -> float:
        """Return m_i in closed form."""
        ratio = math.lgamma((n + order) / 2) - math.lgamma(n / 2)
        return self.scale**order * math.exp(order / 2 * math.log(2.0) + ratio)
