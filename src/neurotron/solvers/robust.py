"""The parts of robust regression: medians, leverages, weighted least squares, the honest scale."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from neurotron._types import Array

__all__ = [
    "BISQUARE", "NORMAL_MEDIAN", "TINY", "bisquare", "honest_scale", "increment", "leverages",
    "mean", "median", "solve_normal_equations",
]  # fmt: skip

BISQUARE = 4.685
"""Residuals of more honest standard deviations do not count: 95 % efficient for normal noise."""
INNER, INNER_VARIANCE = 2.0, 0.7737
"""The scale is that of the residuals within 2 s, where E[z² | |z| ≤ 2] = 0.7737 for normal z."""
NORMAL_MEDIAN = 0.6745
"""The median of |z| for normal z."""
FEW = 8
"""Rows for each fitted number below which the scale allows for the freedom that the fit took. With
more rows this would matter little, and would admit attacks that are only a few deviations off."""
RIDGE = 1e-13
"""Added to normal equations with unit diagonal, so that they can always be solved."""
TINY = 1e-300
"""Keeps quotients finite."""


def mean(values: Array, counts: Array | None) -> float:
    """Return the mean, where every value counts as often as `counts` says."""
    return float(values.mean() if counts is None else values @ counts / counts.sum())


def median(values: Array, counts: Array | None) -> float:
    """Return the median, where every value counts as often as `counts` says."""
    if counts is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    total = np.cumsum(counts[order])
    return float(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def solve_normal_equations(matrix: Array, vector: Array) -> Array:
    """Return H⁻¹b, after scaling H to a unit diagonal."""
    diagonal = np.sqrt(np.diag(matrix))
    scale = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    scaled = matrix * scale * scale[:, None]
    scaled[np.diag_indices_from(scaled)] += RIDGE
    return cast(Array, scale * np.linalg.solve(scaled, scale * vector))


def increment(rows: Array, weights: Array, residuals: Array) -> Array:
    """Return the change of the point that weighted least squares asks for.

    Solving for the change rather than for the point lets repeated steps reach full precision.
    """
    weighted = rows * weights[:, None]
    return solve_normal_equations(weighted.T @ rows, weighted.T @ residuals)


def leverages(rows: Array, counts: Array | None) -> Array:
    """Return √(gᵀH⁻¹g) for every row g, where H is the mean of ggᵀ.

    In these units no row is longer than the others because of the units of the inputs.
    """
    weighted = rows if counts is None else rows * (counts / counts.mean())[:, None]
    moments = weighted.T @ rows / len(rows)
    moments[np.diag_indices_from(moments)] += 1e-12 * max(np.trace(moments), TINY) / len(moments)
    inverse = np.linalg.inv(np.linalg.cholesky(moments))
    return np.sqrt(((rows @ inverse.T) ** 2).sum(axis=1))


def honest_scale(
    sizes: Array, counts: Array | None, start: float, floor: float, fitted: int
) -> float:
    """Return the standard deviation of honest noise, whose share among the rows is unknown.

    It is the s for which the residuals within 2 s have the spread of normal noise within two
    standard deviations: s² = mean(ρ² : |ρ| ≤ 2 s)/0.7737, where the mean allows for the `fitted`
    numbers if there are few rows. `start` should not be below it.
    """
    order = np.argsort(sizes)
    ordered, each = sizes[order], np.ones(len(sizes)) if counts is None else counts[order]
    squares, total = np.cumsum(each * ordered**2), np.cumsum(each)
    scale = max(start, floor)
    for _ in range(100):
        inner = int(np.searchsorted(ordered, INNER * scale, side="right"))
        if inner <= 2 * fitted:  # the fit can follow so few rows closely
            break
        freedom = inner / (inner - fitted) if inner < FEW * fitted else 1.0
        variance = freedom * squares[inner - 1] / total[inner - 1] / INNER_VARIANCE
        new = max(floor, math.sqrt(variance))
        if abs(new - scale) < 1e-6 * scale:
            break
        scale = new
    return scale


def bisquare(residuals: Array, scale: float) -> Array:
    """Return Tukey's weights: (1 − (ρ / 4.685 s)²)², and 0 for larger residuals."""
    return np.maximum(1.0 - (residuals / (BISQUARE * scale)) ** 2, 0.0) ** 2
