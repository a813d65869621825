"""Functions that a formula may call in addition to NumPy's ufuncs.

A formula is elementwise: a plain function of numbers, with no axis, shape, indexing or allocation.
The NumPy engine calls it on arrays. The compiled engine calls the same formula on numbers inside a
loop, which is faster. ``select`` is here because ufuncs offer no choice between two values. The
others are here because their compiled counterparts (`engine.compiled.elementary`) work on many
numbers at once.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


def formula_group(owner: object, *formulas: str) -> object:
    """Return a key: arms with equal keys can be computed by one call of their `formulas`.

    Static formulas depend on nothing but their arguments, so all objects of a class share them.
    """
    static = (isinstance(inspect.getattr_static(owner, f), staticmethod) for f in formulas)
    return type(owner) if all(static) else id(owner)


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where `condition` holds, else `b`.

    >>> select(np.array([True, False]), 1.0, -1.0)
    array([ 1., -1.])
    """
    return np.where(condition, a, b)


def log(u: Any) -> Any:
    """Return the natural logarithm of u in (0, 1]."""
    return np.log(u)


def expm1(x: Any) -> Any:
    """Return eˣ − 1 for x ≥ 0, accurate also for small x."""
    return np.expm1(x)


def erf(x: Any) -> Any:
    """Return the error function of x."""
    from scipy import special

    return special.erf(x)


def cos_turn(v: Any) -> Any:
    r"""Return :math:`\cos 2\pi v` for v in [0, 1]."""
    return np.cos(2.0 * np.pi * v)


def sin_turn(v: Any) -> Any:
    r"""Return :math:`\sin 2\pi v` for v in [0, 1]."""
    return np.sin(2.0 * np.pi * v)


def t4_quantile(u: Any) -> Any:
    r"""Return the quantile at u in (0, 1) of Student's t with four degrees of freedom.

    With :math:`\sin\theta = 2u - 1` it is :math:`4\sin(\theta/3)\sqrt{\cos(\theta/3)/\cos\theta}`.
    """
    sine = np.sin(np.arcsin(2.0 * u - 1.0) / 3.0)
    return 4.0 * sine * np.sqrt(0.5 * np.sqrt((1.0 - sine * sine) / (u * (1.0 - u))))
