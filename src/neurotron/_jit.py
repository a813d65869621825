"""Compiles functions, and keeps the compiled code on disk.

This module is imported when something is trained: ``import neurotron`` does not load the compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from types import FrameType
from typing import Any, TypeVar, cast

from numba import config, njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from neurotron._check import InputError
from neurotron._sources import package_hash
from neurotron._text import wrap
from neurotron._waiting import announced, on_ctrl_c

if config.DISABLE_JIT:
    raise InputError("training needs numba's compiler: unset NUMBA_DISABLE_JIT")

F = TypeVar("F", bound=Callable[..., object])

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Other threads run meanwhile; dividing by zero gives infinity."""
WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Python itself must not call such a function. This saves a tenth of the time to compile it."""
SUBJECT = "subject"
"""The attribute of a function that says what it is the formula of."""
WITHOUT_COUNTS: dict[str, Any] = {"_nrt": False}
"""Such a function must not allocate. Views of arrays then cost nothing."""
ABOVE = ("auditing", "cli", "estimators", "guarantees", "lab", "solvers", "work")
"""The folders of this package that have no code to compile, and none that compiled code calls."""


def jit(function: F) -> F:
    """Compile `function` for the compiled functions that call it."""
    return cast(F, njit(**OPTIONS, **WITHOUT_WRAPPERS)(function))


def inline(function: F) -> F:
    """Paste `function` into those that call it, so that their loops are optimised as a whole."""
    return cast(F, njit(**OPTIONS, inline="always")(function))


# ---- code on disk --------------------------------------------------------------------------------


class KeptCode(FunctionCache):
    """The compiled code of a function on disk, found by a hash of all sources that are compiled.

    An edit of one formula thus recompiles all. Code that has become stale is overwritten, because
    its files have the function's name, which no other function may have. Files that cannot be read
    or written are not an error. A file is sealed with a SHA-256: machine code with one wrong bit
    runs, and gives wrong numbers.
    """

    missing: Callable[[], None] = staticmethod(lambda: None)
    """Called when nothing can be loaded, so that what follows is compiled."""

    def __init__(self, function: Any) -> None:
        source = function.py_func
        super().__init__(source)  # RuntimeError if no folder can be written
        compiler = tuple(map(version, ("numba", "llvmlite", "numpy")))
        self.sources = (*compiler, package_hash(ABOVE))
        name = f"{source.__module__}.{source.__qualname__}-{sys.implementation.cache_tag}"
        self._cache_file = IndexDataCacheFile(self.cache_path, name, self.sources)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code that is kept on disk; None if none can be read.

        Unlike numba's own function, it does not first load everything that compiling would need.
        """
        found = None
        try:
            key = self._index_key(signature, context.codegen())
            if kept := self._cache_file.load(key):
                its_key, code = _unsealed(*kept)
                if its_key == key:
                    found = self._impl.rebuild(context, code)
        except Exception:  # unpickling damaged files raises anything
            with contextlib.suppress(Exception):
                self.flush()
        if found is None:
            self.missing()
        return found

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the code on disk, unless the disk is full.

        The key is kept with the code, too. Otherwise old code would be found by a new key, if the
        new code could not be written after the index.
        """
        with contextlib.suppress(Exception):
            if not self._impl.check_cachable(code):
                return
            self._impl.locator.ensure_cache_path()
            key = self._index_key(signature, code.codegen)
            self._cache_file.save(key, _sealed((key, self._impl.reduce(code))))

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """Return what code is found by; numba's own key does not know the functions it calls."""
        return signature, codegen.magic_tuple(), self.sources


def _sealed(content: Any) -> tuple[bytes, bytes]:
    """Return the bytes of something, after their SHA-256."""
    code = dumps(content)
    return hashlib.sha256(code).digest(), code


def _unsealed(digest: bytes, code: bytes) -> Any:
    """Return what was sealed, unless a bit of it has changed."""
    if hashlib.sha256(code).digest() != digest:
        raise ValueError("damaged")
    return pickle.loads(code)


