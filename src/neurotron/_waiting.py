"""What a person sees and may do while work takes long: messages on standard error, and Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

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


@contextlib.contextmanager
def on_ctrl_c(answer: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call `answer` on Ctrl-C inside this context; afterwards the old handler is restored.

    Only the main thread receives Ctrl-C, and a handler that other code has installed is left in
    place. Outside the main thread, or with such a handler, `answer` is never called.
    """
    previous = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or previous is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def after_this() -> Iterator[None]:
    """Delay the first Ctrl-C until the end of this context; a second one is not delayed."""
    pressed = threading.Event()

    def wait(number: int, _: FrameType | None) -> None:
        pressed.set()
        signal.signal(number, signal.default_int_handler)

    with on_ctrl_c(wait):
        yield
    if pressed.is_set():
        raise KeyboardInterrupt
