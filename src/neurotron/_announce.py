"""Say what takes long, or was not expected, on the standard error."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

__all__ = ["announced", "say"]

PATIENCE = 1.0
"""Seconds after which something takes long."""


def say(message: str) -> None:
    """Write a message to the standard error."""
    with contextlib.suppress(OSError, ValueError):  # nobody reads it
        print(message, file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def announced(message: str) -> Iterator[None]:
    """Write a message to the standard error if what follows takes longer than `PATIENCE`."""
    timer = threading.Timer(PATIENCE, say, (message,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
