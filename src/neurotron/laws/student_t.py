"""Student t coordinates: the heavy tails of the paper's last experiment."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._formula import cos_turn, expm1, log, t4_quantile
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw
from neurotron.laws.moments import unit_interval


def bailey(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
    """Return scale · √(ν(u^(−2/ν) − 1)) · cos 2πv for ν = `shape`."""
    # expm1 keeps the digits of u^(−2/ν) − 1 when ν is large and the law nearly normal
    return (scale * np.sqrt(shape * expm1(-2.0 / shape * log(u))) * cos_turn(v),)


def four_degrees(u: Any, v: Any, scale: Any, shape: Any) -> tuple[Any, ...]:
    """Return the quantiles at u and v for ν = 4."""
    return scale * t4_quantile(u), scale * t4_quantile(v)


@dataclass(frozen=True)
class StudentT(ScaledLaw):
    r"""Independent Student t coordinates with heavy tails.

    Use this law (probability distribution) for inputs with outliers. The moment E‖x‖^i is infinite
    for i ≥ ν, the degrees of freedom; ν = 1 is the Cauchy distribution. Samples are drawn by
    Bailey's formula :math:`\sqrt{\nu(U^{-2/\nu} - 1)} \cos 2\pi V`. A second coordinate with the
    sine would not be independent of the first, so a pair of uniforms gives one coordinate only. For
    ν = 4 samples are quantiles of uniforms, one of each, which is twice as fast.

    Parameters
    ----------
    dof
        Degrees of freedom ν, a number in (0, 1e100].
    scale
        Factor of every coordinate, from 1e-70 to 1e70; 1 by default.

    Examples
    --------
    >>> StudentT(dof=4).variance, StudentT(dof=4).norm_moment(4, 100)
    (2.0, inf)
    """

    dof: float

    scale_mixture = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "dof", _check.number("dof", self.dof, "(0, 1e100]"))
        super().__post_init__()

    @property
    def tail(self) -> float:
        """The order ν from which on norm moments are infinite."""
        return self.dof

    @property
    def variance(self) -> float:
        """E x² = scale² ν/(ν − 2), infinite for ν ≤ 2."""
        return self.scale**2 * self.dof / (self.dof - 2.0) if self.dof > 2.0 else math.inf

    @property
    def kurtosis(self) -> float:
        """3 + 6/(ν − 4), infinite for ν ≤ 4."""
        return 3.0 + 6.0 / (self.dof - 4.0) if self.dof > 4.0 else math.inf

    def variances(self) -> tuple[Array, Array]:
        """Return ν divided by the quantiles of the χ² distribution with ν degrees of freedom."""
        from scipy.special import gammaincinv

        to_zero, _, mass = unit_interval(0.1)
        with np.errstate(divide="ignore", over="ignore"):
            return self.dof / (2.0 * gammaincinv(self.dof / 2.0, to_zero)), mass

    @property
    def shape(self) -> float:
        """The degrees of freedom ν."""
        return self.dof

    @classmethod
    def formulas(cls) -> tuple[Callable[..., tuple[Any, ...]], ...]:
        """Return the quantiles for ν = 4, and Bailey's transform for any other ν."""
        return four_degrees, bailey

    @property
    def formula(self) -> Callable[..., tuple[Any, ...]]:  # type: ignore[override]
        """The transform of (u, v): two coordinates per pair for ν = 4, otherwise one."""
        return four_degrees if self.dof == 4.0 else bailey

    def density(self, x: Array) -> Array:
        """Return Γ((ν+1)/2) / (√(νπ) Γ(ν/2) scale) · (1 + x²/(ν scale²))^{−(ν+1)/2}."""
        nu, z = self.dof, x / self.scale
        if nu < 1e6:
            ratio = math.lgamma((nu + 1.0) / 2.0) - math.lgamma(nu / 2.0)
        else:  # two large gamma functions would cancel: Stirling's series, to O(ν⁻³)
            ratio = 0.5 * math.log(nu / 2.0) - 0.25 / nu
        logarithm = ratio - 0.5 * math.log(nu * math.pi)
        return np.exp(logarithm - (nu + 1.0) / 2.0 * np.log1p(z * z / nu)) / self.scale
