r"""How robust trainers track their residuals and limit the effect of large ones.

A residual ρ counts as it is up to kτ, and as ±c kτ beyond: c = 1 clips, c = 0 drops. The threshold
τ is a quantile of |residual| that is tracked:

.. math:: \tau \leftarrow \tau \exp\left(s\,(p - \text{share of the batch with } |residual| \le
          \tau)\right)

The quantile of the batch itself would not do, because in a small batch attacked labels can be the
majority. Samples whose direction is zero (every gate is off) carry no information about w and are
not counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._formula import select

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
    """How long steps are, in units of 1 / mean ‖g‖²; 0 for trainers that have a step size."""
    bend: float = 1.0
    """k, in units of τ: where residuals begin to be large."""
    beyond: float = 1.0
    """c, what large ones count, in units of kτ."""


def check_tracking(quantile: float, speed: float) -> None:
    """Refuse a quantile outside (0, 1) and a speed outside (0, 1]."""
    _check.number("quantile", quantile, "(0, 1)")
    _check.number("speed", speed, "(0, 1]")


def influence(residual: Any, state: tuple[Any, ...]) -> Any:
    """Return how much a residual counts, which is 0 while the trainer only observes."""
    age, threshold, length, _, _, _, pace, bend, beyond = state
    limit = bend * threshold
    counted = select(np.abs(residual) <= limit, residual, np.copysign(beyond * limit, residual))
    scale = select(pace > 0.0, pace / np.maximum(length, LEAST), 1.0)
    return counted * select(age >= LISTENING, scale, 0.0)


def observe(residual: Any, length: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return whether a sample counts, whether it is within τ, ‖g‖², and |residual|."""
    size = np.abs(residual)
    counts = select(length > 0.0, 1.0, 0.0)
    return counts, select(size <= state[1], counts, 0.0), length, size * counts


def adapt(state: tuple[Any, ...], mean: tuple[Any, ...], step: Any) -> tuple[Any, ...]:
    """Return the state after a batch.

    The first batch that counts sets τ to its mean absolute residual; a young trainer tracks faster.
    """
    age, threshold, length, absolute, quantile, speed, pace, bend, beyond = state
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
        bend,
        beyond,
    )
