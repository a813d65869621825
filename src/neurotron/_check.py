"""Checks of input, each with one clear sentence as its error message.

Input is checked before any work is done. A check returns the value in its clean form (``float``,
``int``, a read-only ``float64`` array), so that a constructor can write
``number("bound", bound, "[0, inf)")``.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import math
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from neurotron._digits import readable
from neurotron._text import either
from neurotron._types import Array

T = TypeVar("T")
A = TypeVar("A", bound=npt.NDArray[Any])

MOST_ENTRIES = 10**8
"""Largest number of entries of an array, 800 MB."""
LARGEST = 1e70
"""Largest entry of a matrix, so that fourth powers do not overflow."""
MOST_DIGITS = 1000
"""Largest number of digits of a whole number; Python itself prints at most 4300."""


class InputError(ValueError):
    """An argument cannot be used; the message says which one, and what to give instead."""


def number(name: str, value: object, interval: str) -> float:
    """Return `value` as a float inside `interval`, written as in ``"[0, 1]"`` or ``"(0, inf)"``.

    >>> number("probability", 0.5, "[0, 1]")
    0.5
    >>> number("probability", 1.5, "[0, 1]")
    Traceback (most recent call last):
    neurotron._check.InputError: `probability` must be in [0, 1], got 1.5
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"`{name}` must be a number in {interval}, got {shown(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.copysign(math.inf, value > 0 or -1)  # type: ignore[operator]
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = result >= low if interval[0] == "[" else result > low
    below = result <= high if interval[-1] == "]" else result < high
    if not (above and below):
        raise InputError(f"`{name}` must be in {interval}, got {result:g}")
    return result


def integer(name: str, value: object, low: int, high: float = math.inf) -> int:
    """Return `value` as an int in [low, high].

    >>> integer("width", 0, 1)
    Traceback (most recent call last):
    neurotron._check.InputError: `width` must be a whole number of at least 1, got 0
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not low <= int(value) <= high:  # type: ignore[call-overload]
        limit = (
            f"of at least {low}"
            if high == math.inf
            else f"from {low} to {readable(float(min(high, 10**300)), 6 if high > 10**15 else 15)}"
        )
        raise InputError(f"`{name}` must be a whole number {limit}, got {shown(value)}")
    result = int(value)  # type: ignore[call-overload]
    if result >= 10**MOST_DIGITS:
        raise InputError(f"`{name}` must have at most {MOST_DIGITS} digits")
    return result


def count(name: str, value: object, low: int, high: float = math.inf) -> int:
    """Return `value` as an int in [low, high]; a whole float such as 1e6 is accepted, too.

    >>> count("steps", 1e6, 0)
    1000000
    """
    whole = isinstance(value, float) and value.is_integer()
    return integer(name, int(value) if whole else value, low, high)  # type: ignore[call-overload]


def entries(what: str, *sizes: int) -> None:
    """Refuse an array that would not fit into memory, given its `sizes` along each axis.

    >>> entries("the covariance", 20_000, 20_000)
    Traceback (most recent call last):
    neurotron._check.InputError: the covariance must have at most 100,000,000 entries, got ...
    """
    if math.prod(sizes) > MOST_ENTRIES:
        product = " × ".join(map(shown, sizes))
        raise InputError(f"{what} must have at most {MOST_ENTRIES:,} entries, got {product}")


def whole_numbers(name: str, value: npt.ArrayLike, low: int, high: int) -> npt.NDArray[np.int64]:
    """Return `value`, one whole number or a list of them in [low, high], as an array."""
    try:
        given = np.asarray(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        given = np.empty(0)
    entries(f"`{name}`", *given.shape)
    inside = given.dtype.kind in "iu" and given.ndim <= 1 and given.size > 0
    if not inside or given.min() < low or given.max() > high:
        raise InputError(
            f"`{name}` must be whole numbers from {low} to {high:g}, got {shown(value)}"
        )
    return given.astype(np.int64)


def choice(name: str, value: object, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`; otherwise raise an error that lists them."""
    if isinstance(value, str) and value in options:
        return value
    raise InputError(f"`{name}` must be one of {', '.join(map(repr, options))}, got {shown(value)}")


