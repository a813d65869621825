"""Compiles functions, and keeps the compiled code on disk.

This module is imported when something is trained: ``import neurotron`` does not load the compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import signal
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar, cast

from numba import config, njit
from numba.core.caching import FunctionCache

from neurotron._announce import announced
from neurotron._check import InputError
from neurotron._interrupts import on_ctrl_c

__all__ = ["entry", "inline", "jit", "source_hash"]

if config.DISABLE_JIT:
    raise InputError("training needs numba's compiler: unset NUMBA_DISABLE_JIT")

F = TypeVar("F", bound=Callable[..., object])

COMPILED = (
    "_formula.py", "_jit.py", "_philox.py", "_streams.py", "attacks", "engine", "laws",
    "theory/iteration.py", "theory/one_step.py", "trainers",
)  # fmt: skip
"""Where the code of compiled functions lives, with the formulas and numbers that are part of it."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Other threads run meanwhile; dividing by zero gives infinity."""


def jit(function: F) -> F:
    """Compile `function` for the compiled functions that call it; it is not kept on disk.

    Python itself must not call it. Leaving out the wrapper for Python saves a tenth of the time.
    """
    return cast(F, njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def inline(function: F) -> F:
    """Paste `function` into those that call it, so that their loops are optimised as a whole."""
    return cast(F, njit(**OPTIONS, inline="always")(function))


def entry(build: Callable[[str], F]) -> F:
    """Compile the function that ``build(source_hash)`` returns on first use, and keep it on disk.

    numba finds a kept function by its own source and by the values it closes over, not by the
    functions it calls. The returned function must therefore close over that hash, which changes
    with any code it may call: an edited formula is then compiled again. The function must not
    allocate: without reference counts (`_nrt`), views of arrays cost nothing.
    """
    return cast(F, Entry(njit(**OPTIONS, _nrt=False)(build(source_hash()))))


class Entry:
    """A compiled function that Python calls. A message is shown while it is being compiled."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.first = threading.Lock()
        self.message = "neurotron: compiling, which happens once and takes about half a minute ..."
        self.kept: ForgivingCache | None = None
        try:
            self.kept = function._cache = ForgivingCache(function.py_func)
        except RuntimeError:  # no folder can be written
            self.message = (
                "neurotron: compiling, which takes about half a minute; set NUMBA_CACHE_DIR to a "
                "folder to keep the result ..."
            )

    def __call__(self, *arguments: Any) -> Any:
        if not self.function.signatures:
            with self.first, contextlib.ExitStack() as told, interruptible():
                if self.kept is None:
                    told.enter_context(announced(self.message))
                else:  # to load kept code can take long, too
                    self.kept.missing = lambda: told.enter_context(announced(self.message))
                return self.function(*arguments)
        return self.function(*arguments)


class ForgivingCache(FunctionCache):
    """Compiled code on disk. Files that cannot be read or written are not an error."""

    missing: Callable[[], None] = staticmethod(lambda: None)
    """Called when nothing can be loaded, so that what follows is compiled."""

    def load_overload(self, *arguments: Any) -> Any:
        """Return the code that is kept on disk; None if none can be read."""
        found = None
        try:
            found = super().load_overload(*arguments)
        except Exception:  # unpickling damaged code raises anything
            with contextlib.suppress(Exception):
                self.flush()
        if found is None:
            self.missing()
        return found

    def save_overload(self, *arguments: Any) -> None:
        """Keep the code on disk, unless the disk is full."""
        with contextlib.suppress(Exception):
            super().save_overload(*arguments)


@cache
def source_hash(package: Path = Path(__file__).parent) -> str:
    """Return a hash of all code that is compiled."""
    digest = hashlib.sha256()
    for name in COMPILED:
        place = package / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt compilation.

    LLVM calls back into Python, where an exception is only printed and then lost. In that case the
    signal is sent again a little later.
    """
    again: list[threading.Timer] = []

    def hear(number: int, frame: FrameType | None) -> None:
        for timer in again:
            timer.cancel()
        if frame is None or "llvmlite" not in frame.f_code.co_filename:
            again.clear()
            raise KeyboardInterrupt
        again[:] = [threading.Timer(0.05, signal.raise_signal, [number])]
        again[0].daemon = True
        again[0].start()

    try:
        with on_ctrl_c(hear):
            yield
    finally:
        for timer in again:
            timer.cancel()
    if again:
        raise KeyboardInterrupt
