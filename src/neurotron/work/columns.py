"""The columns that a study declares, and how the result of a unit becomes rows of these columns.

Workers do this, and need only NumPy. The process that writes makes a table of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from neurotron import _check

Row = dict[str, Any]

OWN = ("setting", "replicate")
"""Columns that every table of results has."""
TYPES: dict[Any, str] = {
    str: "str", bool: "bool", int: "int", float: "float",
    list[int]: "list[int]", list[float]: "list[float]",
}  # fmt: skip
"""The types that a column may have, with their names in files."""


class WrongColumns(_check.InputError):
    """A unit returned something else than the columns that its study declares."""


def checked_columns(columns: Any) -> dict[str, str]:
    """Return declared columns with the names of their types, after checking them.

    >>> checked_columns({"error": float, "errors": "list[float]"})
    {'error': 'float', 'errors': 'list[float]'}
    """
    if not isinstance(columns, Mapping) or not columns:
        raise _check.InputError(
            '`columns` must say what a unit returns, as in {"error": float}, got '
            + _check.shown(columns)
        )
    for name, kind in columns.items():
        if not isinstance(name, str) or not _is_writable(name) or name in OWN:
            raise _check.InputError(
                "the names of columns must be UTF-8 text, and not setting or replicate, which "
                f"every table has: got {_check.shown(name)}"
            )
        if not isinstance(kind, str | type(list[int]) | type) or (
            kind not in TYPES and kind not in TYPES.values()
        ):
            raise _check.InputError(
                f"column {_check.shown(name)} must be declared as one of "
                f"{', '.join(TYPES.values())}, got {_check.shown(kind)}"
            )
    return {name: kind if isinstance(kind, str) else TYPES[kind] for name, kind in columns.items()}


def plain_rows(result: Any, columns: Mapping[str, str]) -> list[Row]:
    """Return what a unit returned as rows of the declared columns.

    A unit returns one row (a mapping from columns to values), a list of rows, a mapping of equally
    long columns, or a table of polars or pandas. None stands for a missing value.

    >>> plain_rows({"name": ["a", "b"], "size": [1, 2.5]}, {"name": "str", "size": "float"})
    [{'name': 'a', 'size': 1.0}, {'name': 'b', 'size': 2.5}]
    >>> plain_rows({"size": 1}, {"size": "float", "name": "str"})
    Traceback (most recent call last):
    ...
    neurotron.work.columns.WrongColumns: the unit returned no column 'name', which ...
    """
    rows = _listed(result, columns)
    for row in rows:
        for name in row:
            if name not in columns:
                raise WrongColumns(
                    f"the unit returned the column {_check.shown(name)}, which the study does not "
                    "declare: add it to `columns`"
                )
        for name in columns:
            if name not in row:
                raise WrongColumns(
                    f"the unit returned no column {name!r}, which the study declares"
                )
    return [{name: _plain(name, row[name], kind) for name, kind in columns.items()} for row in rows]


def _listed(result: Any, columns: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the result of a unit as a list of rows."""
    if hasattr(result, "iter_columns"):  # a table of polars
        result = {column.name: column.to_list() for column in result.iter_columns()}
    elif hasattr(result, "iterrows"):  # a table of pandas
        result = {name: column.tolist() for name, column in result.items()}
    elif isinstance(result, Mapping) and all(
        _is_single(value, columns.get(name, "")) for name, value in result.items()
    ):
        return [result]
    if isinstance(result, Mapping):
        if any(isinstance(v, str | Mapping) or not hasattr(v, "__len__") for v in result.values()):
            raise WrongColumns(
                "a unit must return one value or one list of values for every column, got "
                + _check.shown(result)
            )
        lengths = {len(values) for values in result.values()}
        if len(lengths) > 1:
            raise WrongColumns(
                f"columns must be equally long, got lengths {_check.shown(sorted(lengths))}"
            )
        count = max(lengths, default=0)
        return [{name: values[i] for name, values in result.items()} for i in range(count)]
    if isinstance(result, (list, tuple)) and all(isinstance(row, Mapping) for row in result):
        return list(result)
    raise WrongColumns(
        "a unit must return a row (a mapping from columns to values), a list of rows, a mapping of "
        f"equally long columns, or a table, got {_check.shown(result)}"
    )


def _is_single(value: Any, kind: str) -> bool:
    """Return whether a value is the value of one row, not a list with one for each row."""
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        return True
    if not kind.startswith("list") or not hasattr(value, "__len__"):
        return np.ndim(value) == 0 if isinstance(value, np.ndarray) else False
    return all(isinstance(each, int | float | np.number) for each in value)


def _plain(name: str, value: Any, kind: str) -> Any:
    """Return a value with the type of its column; lists become arrays of int64 or float64."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None:
        return None
    if kind.startswith("list"):
        return _plain_list(name, value, kind)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise _unfit(name, kind, "a whole number of more than 64 bits")
    if kind == "float" and type(value) is int:
        value = float(value)
    if type(value).__name__ != kind:
        raise _unfit(name, kind, _check.shown(value))
    if kind == "str" and not _is_writable(value):
        raise _unfit(name, kind, "text that UTF-8 cannot encode")
    return value


def _plain_list(name: str, value: Any, kind: str) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        raise _unfit(name, kind, _check.shown(value)) from None
    whole = array.dtype.kind in "iu" and not (array.size and int(array.max()) >= 2**63)
    if array.ndim != 1 or not (whole or array.dtype.kind == "f" or not array.size):
        raise _unfit(name, kind, f"an array of shape {array.shape} and type {array.dtype}")
    if kind == "list[int]" and not whole and array.size:
        raise _unfit(name, kind, "a list of floats")
    return array.astype(np.int64 if kind == "list[int]" else np.float64)


def _is_writable(text: str) -> bool:
    """Return whether UTF-8 can encode a text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _unfit(name: str, kind: str, what: str) -> WrongColumns:
    return WrongColumns(f"column {_check.shown(name)} is declared as {kind}, got {what}")
