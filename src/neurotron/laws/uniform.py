"""Uniform coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neurotron._types import Array
from neurotron.laws.base import ScaledLaw
from neurotron.laws.moments import unit_interval

__all__ = ["Uniform"]


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
