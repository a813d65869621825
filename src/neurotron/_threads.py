"""What threads share: processors, the threads of BLAS, and what is done about warnings.

BLAS is limited to one thread, so that units which run in parallel do not compete. It also keeps
results identical to the last bit, which can depend on how BLAS divides a product.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["no_warnings", "one_blas_thread", "processors"]

_lock = threading.Lock()
_inside = 0
_limits: Any = None


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on all systems
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside this context, which several threads may enter.

    The last thread to leave lifts the limit. Without this count, overlapping contexts would restore
    each other's limits, and the process would stay limited.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            import scipy.linalg  # noqa: F401 — loads its own BLAS, which must be limited as well

            _take_over()
            _limits = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_over()
                _limits.restore_original_limits()
                _take_over()


@functools.cache
def _controller() -> Any:
    """Return what limits the BLAS libraries that are loaded now; looking for them takes time."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


def _take_over() -> None:
    """Let any thread set limits; since threadpoolctl 3.8, only the first thread's take effect."""
    from threadpoolctl import OpenBLASController as controller

    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)


_quiet = 0
_filters: Any = None


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Silence warnings inside this context, which several threads may enter.

    The last thread to leave restores what was before; `warnings.catch_warnings` in several threads
    would restore each other's filters.
    """
    global _quiet, _filters
    with _lock:
        if _quiet == 0:
            _filters = warnings.catch_warnings()
            _filters.__enter__()
            warnings.simplefilter("ignore")
        _quiet += 1
    try:
        yield
    finally:
        with _lock:
            _quiet -= 1
            if _quiet == 0:
                _filters.__exit__(None, None, None)
