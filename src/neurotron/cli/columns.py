"""The columns of a table as numbers, or what is wrong with them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs

from neurotron import _check, _tiny
from neurotron._digits import counted
from neurotron._types import Array, Index, Mask

MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
"""Cells of text that count as missing, in lower case."""
TRUTH = ("true", "false")

Text = TypeVar("Text", pl.Series, pl.Expr)


def numbers(frame: pl.DataFrame, *, decimal_comma: bool) -> dict[str, Array]:
    """Return the usable columns as finite numbers up to 1e70; true and false become 1 and 0.

    `problem_of` says what is wrong with the others. All are read at once, because a wide table
    would take half a millisecond for each of them.
    """
    words = [*frame.select(cs.string())]
    truths = frame.select(words).select(_plain(pl.all()).is_in(TRUTH).all()).row(0) if words else ()
    boolean = [column.name for column, truth in zip(words, truths, strict=True) if truth]
    floats = frame.select(
        _plain(pl.col(boolean)) == TRUTH[0],
        _floats(cs.string() - cs.by_name(boolean), decimal_comma),
        cs.numeric() | cs.boolean(),
    ).cast(pl.Float64)
    names, values = floats.columns, floats.to_numpy().T
    sizes = np.maximum(values.max(axis=1, initial=0.0), -values.min(axis=1, initial=0.0))
    usable = (sizes <= _check.LARGEST) & ((sizes >= _tiny.SMALLEST) | (sizes == 0.0))  # not of NaN
    return {names[place]: values[place] for place in np.flatnonzero(usable)}


def problem_of(column: pl.Series, rows: Index, *, decimal_comma: bool) -> str:
    """Return what is wrong with a column, as the end of a sentence; `rows` are numbers of rows."""
    missing = np.flatnonzero(is_missing(column.to_frame()))
    if missing.size:
        return (
            f"has {counted(missing.size, 'missing value')}, the first in row {rows[missing[0]]}: "
            "fill them in, add --skip-missing to leave out such rows"
        )
    if column.dtype == pl.String:
        values = _floats(column, decimal_comma)
        for place in np.flatnonzero(values.is_null().to_numpy())[:1]:
            cell = column[int(place)]
            comma = ": if its comma separates thousands, remove it; if it is a decimal comma, add "
            hint = f"{comma}--decimal-comma" if "," in cell else ": turn it into numbers"
            return f"holds text, such as {_check.shown(cell)} in row {rows[place]}{hint}"
    elif not column.dtype.is_numeric():
        kind = _check.shorten(str(column.dtype))
        return f"holds values of type {kind}: turn it into numbers"
    else:
        values = column.cast(pl.Float64)
    for place in np.flatnonzero(~(np.abs(values.to_numpy()) <= _check.LARGEST))[:1]:
        return (
            f"has the value {values[int(place)]:g} in row {rows[place]}, but values must be from "
            "-1e70 to 1e70: correct it"
        )
    return _tiny.TINY


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
    return bool(_plain(column).is_in(TRUTH).all())


def _floats(text: Text, decimal_comma: bool) -> Text:
    """Return text as numbers, null where it is none."""
    text = text.str.strip_chars()
    if decimal_comma:  # a point separates thousands, or is a mistake: it makes a number text
        text = text.str.replace_all(".", "·", literal=True).str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)


def _plain(text: Text) -> Text:
    return text.str.strip_chars().str.to_lowercase()