def instance(name: str, value: object, kind: type[T]) -> T:
    """Return `value` if it is an instance of `kind`."""
    if isinstance(value, kind):
        return value
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise InputError(f"`{name}` must be {article} {kind.__name__}, got {shown(value)}")


def function(name: str, value: object, arguments: str) -> None:
    """Refuse a value that cannot be called; the message names its `arguments`, as "(step)"."""
    if not callable(value):
        raise InputError(f"`{name}` must be a function of {arguments}, got {shown(value)}")


def sample_weight(value: npt.ArrayLike, rows: int) -> Array:
    """Return how much each row counts, with mean 1.

    >>> sample_weight([1, 3], 2)
    array([0.5, 1.5])
    """
    weight = array("sample_weight", value, (rows,))
    if weight.min() < 0.0 or not weight.any():
        raise InputError("`sample_weight` must be nonnegative and not all zero")
    relative = weight / weight.max()  # whose mean neither overflows nor vanishes
    return freeze(relative / relative.mean())


def text(name: str, value: object) -> str:
    """Return `value` if it is text."""
    if isinstance(value, str):
        return value
    raise InputError(f"`{name}` must be text, got {shown(value)}")


def path(name: str, value: object, *endings: str) -> Path:
    """Return `value` as a path, if it can be the name of a file or folder, and ends as wanted.

    >>> path("folder", "")
    Traceback (most recent call last):
    neurotron._check.InputError: `folder` must be the name of a file or folder, got ''
    """
    reason = ""
    if isinstance(value, (str, Path)) and str(value):
        try:
            os.lstat(value)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            pass
        except OSError as error:
            reason = f" ({error.strerror})"
        except ValueError as error:
            reason = f" ({error})"
        if not reason and endings and Path(value).suffix.lower() not in endings:
            raise InputError(f"`{name}` must end in {either(endings)}, got {shown(str(value))}")
        if not reason:
            return Path(value)
    text = shown(str(value) if isinstance(value, Path) else value)
    raise InputError(f"`{name}` must be the name of a file or folder, got {text}{reason}")


def array(
    name: str,
    value: npt.ArrayLike,
    shape: tuple[int | str, ...],
    largest: float = math.inf,
    *,
    copy: bool = True,
) -> Array:
    """Return `value` as a new, read-only, finite float64 array of `shape`.

    A letter in `shape` stands for any length of at least one. The absolute value of an entry may be
    at most `largest`. Without `copy`, the result is a read-only view of an array that is given.

    >>> array("weights", [1, 2], ("r",))
    array([1., 2.])
    >>> array("rows", [[1.0, 2.0], [3.0, float("nan")]], ("N", "n"))
    Traceback (most recent call last):
    neurotron._check.InputError: `rows` must be finite, got nan at row 1, column 1
    """
    result = numbers(name, value)
    result = np.array(result) if copy else np.ascontiguousarray(result).view()
    fits = len(shape) == result.ndim and all(
        size >= 1 if isinstance(wanted, str) else size == wanted
        for size, wanted in zip(result.shape, shape, strict=True)
    )
    if not fits:
        wanted_text = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
        column = len(shape) == 1 and result.shape[1:] == (1,)
        remedy = f": give its only column, {name}.ravel()" if column else ""
        raise InputError(f"`{name}` must have shape {wanted_text}, got {result.shape}{remedy}")
    finite = np.isfinite(result)
    if not finite.all():
        place = tuple(int(axis) for axis in np.argwhere(~finite)[0])
        raise InputError(f"`{name}` must be finite, got {result[place]} at {_place(place)}")
    if max(result.max(), -result.min()) > largest:
        raise InputError(f"`{name}` must have entries in [-{largest:g}, {largest:g}]")
    return freeze(np.ascontiguousarray(result))


