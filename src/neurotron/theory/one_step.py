"""One step of all bounds as elementwise formulas, which schedules use and loops compile.

The same formulas serve single numbers, arrays and compiled loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TINY = 1e-300
"""Keeps quotients finite."""


def largest_factor(eta: Any, low: Any, high: Any) -> Any:
    """Return max |1 − ηλ| over λ between `low` and `high`, elementwise."""
    return np.maximum(np.abs(1.0 - eta * low), np.abs(1.0 - eta * high))


def decrease(
    eta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any
) -> tuple[Any, Any, Any]:
    """Return C, m, c with F(Δ) = (1 − C)Δ + m√Δ + c for a step of size η, elementwise."""
    pushed = q * largest_factor(eta, low, high)
    return eta * (p - eta * d2), eta * (pushed + eta * d1), eta * eta * d0


def bound_after(
    delta: Any, eta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any
) -> Any:
    """Return F(Δ), elementwise."""
    falls, linear, constant = decrease(eta, p, q, d2, d1, d0, low, high)
    return np.maximum(delta - falls * delta + linear * np.sqrt(delta) + constant, 0.0)


def best_step(delta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any) -> Any:
    """Return the η that makes F(Δ) smallest, elementwise: 0 where no step helps.

    Beyond 2/(low + high) the attacker gains from overshooting, so no larger step is taken.
    """
    s = np.sqrt(delta)
    gain = np.maximum(p * delta - q * s, 0.0)
    spread = d2 * delta + (d1 - q * low) * s + d0
    return np.minimum(gain / (2.0 * np.maximum(spread, TINY)), 2.0 / np.maximum(low + high, TINY))


def coefficients(
    eta: Any, p: Any, q: Any, d2: Any, d1: Any, d0: Any, low: Any, high: Any,
    least: Any, most: Any, push: Any, v2: Any, v1: Any, v0: Any,
    storage: Any, answers: Any, farther_storage: Any, farther_answers: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the numbers with which `after` makes a step of size η, elementwise.

    They are made of those of the recursion F, of the mean path, and of rounding errors.
    """
    falls, linear, constant = decrease(eta, p, q, d2, d1, d0, low, high)
    square = eta * eta
    return (
        np.maximum(1.0 - falls, 0.0), linear, constant,
        largest_factor(eta, least, most), eta * push, square * v2, square * v1, square * v0,
        storage + eta * answers, farther_storage + eta * farther_answers,
    )  # fmt: skip


def after(
    exact: Any, root: Any, path: Any, spread: Any,
    left: Any, linear: Any, constant: Any, factor: Any, push: Any, v2: Any, v1: Any, v0: Any,
    rounding: Any, farther: Any,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Return bounds after a step, elementwise: on √Δ without and with rounding, on B and √V.

    The rounding error of a step is added to the roots of both means: Minkowski's inequality.
    """
    added, kept = rounding + farther * root, factor * spread
    return (
        np.sqrt((left * exact + linear) * exact + constant),
        np.sqrt((left * root + linear) * root + constant) + added,
        factor * path + push,
        np.sqrt(kept * kept + (v2 * root + v1) * root + v0) + added,
    )
