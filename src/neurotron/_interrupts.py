"""What Ctrl-C does while something is under way that must not be torn apart."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["after_this", "on_ctrl_c"]


@contextlib.contextmanager
def on_ctrl_c(answer: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let `answer` be called at Ctrl-C meanwhile, and then again whatever was called before.

    Only the main thread can receive it, and a handler that somebody else set is left alone: in both
    cases `answer` is never called.
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
    """Let the first Ctrl-C wait for the end of what is done here; a second one does not wait."""
    pressed = threading.Event()

    def wait(number: int, _: FrameType | None) -> None:
        pressed.set()
        signal.signal(number, signal.default_int_handler)

    with on_ctrl_c(wait):
        yield
    if pressed.is_set():
        raise KeyboardInterrupt
