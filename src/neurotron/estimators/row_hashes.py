"""Hashes of the rows of a fit, by which rows that it has seen are recognised.

A hash has 64 bits and is not secret: whoever guesses a row can see whether the fit had it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neurotron._tiny import zeroed
from neurotron._types import Array

__all__ = ["MOST_HASHES", "Hashes", "kept_hashes", "row_hashes"]

Hashes: TypeAlias = npt.NDArray[np.int64]
MOST_HASHES = 10**6
"""The most hashes that a model keeps: 8 MB."""
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
STEP = np.uint64(0x9E3779B97F4A7C15)
"""The constants of SplitMix64 (Steele, Lea, Flood, 2014), a generator whose output function mixes
all bits of its state."""


def row_hashes(rows: Array, labels: Array) -> Hashes:
    """Return the hash of each row: its inputs as float64, in order, and its label."""
    state = np.zeros(len(rows), np.uint64)
    for column in (*rows.T, labels):
        state = (state + STEP) ^ zeroed(column).view(np.uint64)
        for shift, factor in zip(SHIFTS[:2], FACTORS, strict=True):
            state = (state ^ (state >> shift)) * factor
        state ^= state >> SHIFTS[2]
    return state.view(np.int64)


def kept_hashes(rows: Array, labels: Array) -> Hashes:
    """Return the hashes of the rows that occur once, in order; of too many, the smallest.

    The smallest hashes are a random sample of the rows. A row that occurs twice in a table may well
    occur a third time among fresh rows, so it is no sign that these were seen.
    """
    values, times = np.unique(row_hashes(rows, labels), return_counts=True)
    return values[times == 1][:MOST_HASHES]
