"""Gradient descent that drops large residuals: a baseline."""

from __future__ import annotations

from typing import ClassVar

from neurotron.trainers.robust_sgd import RobustSGD


class TrimmedSGD(RobustSGD):
    r"""Gradient descent that drops residuals larger than a quantile of their size.

    .. math:: \mathrm{influence}(\rho) = \rho\; [\,|\rho| \le \tau\,]

    This is a stochastic form of least trimmed squares. The threshold τ is the tracked median of
    |residual|.

    Parameters
    ----------
    pace, quantile, speed, weighting, averaging
        See `ClippedSGD`; the quantile is the share of samples that is kept, one half.
    """

    beyond: ClassVar[float] = 0.0