def refuse_masked(name: str, value: object) -> None:
    """Refuse a masked array, or a list of them, whose hidden values would be used as data."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise InputError(
            f"`{name}` is a masked array: fill the masked values, or leave out these rows"
        )


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """Return `value` as a float64 array of any shape; entries need not be finite.

    An array of this type is returned itself, not copied.
    """
    refuse_masked(name, value)
    given = np.array([None])
    with contextlib.suppress(TypeError, ValueError, OverflowError, RecursionError):
        given = np.asarray(value)
    entries(f"`{name}`", *given.shape)
    if given.dtype.kind == "O" and all(isinstance(item, Real) for item in given.flat):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            given = given.astype(np.float64)
    if given.dtype.kind not in "biuf":
        raise InputError(f"`{name}` must be an array of numbers, got {shown(value)}")
    return np.asarray(given, np.float64)


def unknown(kind: str, name: object, known: Iterable[str], meant: str | None = None) -> InputError:
    """Return the error about an unknown `name`, with the known one that is `meant` or nearest.

    >>> print(unknown("law", "norml", ["laplace", "normal"]))
    unknown law 'norml': did you mean 'normal'? known: laplace, normal
    """
    known = sorted(known)
    near = difflib.get_close_matches(str(name)[:100], known, n=1, cutoff=0.5)
    near = [meant] if meant in known else near
    hint = f"did you mean {near[0]!r}? " if near else ""
    listed = printable(textwrap.shorten(", ".join(known), 250, placeholder=" …"))
    return InputError(f"unknown {kind} {shown(name)}: {hint}known: {listed}")


def shown(value: object) -> str:
    """Return any value as error messages show it: one line of at most 60 characters."""
    try:
        line = " ".join(repr(value).split())
    except Exception:  # nested too deeply, thousands of digits, or a broken __repr__
        line = f"<{type(value).__name__}>"
    return shorten(printable(line[:100]))


def shapes(values: Mapping[str, object]) -> str:
    """Return arrays by their names and shapes, and other values as they are, for a short text.

    >>> shapes({"weights": np.ones((3, 2)), "step": 5})
    'weights (3, 2), step=5'
    """
    return ", ".join(
        f"{name} {value.shape}" if isinstance(value, np.ndarray) else f"{name}={shown(value)}"
        for name, value in values.items()
    )


def printable(text: str) -> str:
    """Return a text with a question mark in place of every invisible character."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def shorten(text: str) -> str:
    """Return a text, cut to at most 60 characters."""
    return text if len(text) <= 60 else text[:57] + "..."


def freeze(value: A) -> A:
    """Return `value` itself, made read-only."""
    value.flags.writeable = False
    return value


def equal(one: Any, other: Any) -> bool:
    """Return whether two objects hold equal values, including arrays and nested objects.

    Cached properties are ignored. Classes that define `__eq__` are compared with it.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(equal, one, other))
    if not hasattr(one, "__dict__") or _has_own_equality(type(one)):
        return bool(one == other)
    names = {name for name in vars(one) | vars(other) if not is_cached(type(one), name)}
    return all(equal(getattr(one, name, None), getattr(other, name, None)) for name in names)


def _has_own_equality(kind: type) -> bool:
    made_by_dataclass = getattr(getattr(kind, "__dataclass_params__", None), "eq", False)
    return getattr(kind, "__eq__", None) is not object.__eq__ and not made_by_dataclass


def is_cached(kind: type, name: str) -> bool:
    """Return whether an attribute holds the value of a cached property of the class."""
    return isinstance(getattr(kind, name, None), functools.cached_property)


def _place(place: tuple[int, ...]) -> str:
    if len(place) == 2:
        return f"row {place[0]}, column {place[1]}"
    return f"position {', '.join(map(str, place))}"
