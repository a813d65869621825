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
from collections.abc import Callable, Iterator
from typing import Any


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on all systems
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Shared:
    """A context that several threads may enter: the first one begins it, the last one ends it.

    If each thread had its own, overlapping ones would restore each other's state, and the process
    would stay changed.
    """

    def __init__(self, make: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self.make, self.lock, self.inside = make, threading.Lock(), 0
        self.__doc__ = make.__doc__

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Enter the context."""
        with self.lock:
            if self.inside == 0:
                self.context = self.make()
                self.context.__enter__()
            self.inside += 1
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                if self.inside == 0:
                    self.context.__exit__(None, None, None)


@_Shared
@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside this context."""
    import scipy.linalg  # noqa: F401 — loads its own BLAS, which must be limited as well

    _take_over()
    limits = _controller().limit(limits=1, user_api="blas")
    yield
    _take_over()
    limits.restore_original_limits()
    _take_over()


@_Shared
@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Silence warnings inside this context."""
    with warnings.catch_warnings(action="ignore"):
        yield


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
