"""Random signs: inputs at the corners of a cube."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw
from neurotron.laws.projections import QUADRATURE_SLACK

LEAST_SHARE = 1e-3
"""Below it the factor is that of this share, which is larger by less than 1e-3."""
NODES = 128
TURN = 1.7780882886686338
"""The s between π/2 and π at which |cos s| = e^{−s²/2}, where the bound has a bend."""


@dataclass(frozen=True)
class Rademacher(ScaledLaw):
    """Independent random signs: +scale or −scale, equally likely.

    All inputs have the same norm ‖x‖ = scale · √n. Use this law (probability distribution) for
    binary features.

    Parameters
    ----------
    scale
        Absolute value of each coordinate, from 1e-70 to 1e70; 1 by default.

    Examples
    --------
    >>> Rademacher().norm_moment(3, 4)
    8.0
    """

    kurtosis = 1.0
    light_tailed = True

    @property
    def variance(self) -> float:
        """E x² = scale²."""
        return self.scale**2

    @staticmethod
    def formula(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
        """Return the signs of u − ½ and of v − ½, times the scale."""
        return select(u < 0.5, -scale, scale), select(v < 0.5, -scale, scale)

    def masses(self) -> tuple[Array, Array]:
        """Return the one point |x|/scale = 1."""
        return np.ones(1), np.ones(1)

    def projection_factor(self, share: float, *, tilted: bool = False) -> float:
        """Return κ with E|aᵀx| ≤ κ √(E x_1²) for all a with ‖a‖ ≤ 1 and a_j² ≤ `share`.

        Tilting does not change the law, because all inputs have the same norm.
        """
        return largest_mean(max(share, LEAST_SHARE))

    def _norm_moment(self, order: int, n: int) -> float:
        """Return (scale √n)^i."""
        return float((self.scale**2 * n) ** (order / 2))


@lru_cache(maxsize=64)
def largest_mean(share: float) -> float:
    r"""Return an upper bound on E|Σ c_j ε_j| over Σ c_j² = 1, c_j² ≤ ℓ, with random signs ε.

    For a normal g independent of S = Σ c_j ε_j, E|S| ≤ E|S + hg| by Jensen's inequality, and

    .. math:: E|S + hg| = \frac2\pi \int_0^\infty (1 - \varphi(t) e^{-h^2t^2/2}) t^{-2} dt,
              \qquad \varphi(t) = \prod_j \cos(c_j t) .

    Let s = √ℓ t. As −log(cos s)/s² increases on (0, π/2), φ ≥ (cos s)^{1/ℓ} for s ≤ π/2. Up to
    s = π, |φ| is at most the larger one of |cos s|^{1/ℓ} and e^{−t²/2}, and beyond it at most 1.
    The best of several h is used.
    """
    (s, weight, log_cos), (s_far, weight_far, log_far) = _nodes()
    widths = np.linspace(0.0, 1.0, 51) ** 2 / (2.0 * share)  # h²t²/2 is this times s²
    smoothing = widths[:, None]
    with np.errstate(under="ignore"):
        near = -np.expm1(log_cos / share - smoothing * s**2) @ (weight / s**2)
        far = np.exp(log_far / share - smoothing * s_far**2) @ (weight_far / s_far**2)
        beyond = np.array([_tail(width) for width in widths.tolist()])
    total = float((near + 2.0 / math.pi + far + beyond).min())
    return min(2.0 / math.pi * math.sqrt(share) * total, 1.0) * (1.0 + QUADRATURE_SLACK)


def _tail(a: float) -> float:
    """Return ∫ e^{−a s²} s⁻² ds from π to ∞."""
    normal = math.sqrt(math.pi * a) * math.erfc(math.sqrt(a) * math.pi)
    return math.exp(-a * math.pi**2) / math.pi - normal


@cache
def _nodes() -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return nodes s, weights, and ℓ times the logarithm of the bound on |φ|: to π/2, then to π."""
    x, weight = np.polynomial.legendre.leggauss(NODES)
    ends = np.array([0.0, math.pi / 2.0, TURN, math.pi])
    half = np.diff(ends)[:, None] / 2.0
    s, weights = ends[:-1, None] + half * (x + 1.0), half * weight
    logs = np.log(np.abs(np.cos(s)))
    far = np.maximum(logs[1:], -(s[1:] ** 2) / 2.0)
    return (s[0], weights[0], logs[0]), (s[1:].ravel(), weights[1:].ravel(), far.ravel())
