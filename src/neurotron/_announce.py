"""Messages on standard error about work that takes long or is unexpected."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

__all__ = ["announced", "say"]

PATIENCE = 1.0
"""Seconds after which a message is written."""

_said: set[str] = set()


def say(message: str) -> None:
    """Write a message to standard error."""
    with contextlib.suppress(OSError, ValueError):  # the stream is closed
        print(message, file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def announced(message: str) -> Iterator[None]:
    """Write a message to standard error once, if this context lasts longer than `PATIENCE`."""
    timer = threading.Timer(PATIENCE, _say_once, (message,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        say(message)
