"""The last step: a regression that rejects far rows and is 95 % efficient under normal noise."""

from __future__ import annotations

import numpy as np

from neurotron._types import Array
from neurotron.residuals.robust import (
    BISQUARE,
    NORMAL_MEDIAN,
    TINY,
    bisquare,
    bisquare_slope,
    honest_scale,
    median,
    solve_normal_equations,
)
from neurotron.solvers.all_rows import AllRows

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
DOUBTFUL, NORMALLY_DOUBTFUL = 2.5, 0.0124
"""Residuals between 2.5 and 4.685 deviations are doubtful: 1.24 % of normal noise is."""
MANY, HARDLY_MORE = 0.02, 2.5
"""Rejected rows are clearly apart if they are at least this share of all, and if at most this many
times as many rows are doubtful as with normal noise."""


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
        left = (
            moved * min(moved / max(last, TINY), 1.0) if fast else moved
        )  # changes fall at a steady rate
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


def fit_of_the_rest(rows: AllRows, point: Array, scale: float) -> Array:
    """Return the least-squares fit of the rows that are not rejected, if the others are far away.

    If many rows are rejected, and hardly any of the rest is doubtful, then the rest is honest.
    Least squares fits honest rows best, also where a linear model does not fit them well, whereas
    bisquare weights neglect those. Otherwise attacked rows may be among the rest, and the point
    stays.
    """
    residuals, counts = rows.seen(point)
    sizes, counts = np.abs(residuals), np.ones(len(residuals)) if counts is None else counts
    near = sizes <= BISQUARE * scale
    kept, doubtful = (
        float(counts @ part) / float(counts.sum())
        for part in (near, near & (sizes > DOUBTFUL * scale))
    )
    apart = kept <= 1.0 - MANY and doubtful <= HARDLY_MORE * NORMALLY_DOUBTFUL * kept
    if not apart or np.count_nonzero(near) <= len(point):
        return point
    weights = counts * near
    vector, matrix = rows.equations(weights * residuals, weights)
    return point + solve_normal_equations(matrix, vector)
