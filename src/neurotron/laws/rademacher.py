"""Random signs: inputs at the corners of a cube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron._formula import select
from neurotron._types import Array
from neurotron.laws.base import ScaledLaw

__all__ = ["Rademacher"]


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

    def _norm_moment(self, order: int, n: int) -> float:
        """Return (scale √n)^i."""
        return float((self.scale**2 * n) ** (order / 2))
