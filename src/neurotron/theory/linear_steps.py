"""Linear recursions, of which certificates follow thousands of steps."""

from __future__ import annotations

import sys
from itertools import accumulate

import numpy as np

from neurotron._types import Array

__all__ = ["linear_steps"]


def linear_steps(start: float, factors: Array, added: Array) -> Array:
    """Return v after 0, 1, … steps v ← f v + a, compiled if the compiler is loaded anyway."""
    if "numba" not in sys.modules:
        steps = zip(factors.tolist(), added.tolist(), strict=True)
        return np.array([*accumulate(steps, lambda v, step: step[0] * v + step[1], initial=start)])
    from neurotron.theory.iteration import fill_linear

    values = np.full(len(factors) + 1, start)
    fill_linear(factors, added, values)
    return values
