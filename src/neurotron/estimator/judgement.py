"""What a fitted model says about the labels of its own table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Mask
from neurotron.estimator.suspects import (
    NORMAL,
    HonestNoise,
    Residuals,
    explain,
    information,
    interval,
    suspects_among,
)
from neurotron.solvers import Solution

__all__ = ["Judgement", "judge"]


class Judgement(NamedTuple):
    """The honest noise, the suspects, and how many labels are attacked by how much."""

    noise: HonestNoise
    suspicion: Array
    suspects: Mask
    share: float
    interval: tuple[float, float]
    size: float


def judge(
    solution: Solution, residuals: Array, rounding: Array, counted: Mask, rate: float
) -> Judgement:
    """Return the judgement of all labels, by the noise of those that count.

    Parameters
    ----------
    solution
        The solution that the labels are compared with.
    residuals, rounding
        The residual of every label, and the size up to which it counts as none, (N,).
    counted
        Which rows have a positive weight, (N,).
    rate
        The largest share of honest rows among suspects.
    """
    found, sizes = _explained(solution, residuals, counted), np.abs(residuals)
    suspicion = found.noise.suspicion(sizes, rounding)
    suspects = suspects_among(suspicion, rate)
    certain = 1.0 - rate if found.noise.scale > 0.0 else 1.0
    share = max(found.share or 0.0, certain * float(suspects[counted].mean()))
    low, high = interval(share, found.rows)
    return Judgement(
        noise=found.noise,
        suspicion=suspicion,
        suspects=suspects,
        share=share,
        interval=(low, max(high, found.possible)),
        size=float(np.median(sizes[suspects])) if suspects.any() else 0.0,
    )


def _explained(solution: Solution, residuals: Array, counted: Mask) -> Residuals:
    """Return the law of the honest noise, and the share of attacked labels if it is known."""
    rows = float(counted.sum())
    if solution.noise == 0.0:
        return Residuals(HonestNoise(0.0, NORMAL), None, rows)
    if solution.tampered is not None:
        rows *= information(solution.tampered[counted])
        return Residuals(HonestNoise(solution.noise, NORMAL), solution.hidden_share, rows)
    return explain(residuals[counted], solution.noise)
