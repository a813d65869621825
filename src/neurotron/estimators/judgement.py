"""What a fitted model says about the labels of its own table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Mask
from neurotron.residuals.patterns import Groups, groups_in
from neurotron.residuals.robust import mean
from neurotron.residuals.shares import information, interval, rows_in
from neurotron.residuals.suspects import (
    NORMAL,
    HonestNoise,
    Residuals,
    explain,
    suspects_among,
)
from neurotron.solvers import Solution

MOST = 0.5
"""The largest share of attacked labels that a fit can stand."""


class LabelJudgement(NamedTuple):
    """The honest noise, the suspects, and how many labels are attacked by how much."""

    noise: HonestNoise
    suspicion: Array
    suspects: Mask
    share: float
    interval: tuple[float, float]
    size: float
    far: float
    """The share of labels that are suspects, or that the solver did not use if that is more."""
    groups: Groups | None
    """The two groups in which the residuals of the other labels come, if they clearly do."""


def judge(
    solution: Solution,
    rows: Array,
    residuals: Array,
    rounding: Array,
    counts: Array | None,
    rate: float,
) -> LabelJudgement:
    """Return the judgement of all labels, by the noise of those that count.

    Parameters
    ----------
    solution
        The solution that the labels are compared with.
    rows
        The inputs, (N, n).
    residuals, rounding
        The residual of every label, and the size up to which it counts as none, (N,).
    counts
        How much every row counts, (N,), or None if all count the same.
    rate
        The largest share of honest rows among suspects.
    """
    counted = np.ones(len(residuals), np.bool_) if counts is None else counts > 0.0
    found, sizes = _explained(solution, rows, residuals, counted, counts), np.abs(residuals)
    suspicion = found.noise.suspicion(sizes, rounding)
    suspects = suspects_among(suspicion, rate)
    certain = 1.0 - rate if found.noise.scale > 0.0 else 1.0
    suspected, groups = mean(suspects.astype(float), counts), None
    share, possible = max(found.share or 0.0, certain * suspected), found.possible
    if found.noise.scale > 0.0 and solution.tampered is None:
        groups = groups_in(residuals[counted & ~suspects])
        if suspected == 0.0:  # what no label shows is not reported, but it is not excluded either
            share, possible = 0.0, max(possible, interval(share, found.rows)[1])
    if groups is not None:
        possible = MOST
    low, high = interval(share, found.rows)
    return LabelJudgement(
        noise=found.noise,
        suspicion=suspicion,
        suspects=suspects,
        share=share,
        interval=(low, max(high, possible)),
        size=float(np.median(sizes[suspects])) if suspects.any() else 0.0,
        far=max(suspected, mean(solution.rejected.astype(float), counts)),
        groups=groups,
    )


def _explained(
    solution: Solution, inputs: Array, residuals: Array, counted: Mask, counts: Array | None
) -> Residuals:
    """Return the law of the honest noise, and the share of attacked labels if it is known."""
    weights = None if counts is None else counts[counted]
    rows = rows_in(weights, int(counted.sum()))
    if solution.noise == 0.0:
        return Residuals(HonestNoise(0.0, NORMAL), None, rows, 0.0)
    if solution.tampered is not None:
        rows *= information(solution.tampered[counted])
        return Residuals(HonestNoise(solution.noise, NORMAL), solution.hidden_share, rows, 0.0)
    inputs = inputs if counts is None else inputs[counted]
    return explain(residuals[counted], solution.noise, weights, inputs)
