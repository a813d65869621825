"""Weights of samples by the norm of their inputs, and of weight vectors in an average."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron._formula import select

__all__ = ["inverse_square", "newest_share"]

LEAST = 1e-300
"""A smaller squared norm is treated as 0, as dividing by it would overflow."""


def inverse_square(square: Any) -> Any:
    """Return ω(x) = 1/‖x‖² from the squared norm, elementwise; 0 for x = 0.

    >>> inverse_square(np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    return select(square >= LEAST, 1.0 / np.maximum(square, LEAST), 0.0)


def newest_share(count: Any) -> Any:
    r"""Return the share of the newest of `count` weight vectors in their average.

    The t-th vector then has the weight :math:`t (t+1) (t+2)`, of the order t³ (Shamir and Zhang,
    *Stochastic gradient descent for non-smooth optimization*, 2013).

    >>> newest_share(1.0)
    1.0
    """
    return 4.0 / (count + 3.0)
