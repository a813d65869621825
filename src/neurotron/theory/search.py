"""Searches that always terminate and return a point on the safe side.

SciPy's bounded minimiser and root finders do not accept infinite values, which stand for "never"
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["EVALUATIONS", "HALVINGS", "halve", "least", "least_of_many"]

GRID = 24
GOLDEN = 16
EVALUATIONS = GRID + 2 * GOLDEN
"""Evaluations of the function in one call of `least`."""
HALVINGS = 60
"""Evaluations of the function in one call of `halve`."""


def least(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the minimiser of a function with one minimum between two points, and the minimum.

    A grid search is followed by golden-section search; the best point found is returned.

    >>> where, value = least(lambda x: (x - 2.0) ** 2, 0.0, 10.0)
    >>> round(where, 3)
    2.0
    """
    return least_of_many(lambda points: [f(point) for point in points], low, high)


def least_of_many(
    f: Callable[[list[float]], list[float]], low: float, high: float
) -> tuple[float, float]:
    """Return the same for a function of several points at once, which is called less often."""
    step = (high - low) / GRID
    grid = [low + step * i for i in range(GRID)]
    best = min(zip(grid, f(grid), strict=True), key=lambda at: at[1])
    left, right = best[0] - step, best[0] + step
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(GOLDEN):
        inner = [right - ratio * (right - left), left + ratio * (right - left)]
        values = f(inner)
        best = min(best, *zip(inner, values, strict=True), key=lambda at: at[1])
        left, right = (left, inner[1]) if values[0] <= values[1] else (inner[0], right)
    return best


def halve(
    fine: Callable[[float], bool],
    good: float,
    bad: float,
    halvings: int = HALVINGS,
    rounded: Callable[[float], float] | None = None,
) -> float:
    """Return a point close to the boundary between `good` and `bad` where `fine` still holds.

    If only its value after rounding matters, the search ends when that is known.

    >>> halve(lambda x: x <= 0.3, 0.0, 1.0) <= 0.3
    True
    """
    for _ in range(halvings):
        if rounded is not None and rounded(good) == rounded(bad):
            break
        middle = (good + bad) / 2.0
        good, bad = (middle, bad) if fine(middle) else (good, middle)
    return good
