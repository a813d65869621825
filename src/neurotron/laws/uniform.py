"""Uniform coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from neurotron._types import Array
from neurotron.laws.base import ScaledLaw
from neurotron.laws.moments import unit_interval
from neurotron.laws.projections import SLACK

LEAST_SHARE = 1e-3
"""Below it the factor is that of this share, which is larger by less than 1e-4."""
TERMS = 2000


@dataclass(frozen=True)
class Uniform(ScaledLaw):
    """Independent coordinates, uniform between −scale and scale.

    Use this law (probability distribution) for bounded inputs.

    Parameters
    ----------
    scale
        Largest absolute value of a coordinate, from 1e-70 to 1e70; 1 by default.

    Examples
    --------
    >>> Uniform(scale=3.0).variance
    3.0
    """

    kurtosis = 1.8
    log_concave = True
    light_tailed = True

    @property
    def variance(self) -> float:
        """E x² = scale²/3."""
        return self.scale**2 / 3.0

    @staticmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return scale · (2u − 1) and scale · (2v − 1)."""
        return scale * (2.0 * u - 1.0), scale * (2.0 * v - 1.0)

    def masses(self) -> tuple[Array, Array]:
        """Return points |x|/scale of the unit interval and their probabilities."""
        return unit_interval()[1:]

    def projection_factor(self, share: float, *, tilted: bool = False) -> float:
        """Return the smallest κ with E|aᵀx| ≤ κ √(E x_1²) for ‖a‖ ≤ 1 and a_j² ≤ `share`.

        Tilting keeps the density unimodal, but not uniform.
        """
        if tilted:
            return super().projection_factor(share, tilted=True)
        return largest_mean(max(share, LEAST_SHARE))


@lru_cache(maxsize=64)
def largest_mean(share: float) -> float:
    r"""Return the largest √3 E|Σ c_j U_j| over Σ c_j² = 1, c_j² ≤ ℓ, with U uniform on (−1, 1).

    The mean is a Schur-convex function of the c_j², so it is largest if as many of them as possible
    are ℓ. That sum S has a bounded support and the characteristic function φ. As long as
    h|S| ≤ 2π, Fourier's series of |S| is exact:

    .. math:: E|S| = \frac2\pi \Bigl( \frac{\pi^2}{6h} + \frac{h E S^2}{4}
              - \frac1h \sum_{j \ge 1} \frac{\varphi(jh)}{j^2} \Bigr) .

    The sum ends after `TERMS` terms, and a bound on the rest is added.
    """
    count = math.floor(1.0 / share)
    sizes = np.sqrt([share, max(1.0 - count * share, 0.0)])
    h = 2.0 * math.pi / (count * sizes[0] + sizes[1])
    j = np.arange(1, TERMS + 1)
    factors = np.sinc(np.outer(j * h / math.pi, sizes))
    with np.errstate(under="ignore"):
        series = float((factors[:, 0] ** count * factors[:, 1] / j**2).sum())
        rest = max(TERMS * h * float(sizes[0]), 1.0) ** -count / TERMS
    mean = 2.0 / math.pi * (math.pi**2 / (6.0 * h) + h / 12.0 - (series - rest) / h)
    return min(math.sqrt(3.0) * mean, 1.0) * (1.0 + SLACK)
