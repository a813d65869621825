"""Searches that always terminate and return a point on the safe side.

SciPy's bounded minimiser and root finders do not accept infinite values, which stand for "never"
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

GRID = 24
FINER, ROUNDS = 4, 4
"""In each round the grid around the best point becomes so many times finer."""
EVALUATIONS = GRID + 2 * (FINER - 1) * ROUNDS
"""Evaluations of the function in one call of `least`."""
HALVINGS = 60
"""Evaluations of the function in one call of `halve`."""


def least(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the minimiser of a function with one minimum between two points, and the minimum.

    The best point of a grid is found, and then that of finer and finer grids around it.

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
    points = [low + step * i for i in range(GRID)]
    best = (math.nan, math.inf)
    for _ in range(1 + ROUNDS):
        best = min([best, *zip(points, f(points), strict=True)], key=lambda at: at[1])
        if best[1] == math.inf:
            return points[0], math.inf
        step /= FINER
        points = [best[0] + step * i for i in range(1 - FINER, FINER) if i]
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
