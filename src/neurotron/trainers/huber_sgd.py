"""Gradient descent on Huber's loss: a baseline."""

from __future__ import annotations

from typing import ClassVar

from neurotron.trainers.robust_sgd import RobustSGD


class HuberSGD(RobustSGD):
    r"""Gradient descent on Huber's loss, which bends at 1.345 robust standard deviations.

    .. math:: \mathrm{influence}(\rho) = \mathrm{clip}(\rho, \pm 1.345\, \hat\sigma), \quad
              \hat\sigma = \mathrm{median}|\rho| / 0.6745

    This is robust regression as in textbooks. The median of |ρ| is tracked in the same way as
    `ClippedSGD` tracks its quantile.

    Parameters
    ----------
    pace, quantile, speed, weighting, averaging
        See `ClippedSGD`; the quantile is the median.
    """

    bend: ClassVar[float] = 1.345 / 0.6745
