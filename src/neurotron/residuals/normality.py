"""Whether residuals look like normal noise, and whether labels are continuous at all."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from neurotron._types import Array
from neurotron.residuals.robust import BISQUARE, TINY

MOST_GAIN, MOST_DISTANCE, BY_ACCIDENT = 3.0, 0.75, 1.5
"""Residuals look normal if skewness and tails gain no more log-likelihood than this, if the
statistic of Anderson and Darling is not larger than in 95 % of normal samples, and if their squares
follow the inputs by less than this factor more than in a random order."""
TIES, SPIKE, NEXT = 0.05, 3.0, 3
"""Honest noise is not continuous if a larger share of the labels has one value, such as zero, and
if that value is three times as frequent as each of the three values next to it on either side."""


def looks_normal(rows: Array, residuals: Array, noise: float) -> bool:
    """Return whether the residuals that a robust regression keeps look like normal noise.

    An attack that hides in the noise changes the shape of their law, or lets their size depend on
    the inputs. Looking is much faster than fitting attacks, and most honest tables pass.
    """
    kept = np.abs(residuals) <= BISQUARE * noise
    rows, z = rows[kept], residuals[kept] - residuals[kept].mean()
    z /= max(z.std(), TINY)
    return _has_normal_shape(np.sort(z)) and not _follows(z**2 - 1.0, rows)


def _has_normal_shape(z: Array) -> bool:
    """Return whether ordered values have normal skewness and tails, and pass Anderson and Darling.

    Their statistic sums the squared distance between the two distribution functions over its
    variance. It notices shapes with normal moments, and the moments notice few values far off.
    """
    gain = len(z) * ((z**3).mean() ** 2 / 12.0 + ((z**4).mean() - 3.0) ** 2 / 48.0)
    places = (2.0 * np.arange(len(z)) + 1.0) / len(z)
    distance = -len(z) - places @ (log_ndtr(z) + log_ndtr(-z[::-1]))
    return bool(gain <= MOST_GAIN and distance <= MOST_DISTANCE)


def _follows(values: Array, rows: Array) -> bool:
    """Return whether a quadratic function of the rows predicts values better than by accident."""
    mixed = np.random.default_rng(0).permutation(values)
    found, accident = (
        np.abs(np.linalg.eigvalsh((rows * each[:, None]).T @ rows)).max()
        for each in (values, mixed)
    )
    return bool(found > BY_ACCIDENT * accident)


def has_spike(labels: Array) -> bool:
    """Return whether one value, such as zero, has far more labels than the values next to it.

    On a grid, such as that of whole numbers, many labels are equal, but neighbours are as frequent.
    """
    counts = np.unique(labels, return_counts=True)[1]
    most = int(counts.argmax())
    near = np.delete(counts[max(most - NEXT, 0) : most + NEXT + 1], min(most, NEXT))
    return bool(counts[most] > max(TIES * len(labels), SPIKE * near.max(initial=0)))