def _kept(function: Any) -> KeptCode | None:
    """Return the code of a function on disk; None if no folder can be written."""
    with contextlib.suppress(RuntimeError):
        return KeptCode(function)
    return None


# ---- functions that Python calls -----------------------------------------------------------------


def entry(function: F) -> F:
    """Compile `function` for Python on its first call, and keep it on disk.

    It must neither allocate nor return a value. A message is shown while it is being compiled.
    """
    return cast(F, Entry(njit(**OPTIONS, **WITHOUT_COUNTS)(function)))


class Entry:
    """A compiled function that Python calls."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.first = threading.Lock()
        self.ready = False
        self.subject = ""
        self.kept: KeptCode | None = None

    def __call__(self, *arguments: Any) -> None:
        if not self.ready:
            with self.first, contextlib.ExitStack() as told:
                self._prepare(told)
                self.function(*arguments)
                self.ready = True
                if self.kept is not None:
                    del self.kept.missing  # it is about this call only
            return
        self.function(*arguments)

    def _prepare(self, told: contextlib.ExitStack) -> None:
        self.kept = _kept(self.function)
        if self.kept is None:
            told.enter_context(compiling(self))
            return
        told.enter_context(interruptible())  # to load kept code can take long, too
        self.function._cache = self.kept
        self.kept.missing = lambda: told.enter_context(compiling(self))


# ---- functions that compiled functions call by their address -------------------------------------


class Compiled:
    """A function that compiled functions call by its address, for arguments of given types.

    It is compiled on its own, once, whoever calls it. It must neither allocate nor return a value
    nor raise an error, which would be lost.
    """

    def __init__(self, function: Any, kinds: tuple[Any, ...]) -> None:
        self.kinds = kinds
        self.subject = getattr(function.py_func, SUBJECT, "")
        """What the function is the formula of, "" for one of the engine's own."""
        self.function = njit(**OPTIONS, **WITHOUT_WRAPPERS, **WITHOUT_COUNTS)(function.py_func)
        self.kept = _kept(self.function)
        self.address = 0
        """Where the code is in memory; 0 if it is not there yet."""

    def load(self) -> bool:
        """Load the code from disk; return whether there is any."""
        if self.kept is not None and not self.address:
            with global_compiler_lock:
                code = self.kept.load_overload(self.kinds, self.function.targetctx)
                if code is not None:
                    self._place(code)
        return self.address != 0

    def compile(self) -> None:
        """Compile the function now, and keep the code on disk."""
        self.function.compile(self.kinds)
        (code,) = self.function.overloads.values()
        self._place(code)
        if self.kept is not None:
            self.kept.save_overload(self.kinds, code)

    def _place(self, code: Any) -> None:
        self.library = code.library  # keeps the code in memory
        self.address = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)


# ---- while it is being compiled ------------------------------------------------------------------

SECONDS_EACH = 0.2
"""About how long it takes to compile one function."""


@contextlib.contextmanager
def compiling(*functions: Entry | Compiled) -> Iterator[None]:
    """Say that functions are being compiled, and let Ctrl-C interrupt it."""
    count = "a function" if len(functions) == 1 else f"{len(functions)} functions"
    seconds = max(2, round(len(functions) * SECONDS_EACH))
    subjects = [name for name in dict.fromkeys(one.subject for one in functions) if name]
    of_what = f" ({', '.join(subjects)})" if subjects else ""
    what = f"neurotron: compiling {count} that this run needs{of_what}"
    if all(function.kept for function in functions):
        message = f"{what}, which happens once and takes about {seconds} seconds ..."
    else:
        message = (
            f"{what}, which takes about {seconds} seconds; set NUMBA_CACHE_DIR to a folder to keep "
            "the result ..."
        )
    with announced(wrap(message, 79)), interruptible():
        yield


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
