"""Checks of the rows that a regressor is given; each error says in one sentence what to do."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from neurotron import _check
from neurotron._types import Array
from neurotron.solvers.robust import NORMAL_MEDIAN

__all__ = ["inputs_of", "labels_of", "units_of", "weights_of", "without_tiny"]

SMALLEST = 1.0 / _check.LARGEST
"""A column must have a value of this size, unless all are zero; smaller ones count as zero."""
TINY = f"has no value beyond {SMALLEST:g}: give it in another unit"

ENCODE = (
    "encode it as numbers first, for example with a OneHotEncoder in a ColumnTransformer in front "
    "of the regressor in a Pipeline"
)
FILL = (
    "fill them, for example with a SimpleImputer in front of the regressor in a Pipeline, or leave "
    "out these rows"
)


def inputs_of(model: BaseEstimator, X: Any, *, reset: bool) -> Array:
    """Return the inputs as a finite float64 array (N, n); with `reset`, remember the columns."""
    if sparse.issparse(X):
        raise _check.InputError(
            "`X` is a sparse matrix, and only dense ones are supported: give X.toarray(), or set "
            "sparse_output=False in the encoder"
        )
    _refuse_text(X)
    rows = validate_data(
        model, X, reset=reset, dtype=np.float64, ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )  # fmt: skip
    columns = getattr(model, "feature_names_in_", None)
    _refuse_infinite("X", rows, columns)
    _refuse_huge("X", rows, columns)
    return np.ascontiguousarray(rows)


def labels_of(model: BaseEstimator, X: Array, y: Any) -> Array:
    """Return the labels as a finite float64 array (N,)."""
    if y is None:
        raise _check.InputError(
            f"{type(model).__name__} requires y to be passed, but the target y is None: give the "
            "labels of the rows"
        )
    if sparse.issparse(y):
        raise _check.InputError("`y` is a sparse matrix: give y.toarray().ravel()")
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] > 1:
        raise _check.InputError(
            f"`y` has {given.shape[1]} columns, and there is only one output: fit one regressor "
            "for each column, for example with sklearn.multioutput.MultiOutputRegressor"
        )
    labels = column_or_1d(given, warn=True)
    check_consistent_length(X, labels)
    if labels.dtype.kind == "O":
        labels = np.array([_label(value) for value in labels])
    if labels.dtype.kind not in "biuf":
        raise _no_number(labels[0])
    labels = np.asarray(labels, np.float64)
    _refuse_infinite("y", labels[:, None], None)
    _refuse_huge("y", labels[:, None], None)
    return labels


def without_tiny(model: BaseEstimator, X: Array, y: Array) -> tuple[Array, Array]:
    """Return rows to fit with 0 for values below 1e-70, whose squares are far below all others.

    A column that has only such values is refused.
    """
    for place, column in enumerate(X.T):
        if _is_tiny(column):
            name = _column(place, getattr(model, "feature_names_in_", None))
            raise _check.InputError(f"column {name} of `X` {TINY}")
    if _is_tiny(y):
        raise _check.InputError(f"`y` {TINY}")
    return _zeroed(X), _zeroed(y[:, None])[:, 0]


def _is_tiny(column: Array) -> bool:
    return bool(column.any() and _sizes(column) < SMALLEST)


def _zeroed(values: Array) -> Array:
    """Return the values with 0 for tiny ones; a copy is made only if there are any."""
    if not any(column[np.abs(column) < SMALLEST].any() for column in values.T):
        return values
    return np.where(np.abs(values) < SMALLEST, 0.0, values)


def weights_of(sample_weight: Any, rows: int) -> Array | None:
    """Return how much every row counts, with mean 1; None if all count the same."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        _check.number("sample_weight", sample_weight, "(0, inf)")
        return None
    return _check.sample_weight(sample_weight, rows)


