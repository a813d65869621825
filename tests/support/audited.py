"""Small tables to audit."""

from __future__ import annotations

import numpy as np

import neurotron as nt
from neurotron._types import Array

__all__ = ["BUDGET", "small_table"]

BUDGET = nt.Budget(bound=1.0, probability=0.1)


def small_table(
    rows: int = 60, columns: int = 3, noise: float = 0.3, seed: int = 0
) -> tuple[Array, Array]:
    """Return inputs, a few of which are far out, and labels of a linear model with noise."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, columns))
    X[: rows // 10] *= 3.0
    y = X @ np.arange(1.0, columns + 1.0) + noise * draw.standard_normal(rows)
    return X, y
