"""An estimate with its confidence interval, and the interval of a mean."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL = 0.95


class Interval(NamedTuple):
    """An estimate and its 95 % confidence interval."""

    estimate: float
    low: float
    high: float


def of_mean(values: npt.ArrayLike) -> Interval:
    """Return the mean of independent values with Student's 95 % interval.

    The interval of a single value is the whole line, as nothing is known about its spread. The mean
    is infinite if some of the values are, and NaN if they have no mean.

    >>> of_mean([1.0, 2.0, 3.0])
    Interval(estimate=2.0, low=-0.484..., high=4.484...)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore"):
        mean = float(array.mean())
    if not math.isfinite(mean):
        return Interval(mean, mean, mean)
    if len(array) < 2:
        return Interval(mean, -math.inf, math.inf)
    quantile = float(stdtrit(len(array) - 1, (1.0 + LEVEL) / 2.0))
    half = quantile * float(array.std(ddof=1)) / math.sqrt(len(array))
    return Interval(mean, mean - half, mean + half)
