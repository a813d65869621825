"""Gradient descent on Huber's loss: a baseline."""

from __future__ import annotations

from typing import Any

from neurotron.trainers.robust_sgd import RobustSGD, paced
from neurotron.trainers.tracking import clipped

__all__ = ["HuberSGD"]

BEND = 1.345 / 0.6745
"""Huber's constant 1.345 times the scale of the residuals, which is median / 0.6745."""


class HuberSGD(RobustSGD):
    r"""Gradient descent on Huber's loss, its bend at 1.345 robust standard deviations.

    .. math:: \mathrm{influence}(\rho) = \mathrm{clip}(\rho, \pm 1.345\, \hat\sigma), \quad
              \hat\sigma = \mathrm{median}|\rho| / 0.6745

    The textbook's robust regression, with the median tracked as `ClippedSGD` tracks its quantile.

    Parameters
    ----------
    pace, quantile, speed, weighting, averaging
        See `ClippedSGD`; the quantile is the median.
    """

    @staticmethod
    def influence(residual: Any, state: tuple[Any, ...]) -> Any:
        """Return the residual cut at Huber's bend, times pace / mean ‖∇f‖²."""
        return paced(clipped(residual, BEND * state[1]), state)
