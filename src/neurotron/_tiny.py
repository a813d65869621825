"""Numbers of a table that are too small to be squared: columns are refused, single values are 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurotron import _check
from neurotron._types import Array

SMALLEST = 1e-60
"""A column of a table must have a value of this size, unless all are zero."""
TINY = f"has no value beyond {SMALLEST:g}: give it in another unit"
"""What is wrong with a column that has only smaller ones, as the end of a sentence about it."""
NEGLIGIBLE = SMALLEST * 1e-16
"""A smaller value is lost in any sum with the largest of its column, and its fourth power is 0."""


def without_tiny(name: str, values: Array, column: Callable[[int], str] = str) -> Array:
    """Return a vector or a table with 0 for negligible values; refuse columns of tiny ones.

    The words of `column` name a column by its place.
    """
    largest = np.atleast_1d(np.maximum(values.max(axis=0), -values.min(axis=0)))
    tiny = (largest > 0.0) & (largest < SMALLEST)
    if tiny.any():
        where = f"column {column(int(tiny.argmax()))} of `{name}`" * (values.ndim > 1)
        raise _check.InputError(f"{where or f'`{name}`'} {TINY}")
    columns = values.reshape(len(values), -1).T
    found = any(column[np.abs(column) < NEGLIGIBLE].any() for column in columns)
    return zeroed(values) if found else values


def zeroed(values: Array) -> Array:
    """Return a copy with 0 for negligible values, which has no negative zeros."""
    return np.where(np.abs(values) < NEGLIGIBLE, 0.0, values)
