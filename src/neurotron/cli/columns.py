"""The columns of a table as numbers, or what is wrong with them."""

from __future__ import annotations

import re
from typing import TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs

from neurotron import _check, _tiny
from neurotron._digits import counted
from neurotron._types import Array, Index, Mask

__all__ = ["MissingValues", "WrongColumn", "is_boolean", "is_missing", "numbers", "usual_numbers"]

MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
"""Cells of text that count as missing, in lower case."""
LARGEST_WHOLE = 2**53 - 1
"""Larger whole numbers are not all exact: 2**53 + 1 becomes 2**53 as a floating-point number."""

THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*$"
"""Text in which commas seem to separate thousands."""

Text = TypeVar("Text", pl.Series, pl.Expr)


class WrongColumn(Exception):
    """What is wrong with a column, as the end of a sentence about it."""


class MissingValues(WrongColumn):
    """A column has missing values, so that some rows cannot be used."""


def numbers(column: pl.Series, rows: Index, *, decimal_comma: bool) -> Array:
    """Return a column as finite numbers up to 1e70; `rows` are their numbers, for errors."""
    missing = np.flatnonzero(is_missing(column.to_frame()))
    if missing.size:
        raise MissingValues(
            f"has {counted(missing.size, 'missing value')}, the first in row {rows[missing[0]]}: "
            "fill them in, add --skip-missing to leave out such rows"
        )
    values = _parsed(column, rows, decimal_comma) if column.dtype == pl.String else _cast(column)
    _check_range(column, values, rows)
    return values


def usual_numbers(frame: pl.DataFrame, *, decimal_comma: bool) -> dict[str, Array]:
    """Return the columns that have numbers of usual size only; `numbers` says what the others are.

    All are read at once: on its own, each of them would take a wide table half a millisecond.
    """
    floats = frame.select(
        _as_floats(cs.string(), decimal_comma), (cs.numeric() | cs.boolean()).cast(pl.Float64)
    )
    names, values = floats.columns, floats.to_numpy().T
    largest, least = values.max(axis=1, initial=0.0), values.min(axis=1, initial=0.0)
    sizes = np.maximum(largest, -least)  # NaN where a cell is no number
    usual = (sizes <= LARGEST_WHOLE) & ((sizes >= _tiny.SMALLEST) | (sizes == 0.0))
    return {names[place]: values[place] for place in np.flatnonzero(usual)}


def _as_floats(text: Text, decimal_comma: bool) -> Text:
    """Return text as numbers, null where it is none."""
    text = text.str.strip_chars()
    if decimal_comma:  # a point separates thousands, or is a mistake: it makes a number text
        text = text.str.replace_all(".", "·", literal=True).str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)


def _parsed(column: pl.Series, rows: Index, decimal_comma: bool) -> Array:
    """Return a column of text as numbers."""
    if is_boolean(column):
        return (_plain(column) == "true").to_numpy().astype(np.float64)
    values = _as_floats(column, decimal_comma)
    wrong = np.flatnonzero(values.is_null().to_numpy())
    if wrong.size:
        cell = column[int(wrong[0])]
        what = f"holds text, such as {_check.shown(cell)} in row {rows[wrong[0]]}"
        if column.filter(values.is_null()).str.contains(THOUSANDS).all():
            raise WrongColumn(f"{what}: if commas separate thousands, remove them")
        if re.fullmatch(r"\s*[-+]?\d*,\d+\s*", cell):
            raise WrongColumn(f"{what}: if that is a decimal comma, add --decimal-comma")
        raise WrongColumn(f"{what}: turn it into numbers")
    return values.to_numpy()


def _check_range(column: pl.Series, values: Array, rows: Index) -> None:
    large = np.flatnonzero(~(np.abs(values) <= _check.LARGEST))
    if large.size:
        raise WrongColumn(
            f"has the value {values[large[0]]:g} in row {rows[large[0]]}, but values must "
            "be from -1e70 to 1e70: correct it"
        )
    if 0.0 < np.abs(values).max() < _tiny.SMALLEST:
        raise WrongColumn(_tiny.TINY)
    whole = column.dtype.is_integer() or column.dtype == pl.String
    for place in np.flatnonzero(np.abs(values) > LARGEST_WHOLE)[:1] if whole else ():
        cell = str(column[int(place)]).strip()
        if cell.lstrip("+-").isdigit():
            raise WrongColumn(
                f"has the whole number {_check.shorten(cell)} in row {rows[place]}, "
                "too large to be exact: if it is not the name of something, write it as 1.5e17"
            )


def _plain(text: Text) -> Text:
    return text.str.strip_chars().str.to_lowercase()


def is_missing(frame: pl.DataFrame) -> Mask:
    """Return which cells have no value, with the columns in any order."""
    missing = frame.select(
        _plain(cs.string()).is_in(MISSING), cs.float().is_nan(),
        (~(cs.string() | cs.float())).is_null(),
    )  # fmt: skip
    return missing.fill_null(True).to_numpy()


def is_boolean(column: pl.Series) -> bool:
    """Return whether all values are true or false."""
    if column.dtype != pl.String:
        return column.dtype == pl.Boolean
    return bool(_plain(column).is_in(["true", "false"]).all())


def _cast(column: pl.Series) -> Array:
    """Return a column of numbers or truth values as floats."""
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        days = ", such as days since the first" if column.dtype.is_temporal() else ""
        raise WrongColumn(f"holds {_kind(column.dtype)}: turn it into numbers{days}")
    return column.cast(pl.Float64).to_numpy()


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_temporal():
        return "dates or times"
    if dtype in (pl.Categorical, pl.Enum):
        return "categories"
    return f"values of type {_check.shorten(str(dtype))}"
