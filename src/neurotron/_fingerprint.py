"""The hash of a function's own code, and of everything that this code uses.

Compiled code is kept on disk under this hash. An edited formula is then compiled again, and a new
formula, which no other function uses, leaves all other compiled code as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]

COMPILERS = ("numba", "llvmlite", "numpy")
FOREIGN = {*COMPILERS, "builtins", "math", "operator"}
"""What these packages contain is known by its name, and by the version of `COMPILERS`."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)


def fingerprint(function: Any, replaced: Mapping[Any, Any] | None = None) -> str:
    """Return a hash of a function's code and of all code and constants that it refers to.

    `replaced` contains the functions that are compiled from another function's code. The hash
    depends on neither comments, nor the place in a file, nor the process that computes it.

    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1)
    True
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 2)
    False
    """
    walk = _Walk(replaced or {})
    walk.visit(function)
    return hashlib.sha256(repr((_versions(), walk.found)).encode()).hexdigest()


@cache
def _versions() -> tuple[str, ...]:
    return tuple(version(name) for name in COMPILERS)


class _Walk:
    """Lists everything that code depends on, always in the same order."""

    def __init__(self, replaced: Mapping[Any, Any]) -> None:
        self.replaced = replaced
        self.found: list[object] = []
        self.numbers: dict[int, int] = {}
        """In which order functions and classes were met, by identity."""
        self.met: list[object] = []
        """The same objects, so that their identity is not given to another one."""

    def visit(self, value: Any) -> None:
        """Add a value, and what it refers to."""
        value = getattr(value, "py_func", value)  # of a compiled function
        value = getattr(value, "_defn", value)  # of instructions for the compiler
        if isinstance(value, PLAIN):
            self.found.append((type(value).__name__, repr(value)))
        elif isinstance(value, np.ndarray):
            self.found.append((value.dtype.str, value.shape, value.tobytes()))
        elif isinstance(value, (tuple, list)):
            self.found.append((type(value).__name__, len(value)))
            self._visit_all(value)
        elif isinstance(value, CodeType):
            self._visit_code(value)
        elif _is_foreign(value):
            self.found.append(_name(value))
        elif self._is_new(value):
            self._visit_once(value)

    def _is_new(self, value: object) -> bool:
        number = self.numbers.setdefault(id(value), len(self.met))
        self.found.append(number)
        if number < len(self.met):
            return False
        self.met.append(value)
        return True

    def _visit_once(self, value: Any) -> None:
        if isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self.found.append((value.__name__, value._fields))
        else:
            raise TypeError(f"compiled code must not refer to {value!r}, which has no fingerprint")

    def _visit_function(self, function: FunctionType) -> None:
        if function in self.replaced:
            self.visit(self.replaced[function])
            return
        self.visit(function.__code__)
        self.visit(function.__defaults__)
        self._visit_all(cell.cell_contents for cell in function.__closure__ or ())
        names = sorted(_names(function.__code__))
        values = [function.__globals__[name] for name in names if name in function.__globals__]
        for module in [value for value in values if isinstance(value, ModuleType)]:
            if not _is_foreign(module):
                values += [vars(module)[name] for name in names if name in vars(module)]
        self._visit_all(value for value in values if not isinstance(value, ModuleType))

    def _visit_code(self, code: CodeType) -> None:
        self.found.append((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
        self._visit_all(code.co_consts)

    def _visit_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.visit(value)


def _names(code: CodeType) -> set[str]:
    """Return the names that code uses, also in functions that are defined inside."""
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _is_foreign(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return _package(value.__name__) in FOREIGN
    if isinstance(value, FunctionType):
        return _package(value.__module__) in COMPILERS
    if isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        return _package(getattr(value, "__module__", None)) in FOREIGN
    return any(_package(base.__module__) in COMPILERS for base in type(value).__mro__)


def _package(module: str | None) -> str:
    return (module or "builtins").split(".")[0]


def _name(value: Any) -> str:
    named: Callable[..., Any] | None = getattr(value, "__qualname__", None)
    text = f"{value.__module__}.{named}" if named else f"{type(value).__qualname__} {value}"
    if " at 0x" in text:
        raise TypeError(f"compiled code must not refer to {text}, which differs in every process")
    return text
