"""A choice of the planner: a step size and a number of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from neurotron.theory.search import halve

__all__ = ["Choice", "least_target", "legible_step"]


class Choice(NamedTuple):
    """The best step size (None for a schedule), and a number of steps that is sufficient."""

    step_size: float | None
    steps: int


def least_target(
    reach: Callable[[float], Choice | None], limit: float, start: float, steps: int
) -> tuple[Choice, float] | None:
    """Return the smallest Δ that is reached within the steps, by halving log(√Δ − limit)."""
    root = math.sqrt(start)
    if root <= limit:
        return None

    def target(logarithm: float) -> float:
        return min((limit + math.exp(logarithm)) ** 2, start)

    def fine(logarithm: float) -> bool:
        choice = reach(target(logarithm))
        return choice is not None and choice.steps <= steps

    high = math.log(root - limit)
    best = target(halve(fine, high, high - 100.0))
    choice = reach(best)
    return None if choice is None or choice.steps > steps else (choice, best)


def legible_step(step_size: float) -> float:
    """Return a step size as it is printed."""
    return float(f"{step_size:.6g}")
