"""The last step: a regression that rejects far rows and is 95 % efficient under normal noise."""

from __future__ import annotations

import numpy as np

from neurotron._types import Array
from neurotron.solvers.all_rows import AllRows
from neurotron.solvers.robust import (
    NORMAL_MEDIAN,
    bisquare,
    bisquare_slope,
    honest_scale,
    median,
    solve_normal_equations,
)

__all__ = ["SETTLED", "finish"]

ROUNDS = 50
CONVERGED = 1e-15
FLOOR, FIRST_FLOOR, FALL = 1e-15, 1e-4, 0.01
"""Smallest scale, in typical labels: rounding. It is larger at first and falls by this factor a
round, so that rows which do not fit exactly yet are not lost."""
SETTLED = 1e-8
"""With noise, a change of the outputs by less than this part of the scale ends it."""
HIGHER = 1.01
"""Each round looks for the scale from above the last one, so that it depends on the residuals only:
several scales can be next to each other that all agree with them."""
FAST, LONGEST = 0.3, 1.5
"""The normal equations are computed again if a change is not this much smaller than the last one;
and the largest factor by which a step is longer than that of weighted least squares."""


def finish(rows: AllRows, point: Array, *, settled: float = SETTLED) -> tuple[Array, float]:
    """Return the regression with bisquare weights near a point, and the honest scale.

    Residuals beyond 4.685 honest standard deviations do not count. If the honest labels are exact,
    the scale falls to rounding, and what remains is least squares on the honest rows.
    """
    scale, floor, last, fast, quick = 0.0, FIRST_FLOOR, np.inf, False, rows.steady
    for _ in range(ROUNDS):
        residuals, counts = rows.seen(point)
        sizes = np.abs(residuals)
        if len(sizes) <= len(point):
            return point, max(scale, FLOOR)
        start = HIGHER * scale or median(sizes, counts) / NORMAL_MEDIAN
        scale = honest_scale(sizes, counts, start, floor, len(point))
        weights = bisquare(residuals, scale)
        factor = _lengthening(weights, residuals, scale) if quick else 1.0
        weights = weights if counts is None else weights * counts
        used = int(np.count_nonzero(weights))
        if used <= len(point):
            break
        vector, new = rows.equations(weights * residuals, None if fast else weights)
        if not fast:
            matrix, total = new, weights.sum()
        change = solve_normal_equations(matrix, vector) * (factor * total / weights.sum())
        point = point + change
        moved = np.sqrt(np.abs(change @ matrix @ change) / used)
        still = np.linalg.norm(change) <= CONVERGED * np.linalg.norm(point)
        left = moved * min(moved / last, 1.0) if fast else moved  # changes fall at a steady rate
        if scale > floor and (still or left <= settled * scale):
            break
        if floor == FLOOR and still:
            break
        floor = max(FALL * floor, FLOOR)
        fast = quick = rows.steady and moved <= FAST * last
        last = moved
    return point, scale


def _lengthening(weights: Array, residuals: Array, scale: float) -> float:
    """Return by how much Newton's step is longer than that of weighted least squares.

    This is exact if residuals do not depend on the inputs. It only makes the last step faster: it
    ends at the same point.
    """
    slope = float(bisquare_slope(residuals, scale).sum())
    return min(max(float(weights.sum()) / max(slope, 1e-300), 1.0), LONGEST)
