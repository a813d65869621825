"""The one place that knows how functions are compiled.

Imported only once something is trained: ``import neurotron`` does not load the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["jit"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` on first use: no GIL, IEEE division, kept on disk between runs."""
    return cast(F, njit(nogil=True, error_model="numpy", cache=True)(function))
