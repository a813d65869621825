"""One BLAS thread at a time: who computes many things at once does not want them to compete.

It also keeps results the same to the last bit, which can depend on how a product is divided.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from neurotron._extras import require

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_inside = 0
_limits: Any = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while anybody is inside: the last one out lifts the limit.

    Limits that overlap without being counted restore each other's and leave the process stuck.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            import scipy.linalg  # noqa: F401 — brings a BLAS of its own, which must be there

            _take_over()
            _limits = require("threadpoolctl").threadpool_limits(1, user_api="blas")
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


def _take_over() -> None:
    """Let any thread set limits: since 3.8, those of all but the first one silently do nothing."""
    controller = require("threadpoolctl").OpenBLASController
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)
