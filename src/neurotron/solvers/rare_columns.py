"""Columns that are the same in nearly all rows, such as one rare category.

A search on some of the rows sees only a few rows of such a column. If more than half of these are
poisoned, or if there are none, it finds a wrong weight for the column. The last step rejects the
honest rows then and cannot leave the wrong weight. So each such weight is compared with the one
that most rows of its column agree with.
"""

from __future__ import annotations

import numpy as np

from neurotron._types import Array, Index
from neurotron.residuals.robust import BISQUARE, median

FEW = 300
"""A column is rare if fewer than so many of a sample of the rows have another value than most."""
SWEEPS = 2


def rare_columns(rows: Array, centres: Array) -> Index:
    """Return which columns have the same value in most rows, and another one in only a few."""
    return np.flatnonzero((rows != centres).sum(axis=0) < min(FEW, len(rows) / 2.0))


def corrected(
    residuals: Array, rows: Array, centres: Array, columns: Index, counts: Array | None,
    scale: float,
) -> Array | None:  # fmt: skip
    """Return by how much the weights of some columns must change; None if none must.

    The change of a weight is the median over the rows of what each of them wants. It is made if it
    moves most outputs by so much that rows would be rejected.

    Parameters
    ----------
    residuals
        The residuals of all rows, (N,).
    rows, centres
        All rows (N, n), and the usual value of each column (n,).
    columns
        The columns to look at.
    counts
        How much each row counts, (N,), or None.
    scale
        The honest standard deviation.
    """
    changes, left = np.zeros(rows.shape[1]), residuals.copy()
    for _ in range(SWEEPS):
        before = changes.copy()
        for column in columns:
            away = rows[:, column] - centres[column]
            there = np.flatnonzero(away)
            if not there.size:
                continue
            away, counted = away[there], None if counts is None else counts[there]
            if counted is not None and not counted.any():
                continue
            change = median(left[there] / away, counted)
            if abs(change) * median(np.abs(away), counted) > BISQUARE * scale:
                changes[column] += change
                left[there] -= change * away
        if np.array_equal(before, changes):
            break
    return changes if changes.any() else None
