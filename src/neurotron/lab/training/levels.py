"""Levels (θ, β) of an attack, and ratios of errors measured at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from neurotron._types import Array

__all__ = ["Level", "attacked", "divided", "longest", "over_levels", "paired", "slopes"]

Level = tuple[float, float]
"""(θ, β)"""


def attacked(levels: Iterable[Level]) -> list[Level]:
    """Return the levels at which the attack changes labels."""
    return [(bound, chance) for bound, chance in levels if bound * chance > 0.0]


def longest(levels: Sequence[Level], axis: int) -> list[Level]:
    """Return the longest list of attacked levels that differ only in θ (0) or only in β (1).

    Among lists of the same length, the one with the largest other number is returned, which is the
    strongest attack.

    >>> longest([(0.0, 0.5), (1.0, 0.5), (2.0, 0.5), (1.0, 0.9), (2.0, 0.9)], 0)
    [(1.0, 0.9), (2.0, 0.9)]
    """
    others = sorted({level[1 - axis] for level in attacked(levels)}, reverse=True)
    lists = [[lv for lv in attacked(levels) if lv[1 - axis] == value] for value in others]
    return max(lists, key=len, default=[])


def over_levels(ratios: Sequence[Array] | Array) -> Array:
    """Return the median over levels for each replicate, ignoring NaN."""
    table = np.asarray(ratios, np.float64)
    known = ~np.isnan(table).all(axis=0)
    return np.asarray(np.nanquantile(table[:, known], 0.5, axis=0, method="inverted_cdf"))


def divided(one: Array, other: Array) -> Array:
    """Return ratios: infinite where `other` is 0, NaN where both are zero or infinite."""
    with np.errstate(all="ignore"):
        return np.asarray(one / other)


def paired(one: Array, other: Array) -> Array:
    """Return the ratios of pairs, without those that are NaN.

    >>> paired(np.array([1.0, np.inf]), np.array([2.0, np.inf]))
    array([0.5])
    """
    ratios = divided(one, other)
    return ratios[~np.isnan(ratios)]


def slopes(x: Array, y: Array) -> Array:
    """Return the least-squares slope of y against x, or one slope per column of y.

    Heights are taken from the first one, so that equal heights have a slope of exactly 0.
    """
    centred = x - x.mean()
    return np.asarray(centred @ (y - y[0]) / (centred @ centred))
