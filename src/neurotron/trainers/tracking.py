r"""What robust trainers learn of their residuals while they go.

Such a trainer clips or drops residuals at a threshold τ, a quantile of |residual| that it tracks:

.. math:: \tau \leftarrow \tau \exp\left(s\,(p - \text{share of the batch with } |residual| \le
          \tau)\right)

The batch's own quantile is no substitute: in a small batch attacked labels can be the majority.
Samples whose direction is zero (every gate is off) say nothing about w and are not counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._formula import select

__all__ = [
    "LISTENING", "MEMORY", "Tracked", "check_tracking", "clipped", "listened", "observed",
    "tracked",
]  # fmt: skip

LISTENING = 100
"""Steps in which a trainer only looks: enough to find the quantile from any start."""

MEMORY = 500
"""About how many steps the running means go back."""

LEAST = 1e-200
"""Thresholds and lengths stay above: smaller numbers lose their digits."""


class Tracked(NamedTuple):
    """The state of a trainer that tracks its residuals."""

    age: float = 0.0
    """Steps made."""
    threshold: float = 0.0
    """τ."""
    length: float = 0.0
    """Running mean of ‖g‖², the squared length of a sample's direction."""
    absolute: float = 0.0
    """Running mean of |residual|."""
    quantile: float = 0.0
    """p, which quantile τ tracks."""
    speed: float = 0.0
    """s, how fast it does."""
    pace: float = 0.0
    """How long the trainer's steps are, if it is the trainer that decides."""


def check_tracking(quantile: float, speed: float) -> None:
    """Refuse a quantile outside (0, 1) and a speed outside (0, 1]."""
    _check.number("quantile", quantile, "(0, 1)")
    _check.number("speed", speed, "(0, 1]")


def clipped(residual: Any, threshold: Any) -> Any:
    """Return the residual cut to ±threshold, elementwise."""
    return np.minimum(np.maximum(residual, -threshold), threshold)


def listened(age: Any, weight: Any) -> Any:
    """Return the weight, 0 as long as the trainer only listens."""
    return select(age >= LISTENING, weight, 0.0)


def observed(residual: Any, length: Any, threshold: Any) -> tuple[Any, ...]:
    """Return of a sample: does it count, is it within τ, ‖g‖², |residual|."""
    size = np.abs(residual)
    counts = select(length > 0.0, 1.0, 0.0)
    return counts, select(size <= threshold, counts, 0.0), length, size * counts


def tracked(state: tuple[Any, ...], mean: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the state after a batch.

    The first batch that counts sets τ to its mean absolute residual; a young trainer tracks faster.
    """
    age, threshold, length, absolute, quantile, speed, pace = state
    counting, within, new_length, size = mean
    share = np.maximum(counting, LEAST)
    gain = select(counting > 0.0, np.maximum(speed, 5.0 / (5.0 + age)), 0.0)
    moved = np.maximum(threshold * np.exp(gain * (quantile - within / share)), LEAST)
    threshold = select(threshold == 0.0, size / share, moved)
    part = np.maximum(1.0 / MEMORY, 1.0 / (1.0 + age))
    heard = select(counting > 0.0, part, 0.0)
    return (
        age + 1.0,
        threshold,
        length + part * (new_length - length),
        absolute + heard * (size / share - absolute),
        quantile,
        speed,
        pace,
    )
