"""The last step: a regression that rejects far rows and is 95 % efficient under normal noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from neurotron._types import Array
from neurotron.solvers.linearized import Linearized, View
from neurotron.solvers.robust import (
    NORMAL_MEDIAN,
    bisquare,
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


def finish(
    blocks: Callable[[], Iterable[Linearized]],
    point: Array,
    *,
    one_block: bool,
    settled: float = SETTLED,
) -> tuple[Array, float]:
    """Return the regression with bisquare weights near a point, and the honest scale.

    Residuals beyond 4.685 honest standard deviations do not count. If the honest labels are exact,
    the scale falls to rounding, and what remains is least squares on the honest rows. `blocks`
    returns all rows, a block at a time; they are kept during a round if there is only one block.
    """
    scale, floor = 0.0, FIRST_FLOOR
    for _ in range(ROUNDS):
        views = _views(blocks, point, keep=one_block)
        sizes, counts = _sizes(views())
        if len(sizes) <= len(point):
            return point, max(scale, FLOOR)
        start = scale or median(sizes, counts) / NORMAL_MEDIAN
        scale = honest_scale(sizes, counts, start, floor, len(point))
        matrix, vector, used = np.zeros((len(point),) * 2), np.zeros(len(point)), 0
        for view in views():
            weights = view.counted(bisquare(view.residuals, scale))
            weighted = view.rows * weights[:, None]
            matrix += weighted.T @ view.rows
            vector += weighted.T @ view.residuals
            used += int(np.count_nonzero(weights))
        if used <= len(point):
            break
        change = solve_normal_equations(matrix, vector)
        point = point + change
        moved = np.sqrt(np.abs(change @ matrix @ change) / used)
        still = np.linalg.norm(change) <= CONVERGED * np.linalg.norm(point)
        if scale > floor and (still or moved <= settled * scale):
            break
        if floor == FLOOR and still:
            break
        floor = max(FALL * floor, FLOOR)
    return point, scale


def _views(
    blocks: Callable[[], Iterable[Linearized]], point: Array, *, keep: bool
) -> Callable[[], Iterable[View]]:
    if keep:
        kept = [View(rows, point) for rows in blocks()]
        return lambda: kept
    return lambda: (View(rows, point) for rows in blocks())


def _sizes(views: Iterable[View]) -> tuple[Array, Array | None]:
    """Return |residual| of all rows, and how much they count."""
    pairs = [(np.abs(view.residuals), view.counts) for view in views]
    sizes = np.concatenate([size for size, _ in pairs])
    counts = [count for _, count in pairs if count is not None]
    return sizes, np.concatenate(counts) if counts else None
