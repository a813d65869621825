"""The hash of a function's own code, and of everything that this code uses.

Compiled code is kept on disk under this hash. An edited formula is then compiled again, and a new
formula, which no other function uses, leaves all other compiled code as it is.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

__all__ = ["code_hash"]

COMPILERS = ("numba", "llvmlite", "numpy")
FOREIGN = {*COMPILERS, "builtins", "math", "operator"}
"""What these packages contain is known by its name, and by the version of `COMPILERS`."""
MADE_BY_PYTHON = ("__", "_abc_")
"""How members of a class begin that are not in its source."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)


def code_hash(function: Any, replaced: Mapping[Any, Any] | None = None) -> str:
    """Return a hash of a function's code and of all code and constants that it refers to.

    `replaced` contains the functions that are compiled from another function's code. The hash
    depends on neither comments, nor the place in a file, nor the process that computes it.

    >>> code_hash(lambda x: x + 1) == code_hash(lambda x: x + 1)
    True
    >>> code_hash(lambda x: x + 1) == code_hash(lambda x: x + 2)
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
        if isinstance(value, PLAIN):
            self.found.append((type(value).__name__, repr(value)))
        elif isinstance(value, np.ndarray):
            self.found.append((value.dtype.str, value.shape, value.tobytes()))
        elif isinstance(value, (tuple, list)):
            self.found.append((type(value).__name__, len(value)))
            self._visit_all(value)
        elif isinstance(value, dict):
            self._visit_all(sorted(value.items()))
        elif isinstance(value, CodeType):
            self._visit_code(value, value.co_consts)
        elif hasattr(value, "py_func"):  # a compiled function
            self.visit(value.targetoptions)
            self.visit(value.py_func)
        elif hasattr(value, "_defn"):  # instructions for the compiler
            self.visit(value._defn)
        elif _is_foreign(value):
            self._visit_foreign(value)
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
        elif isinstance(value, type):
            self._visit_class(value)
        else:
            raise _unknown(value)

    def _visit_foreign(self, value: Any) -> None:
        """Add something of another package by its name; it may be of a class of our own."""
        self.found.append(_name(value))
        if not isinstance(value, (type, FunctionType)) and not _is_foreign(type(value)):
            self.visit(type(value))

    def _visit_function(self, function: FunctionType) -> None:
        if function in self.replaced:
            self.visit(self.replaced[function])
            return
        code, constants = function.__code__, function.__code__.co_consts
        described = constants[:1] == (function.__doc__,) != (None,)
        self._visit_code(code, constants[1:] if described else constants)
        self.visit(function.__defaults__)
        self.visit(function.__kwdefaults__)
        self._visit_all(cell.cell_contents for cell in function.__closure__ or ())
        self._visit_names(sorted(_names(code)), function.__globals__)

    def _visit_names(self, names: list[str], home: Mapping[str, Any]) -> None:
        """Add what the names mean in a module, and in the modules that they mean."""
        for value in [home[name] for name in names if name in home]:
            if not isinstance(value, ModuleType):
                self.visit(value)
            elif not _is_foreign(value) and self._is_new(value):
                self._visit_names(names, vars(value))

    def _visit_code(self, code: CodeType, constants: Iterable[Any]) -> None:
        self.found.append((code.co_code, code.co_names, code.co_varnames, code.co_freevars))
        self._visit_all(constants)

    def _visit_class(self, kind: type) -> None:
        """Add what a class defines, or inherits from a class of our own."""
        self.found.append((kind.__name__, getattr(kind, "_fields", ())))
        self.visit(getattr(kind, "_field_defaults", {}))
        self._visit_all(base for base in kind.__bases__ if not _is_foreign(base))
        for name, member in sorted(vars(kind).items()):
            for one in _parts_of(member):
                if isinstance(one, FunctionType):
                    if _is_written(one):
                        self.visit(one)
                elif not name.startswith(MADE_BY_PYTHON) and not hasattr(kind, "_fields"):
                    self.found.append(name)
                    self.visit(one)

    def _visit_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.visit(value)


def _names(code: CodeType) -> set[str]:
    """Return the names that code uses, also in functions that are defined inside."""
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _parts_of(member: Any) -> list[Any]:
    """Return the functions of a class's method or property; another member is its own part."""
    if isinstance(member, (staticmethod, classmethod)):
        return [member.__func__]
    if isinstance(member, property):
        return [one for one in (member.fget, member.fset) if one is not None]
    return [member]


def _is_written(function: FunctionType) -> bool:
    """Return whether a function is neither made from text nor from the standard library."""
    home = _package(function.__globals__.get("__name__"))
    return function.__code__.co_filename != "<string>" and home not in sys.stdlib_module_names


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
        raise _unknown(value)
    return text


def _unknown(value: object) -> TypeError:
    return TypeError(f"compiled code must not refer to {value!r}, whose hash would be unknown")