def units_of(rows: Array) -> tuple[Array, Array]:
    """Return the median and the spread of every column, where a constant column has spread 1."""
    centre = np.median(rows, axis=0)
    spread = np.median(np.abs(rows - centre), axis=0) / NORMAL_MEDIAN
    deviation = rows.std(axis=0)
    spread = np.where(spread > 1e-12 * deviation, spread, deviation)
    return centre, np.where(spread > 0.0, spread, 1.0)


def _label(value: Any) -> float:
    """Return a label of an array of objects as a number; a missing one is NaN."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    if isinstance(value, Real):
        return float(value)
    raise _no_number(value)


def _no_number(value: Any) -> _check.InputError:
    return _check.InputError(
        f"`y` must be numbers, got {_check.shown(value)}: this model is a regressor, so encode the "
        "labels as numbers"
    )


def _refuse_text(X: Any) -> None:
    """Refuse columns of text, with the name of the first one."""
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "dtypes"):
        for name, kind in zip(columns, list(X.dtypes), strict=True):
            if _is_text(kind) or (str(kind) == "object" and _has_text(np.asarray(X[name]))):
                raise _check.InputError(
                    f"column {_check.shown(name)} of `X` holds {_kind(kind)}: {ENCODE}"
                )
        return
    try:
        given = np.asarray(X) if isinstance(X, (list, tuple)) else X
    except ValueError:
        raise _check.InputError(
            "`X` must be a table: give as many values in each row as in the others"
        ) from None
    if isinstance(given, np.ndarray) and _has_text(given):
        raise _check.InputError(f"`X` holds text: {ENCODE}")


def _has_text(values: Any) -> bool:
    if values.dtype.kind == "O":
        return any(isinstance(value, str) for value in values.flat)
    return values.dtype.kind in "US"


def _is_text(kind: Any) -> bool:
    """Whether a column of this pandas or polars type does not hold numbers."""
    if hasattr(kind, "is_numeric") and not hasattr(kind, "kind"):  # polars
        return not (kind.is_numeric() or str(kind) == "Boolean")
    return getattr(kind, "kind", "O") not in "biufc" and str(kind) != "object"


def _kind(kind: Any) -> str:
    name = str(kind).lower()
    if any(part in name for part in ("date", "time", "duration", "period")):
        return "dates or times"
    return "categories" if any(part in name for part in ("cat", "enum")) else "text"


def _refuse_infinite(name: str, values: Array, columns: Any) -> None:
    """Refuse missing and infinite values, with the place of the first one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # fast, and true unless finite numbers are huge
            return
    for what, wrong, remedy in (
        ("missing values (NaN)", np.isnan(values), FILL),
        ("infinite values (inf)", np.isinf(values), "replace them or leave out these rows"),
    ):
        if wrong.any():
            row, column = (int(axis) for axis in np.argwhere(wrong)[0])
            raise _check.InputError(
                f"`{name}` has {int(wrong.sum()):,} {what}, the first in "
                f"{_place(name, row, column, columns)}: {remedy}"
            )


def _refuse_huge(name: str, values: Array, columns: Any) -> None:
    """Refuse values whose fourth powers would overflow."""
    if _sizes(values).max(initial=0.0) > _check.LARGEST:
        row, column = (int(axis) for axis in np.argwhere(np.abs(values) > _check.LARGEST)[0])
        raise _check.InputError(
            f"`{name}` has the value {values[row, column]:g} in "
            f"{_place(name, row, column, columns)}, but values must be from -1e70 to 1e70: "
            "correct it, or give it in another unit"
        )


def _sizes(values: Array) -> Array:
    """Return the largest absolute value of every column, without a copy of the table."""
    return np.maximum(values.max(axis=0), -values.min(axis=0))


def _place(name: str, row: int, column: int, columns: Any) -> str:
    """Return where a value is."""
    where = f" of column {_column(column, columns)}" if name == "X" else ""
    return f"row {row:,}{where} (counted from 0)"


def _column(column: int, columns: Any) -> str:
    return str(column) if columns is None else _check.shown(columns[column])
