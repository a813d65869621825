"""The one place that knows how functions are compiled.

Imported only once something is trained: ``import neurotron`` does not load the compiler.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["jit"]

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile `function` on first use: no GIL, IEEE division, kept on disk between runs."""
    compiled = njit(nogil=True, error_model="numpy")(function)
    # numba raises RuntimeError when no folder can be written: compile in every process then
    with contextlib.suppress(RuntimeError):
        compiled.enable_caching()
    return cast(F, compiled)
