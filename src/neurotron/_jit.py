"""The one place that knows how functions are compiled and kept on disk.

Imported only once something is trained: ``import neurotron`` does not load the compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from numba import njit

__all__ = ["announced", "entry", "inline", "jit"]

F = TypeVar("F", bound=Callable[..., object])

COMPILED = ("_formula.py", "_jit.py", "attacks", "engine", "laws", "trainers")
"""Where the code of compiled functions lives, formulas included."""


def jit(function: F) -> F:
    """Compile `function` for those that call it: no GIL, IEEE division, kept nowhere."""
    return cast(F, njit(nogil=True, error_model="numpy")(function))


def inline(function: F) -> F:
    """Paste `function` into those that call it, so that their loops are optimised as a whole."""
    return cast(F, njit(nogil=True, error_model="numpy", inline="always")(function))


def entry(build: Callable[[str], F]) -> F:
    """Compile the function that ``build(stamp)`` returns on first use, and keep it on disk.

    numba finds a kept function by its own source and by the values it closes over, not by the
    functions it calls. So the returned function must close over the `stamp`, which changes with any
    code it may call: an edited formula is seen. It must not allocate: without reference counts
    (`_nrt`) views of arrays cost nothing.
    """
    function = njit(nogil=True, error_model="numpy", _nrt=False)(build(stamp()))
    # numba raises RuntimeError when no folder can be written: compile in every process then
    with contextlib.suppress(RuntimeError):
        function.enable_caching()
    return function


@cache
def stamp() -> str:
    """Return a hash of all code that is compiled."""
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for name in COMPILED:
        place = package / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def announced(message: str, after: float = 1.0) -> Iterator[None]:
    """Write a message to the standard error if what follows takes longer than `after` seconds."""

    def write() -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads it
            print(message, file=sys.stderr, flush=True)  # noqa: T201

    timer = threading.Timer(after, write)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
