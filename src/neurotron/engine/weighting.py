"""How much a sample counts by its inputs, besides how much its source says."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron._formula import select

__all__ = ["inverse_square"]

LEAST = 1e-300
"""A squared norm below this is that of x = 0: what it divides would not be a number any more."""


def inverse_square(square: Any) -> Any:
    """Return ω(x) = 1/‖x‖² from the squared norm, elementwise; 0 for x = 0.

    >>> inverse_square(np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    return select(square >= LEAST, 1.0 / np.maximum(square, LEAST), 0.0)
