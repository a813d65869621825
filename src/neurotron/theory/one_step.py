"""One step of the recursion F as elementwise formulas, which schedules use and loops compile."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["best_step", "bound_after"]

TINY = 1e-300


def bound_after(delta: Any, eta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any) -> Any:
    """Return F(Δ), elementwise."""
    s = np.sqrt(delta)
    spread = d2 * delta + d1 * s + d0
    return np.maximum(delta - eta * (p * delta - q * s) + eta * eta * spread, 0.0)


def best_step(delta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any) -> Any:
    """Return the η that makes F(Δ) smallest, elementwise: 0 where no step helps."""
    s = np.sqrt(delta)
    gain = np.maximum(p * delta - q * s, 0.0)
    return gain / (2.0 * np.maximum(d2 * delta + d1 * s + d0, TINY))
