"""The strict last step, for rows with large leverage that pull the usual one towards their labels.

A row with large leverage can pull a regression so far that its residual is no longer large. Several
such rows also widen the scale of the residuals, until none of them is rejected. The search counts
rows with large leverage less. So if its filter shows much less noise than the usual last step, the
scale is taken from there and held, and rows are rejected sooner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurotron._types import Array
from neurotron.residuals.robust import (
    BISQUARE,
    NORMAL_MEDIAN,
    TINY,
    bisquare,
    honest_scale,
    median,
    solve_normal_equations,
)
from neurotron.solvers.all_rows import AllRows

STRICT = 3.44
"""Residuals of more honest standard deviations do not count: 85 % efficient for normal noise."""
ROUNDS = 50
FAST = 0.5
"""The normal equations are computed again if a change is not this much smaller than the last."""
CLOSE = 1e-3
"""A change of the level by less than this part of the scale ends the search for it."""
FLOOR = 1e-9
"""Smallest scale, in typical labels: smaller residuals count as none during the search, too."""


def strictly(residuals: Array, scale: float) -> Array:
    """Return bisquare weights, which are 0 beyond 3.44 scales."""
    return bisquare(residuals, scale * STRICT / BISQUARE)


def held_finish(
    rows: AllRows,
    point: Array,
    scale: float,
    weights_of: Callable[[Array, float], Array],
    *,
    settled: float,
) -> Array:
    """Return the M-estimate near a point with these weights, where the scale is held (MM; Yohai).

    A change of the outputs by less than the part `settled` of the scale ends it.
    """
    last, fast = np.inf, False
    for _ in range(ROUNDS):
        residuals, counts = rows.seen(point)
        weights = weights_of(residuals, scale)
        weights = weights if counts is None else weights * counts
        if np.count_nonzero(weights) <= len(point):
            break
        vector, new = rows.equations(weights * residuals, None if fast else weights)
        if not fast:
            matrix = new
        change = solve_normal_equations(matrix, vector)
        point = point + change
        moved = np.sqrt(np.abs(change @ matrix @ change) / weights.sum())
        if moved <= settled * scale:
            break
        fast = rows.steady and moved <= FAST * last  # the last normal equations are good enough
        last = moved
    return point


def noise_of(residuals: Array, counts: Array | None, fitted: int, *, around_level: bool) -> float:
    """Return the honest scale of residuals, around zero or around their level.

    The level is that which bisquare weights find. `fitted` numbers were fitted to the residuals.
    """
    level, scale = median(residuals, counts) if around_level else 0.0, FLOOR
    for _ in range(ROUNDS):
        off = residuals - level
        sizes = np.abs(off)
        start = median(sizes, counts) / NORMAL_MEDIAN
        scale = honest_scale(sizes, counts, start, FLOOR, fitted)
        weights = bisquare(off, scale)
        weights = weights if counts is None else weights * counts
        change = float(weights @ off) / max(float(weights.sum()), TINY)
        if not around_level or abs(change) <= CLOSE * scale:
            break
        level += change
    return scale
