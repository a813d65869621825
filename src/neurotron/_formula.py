"""What a formula may call besides NumPy's ufuncs.

A formula is elementwise: a plain function of numbers, with no axis, shape, indexing or allocation.
Called on arrays it is the NumPy engine's; called on numbers inside a compiled loop it is the same
formula, fast. ``select`` is the one thing ufuncs lack: a choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron._types import Array

__all__ = ["cos_turn", "select", "sin_turn"]


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where `condition` holds, else `b`.

    >>> select(np.array([True, False]), 1.0, -1.0)
    array([ 1., -1.])
    """
    return np.where(condition, a, b)


def cos_turn(v: Array) -> Array:
    r"""Return :math:`\cos 2\pi v`."""
    return np.cos(2.0 * np.pi * v)


def sin_turn(v: Array) -> Array:
    r"""Return :math:`\sin 2\pi v`."""
    return np.sin(2.0 * np.pi * v)
