"""Converts what a unit returns to rows of text, numbers, truth values and lists of numbers.

Workers do this, and need only NumPy. The process that writes makes a table of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from neurotron import _check

__all__ = ["Kinds", "Row", "kinds_of", "plain_rows"]

Row = dict[str, Any]
Kinds = dict[str, str]

OWN = ("setting", "replicate")
"""Columns that every table of results has."""
NOTHING, TEXT, TRUTH, WHOLE, REAL = "nothing", "text", "truth value", "whole number", "number"
WHOLES, REALS = "list of whole numbers", "list of numbers"
WIDER = {WHOLE: REAL, WHOLES: REALS}


def plain_rows(result: Any) -> list[Row]:
    """Return what a unit returned (rows, a mapping of columns, or a table) as plain rows.

    All rows have the same columns, each of one kind: numbers are all whole or all floats, and lists
    are arrays. A value that does not fit into a table is refused.

    >>> plain_rows({"name": ["a", "b"], "size": [1, 2.5]})
    [{'name': 'a', 'size': 1.0}, {'name': 'b', 'size': 2.5}]
    """
    rows = _listed(result)
    names = list(rows[0]) if rows else []
    for name in names:
        if not isinstance(name, str) or not _is_writable(name) or name in OWN:
            raise _check.InputError(
                "the names of columns must be UTF-8 text, and not setting or replicate, which "
                f"every table has: got {_check.shown(name)}"
            )
    for row in rows:
        if row.keys() != rows[0].keys():
            raise _check.InputError(
                f"all rows must have the same columns, got {_check.shown([*row])} after "
                f"{_check.shown(names)}"
            )
    columns = {name: [_plain(name, row[name]) for row in rows] for name in names}
    kinds = {name: _common_kind(name, values) for name, values in columns.items()}
    return [
        {name: _as_kind(columns[name][i], kinds[name]) for name in names} for i in range(len(rows))
    ]


def kinds_of(rows: list[Row]) -> Kinds:
    """Return the kind of every column of plain rows."""
    names = rows[0] if rows else {}
    return {name: _common_kind(name, [row[name] for row in rows]) for name in names}


def _listed(result: Any) -> list[Mapping[str, Any]]:
    """Return the result of a unit as a list of rows."""
    if hasattr(result, "iter_rows"):
        result = {column.name: column for column in result.iter_columns()}
    if isinstance(result, Mapping):
        columns = {name: _column(name, values) for name, values in result.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise _check.InputError(
                f"columns must be equally long, got lengths {_check.shown(sorted(lengths))}"
            )
        return [
            {name: columns[name][i] for name in columns} for i in range(max(lengths, default=0))
        ]
    if isinstance(result, (list, tuple)) and all(isinstance(row, Mapping) for row in result):
        return list(result)
    raise _check.InputError(
        "a unit must return a list of rows, each a mapping from columns to values, or a mapping of "
        f"equally long columns, or a polars table, got {_check.shown(result)}"
    )


def _column(name: Any, values: Any) -> list[Any]:
    """Return the values of a column; text is refused, although Python can iterate over it."""
    try:
        each = None if isinstance(values, (str, bytes, Mapping, Set)) else iter(values)
    except TypeError:  # for example a number
        each = None
    if each is None:
        raise _check.InputError(
            f"column {_check.shown(name)} must be a list or an array with one value for each row, "
            f"got {_check.shown(values)}"
        )
    return [*each]


def _plain(name: str, value: Any) -> Any:
    """Return a value as None, a bool, an int, a float, text, or an array of int64 or float64."""
    if hasattr(value, "null_count"):  # a list of a polars table
        if value.null_count():
            raise _unfit(name, "a list with missing values")
        value = value.to_numpy()
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError:  # lists of different lengths
            raise _unfit(name, _check.shown(value)) from None
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, np.ndarray):
        return _plain_array(name, value)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return _stored(name, kind(value))
    if value is not None:
        raise _unfit(name, _check.shown(value))
    return value


def _plain_array(name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if value.ndim != 1 or value.dtype.kind not in "iuf":
        raise _unfit(name, f"an array of shape {value.shape} and type {value.dtype}")
    if value.dtype.kind == "u" and value.size:
        _stored(name, int(value.max()))
    return value.astype(np.float64 if value.dtype.kind == "f" else np.int64)


def _stored(name: str, value: Any) -> Any:
    """Return a value, after refusing those that a file cannot store."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _unfit(name, "a whole number of more than 64 bits")
    if isinstance(value, str) and not _is_writable(value):
        raise _unfit(name, "text that UTF-8 cannot encode")
    return value


def _is_writable(text: str) -> bool:
    """Return whether UTF-8 can encode a text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _unfit(name: str, what: str) -> _check.InputError:
    return _check.InputError(
        f"column {_check.shown(name)} must have text, numbers, truth values, or lists of numbers, "
        f"got {what}"
    )


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return WHOLES if value.dtype.kind == "i" else REALS
    kinds = {type(None): NOTHING, bool: TRUTH, int: WHOLE, float: REAL, str: TEXT}
    return kinds[type(value)]


def _common_kind(name: str, values: list[Any]) -> str:
    """Return the kind of all values of a column, where whole numbers may become floats."""
    kinds = {_kind(value) for value in values} - {NOTHING} or {NOTHING}
    if kinds == {WHOLES, REALS}:  # an empty list is of either kind
        kinds = {_kind(value) for value in values if value is not None and len(value)} or {REALS}
    if kinds in ({WHOLE, REAL}, {WHOLES, REALS}):
        kinds = {WIDER.get(kind, kind) for kind in kinds}
    if len(kinds) > 1:
        raise _check.InputError(
            f"all values of column {_check.shown(name)} must be of one kind, got "
            + " and ".join(f"a {kind}" for kind in sorted(kinds))
        )
    return kinds.pop()


def _as_kind(value: Any, kind: str) -> Any:
    if kind == REAL and value is not None:
        return float(value)
    if isinstance(value, np.ndarray):
        return value.astype(np.int64 if kind == WHOLES else np.float64)
    return value
