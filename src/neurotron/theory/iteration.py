"""Recursions iterated step by step, compiled, because a study has thousands of certificates.

This module loads the compiler. It is imported only if that is loaded anyway.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from neurotron._jit import entry, inline
from neurotron._types import Array
from neurotron.theory.one_step import best_step, bound_after, largest_factor

SCHEDULED = -1.0
"""Used instead of a step size: take the best step every time."""

register_jitable(largest_factor)  # which `bound_after` calls
_bound_after, _best_step = inline(bound_after), inline(best_step)


@entry
def fill(
    eta: float,
    p: float,
    q: float,
    d2: float,
    d1: float,
    d0: float,
    low: float,
    high: float,
    deltas: Array,
) -> None:
    """Fill an array with bounds, starting from its first number."""
    for t in range(1, deltas.size):
        delta = deltas[t - 1]
        step = _best_step(delta, p, q, d2, d1, d0, low, high) if eta == SCHEDULED else eta
        after = _bound_after(delta, step, p, q, d2, d1, d0, low, high)
        deltas[t] = after if after < np.inf else np.inf  # inf − inf is not a number


@entry
def fill_linear(factors: Array, added: Array, values: Array) -> None:
    """Fill an array with numbers, each a factor times the one before it plus what is added."""
    for t in range(factors.size):
        values[t + 1] = factors[t] * values[t] + added[t]
