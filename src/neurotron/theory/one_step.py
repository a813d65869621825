"""One step of the recursion F as elementwise formulas, which schedules use and loops compile."""

from __future__ import annotations

from typing import Any

import numpy as np

TINY = 1e-300
"""Keeps quotients finite."""


def largest_factor(eta: Any, low: Any, high: Any) -> Any:
    """Return max |1 − ηλ| over λ between `low` and `high`, elementwise."""
    return np.maximum(np.abs(1.0 - eta * low), np.abs(1.0 - eta * high))


def bound_after(
    delta: Any, eta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any
) -> Any:
    """Return F(Δ), elementwise."""
    s = np.sqrt(delta)
    pushed = q * largest_factor(eta, low, high) * s
    spread = d2 * delta + d1 * s + d0
    return np.maximum(delta - eta * (p * delta - pushed) + eta * eta * spread, 0.0)


def best_step(delta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any) -> Any:
    """Return the η that makes F(Δ) smallest, elementwise: 0 where no step helps.

    Beyond 2/(low + high) the attacker gains from overshooting, so no larger step is taken.
    """
    s = np.sqrt(delta)
    gain = np.maximum(p * delta - q * s, 0.0)
    spread = d2 * delta + (d1 - q * low) * s + d0
    return np.minimum(gain / (2.0 * np.maximum(spread, TINY)), 2.0 / np.maximum(low + high, TINY))
