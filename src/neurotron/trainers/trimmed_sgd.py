"""Gradient descent that drops large residuals: a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron._formula import select
from neurotron.trainers.robust_sgd import RobustSGD, paced

__all__ = ["TrimmedSGD"]


class TrimmedSGD(RobustSGD):
    r"""Gradient descent that drops residuals larger than a quantile of their size.

    .. math:: \mathrm{influence}(\rho) = \rho\; [\,|\rho| \le \tau\,]

    Stochastic least trimmed squares, with τ the tracked median of |residual|.

    Parameters
    ----------
    pace, quantile, speed, weighting, averaging
        See `ClippedSGD`; the quantile is the share of samples that is kept, one half.
    """

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return the residual if it is small, else 0, times pace / mean ‖∇f‖²."""
        return paced(select(np.abs(residual) <= state[1], residual, 0.0), state)
