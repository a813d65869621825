"""Medians and rates of replicates, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._intervals import LEVEL, Interval
from neurotron._types import Index

RESAMPLES = 2000
MOST_KEPT = 200
"""Values whose resamples are kept for the next bootstrap: more would need too much memory."""


def median(values: npt.ArrayLike, axis: int = 0) -> Any:
    """Return the median; for an even number of values, the lower of the middle two.

    It is always one of the values. This matters because runs end at the filter w* or at its mirror
    −w*, and no run ends halfway between.

    >>> float(median([0.1, 0.1, 7.0, 7.0]))
    0.1
    """
    array = np.asarray(values, np.float64)
    middle = (array.shape[axis] - 1) // 2
    found = np.partition(array, middle, axis).take(middle, axis)
    return np.where(np.isnan(array).any(axis), np.nan, found)


def bootstrap(
    values: npt.ArrayLike, statistic: Callable[..., Any] = median, seed: int = 0
) -> Interval:
    """Return a statistic of independent values with its 95 % percentile bootstrap interval.

    Parameters
    ----------
    values
        The values, at least one. They may be infinite, for diverged runs, but not NaN.
    statistic
        A function of (values, axis); the median by default.
    seed
        Seed of the resampling.

    Examples
    --------
    >>> bootstrap([1.0, 2.0, 3.0, 4.0, 5.0])
    Interval(estimate=3.0, low=1.0, high=5.0)
    """
    array = _check.numbers("values", values)
    _check.function("statistic", statistic, "(values, axis)")
    if array.ndim != 1 or not array.size or np.isnan(array).any():
        raise _check.InputError("`values` must be at least one number, none of them NaN")
    _check.entries("all resamples together", RESAMPLES, array.size)
    key = _seeds.key(seed, "bootstrap")
    resamples = (_kept_resamples if array.size <= MOST_KEPT else _resamples)(key, array.size)
    found = np.asarray(statistic(array.take(resamples), axis=1))
    low, high = np.partition(found, TAILS)[list(TAILS)]
    return Interval(float(statistic(array, axis=0)), float(low), float(high))


def _resamples(key: int, size: int) -> Index:
    """Return which of the values each resample has: one row per resample."""
    return np.random.default_rng(key).integers(size, size=(RESAMPLES, size))


_kept_resamples = lru_cache(maxsize=8)(_resamples)


def _places(count: int) -> tuple[int, ...]:
    """Return at which places of ordered numbers the interval of `LEVEL` ends."""
    tails = (1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0
    return tuple(np.quantile(np.arange(count), tails, method="inverted_cdf").tolist())


TAILS = _places(RESAMPLES)


def rate(successes: int, trials: int) -> Interval:
    """Return a share of successes with its exact 95 % binomial (Clopper–Pearson) interval.

    Parameters
    ----------
    successes, trials
        Number of successes, and number of trials, at least 1.

    Examples
    --------
    >>> share = rate(0, 90)
    >>> share.estimate, round(share.high, 4)
    (0.0, 0.0402)
    """
    from scipy.special import betaincinv

    trials = _check.integer("trials", trials, 1)
    successes = _check.integer("successes", successes, 0, trials)
    failures, tail = trials - successes, (1.0 - LEVEL) / 2.0
    low = betaincinv(successes, failures + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1.0 - tail) if failures else 1.0
    return Interval(successes / trials, float(low), float(high))
