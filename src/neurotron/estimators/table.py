"""Checks of the rows that a regressor is given; each error says in one sentence what to do."""

from __future__ import annotations

import datetime
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from neurotron import _check
from neurotron._tiny import without_tiny, zeroed
from neurotron._types import Array, Index
from neurotron.guarantee import Assumption, stated
from neurotron.residuals.robust import NORMAL_MEDIAN

ENCODE = (
    "encode it as numbers first, for example with a OneHotEncoder in a ColumnTransformer in front "
    "of the regressor in a Pipeline"
)
TEXT, TIMES = "text", "dates or times"
COUNT = "turn them into numbers first, such as days since the first one"
LEAVE_OUT = "leave out these rows"
FILL = (
    "fill them, for example with a SimpleImputer in front of the regressor in a Pipeline, or "
    + LEAVE_OUT
)
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def inputs_of(model: BaseEstimator, X: Any, *, reset: bool) -> Array:
    """Return the inputs as a finite float64 array (N, n); with `reset`, remember the columns."""
    _check.refuse_masked("X", X)
    if sparse.issparse(X):
        raise _check.InputError(
            "`X` is a sparse matrix, and only dense ones are supported: give X.toarray(), or set "
            "sparse_output=False in the encoder"
        )
    _refuse_other_than_numbers(X)
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
    _check.refuse_masked("y", y)
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


def large_enough(model: BaseEstimator, X: Array, y: Array) -> tuple[Array, Array]:
    """Return rows without tiny values; a column that has no others is refused by its name."""
    columns = getattr(model, "feature_names_in_", None)
    return without_tiny("X", X, lambda place: _column(place, columns)), without_tiny("y", y)


def weights_of(sample_weight: Any, rows: int) -> Array | None:
    """Return how much every row counts, with mean 1; None if all count the same."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        _check.number("sample_weight", sample_weight, "(0, inf)")
        return None
    return _check.sample_weight(sample_weight, rows)


def rows_of(X: Any, chosen: Index) -> Any:
    """Return some rows of a table in any form."""
    try:
        return _safe_indexing(X.tocsr() if hasattr(X, "tocsr") else X, chosen)
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise _check.InputError(
            f"`X` must be a table whose rows can be chosen, such as an array (N, n), got "
            f"{_check.shown(type(X).__name__)} ({_check.shorten(str(error))})"
        ) from None


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


def _refuse_other_than_numbers(X: Any) -> None:
    """Refuse text, categories and dates, with the name of the first such column of a frame."""
    if hasattr(X, "collect_schema") and not hasattr(X, "to_numpy"):
        raise _check.InputError("`X` is a LazyFrame, which has no rows yet: give X.collect()")
    columns = getattr(X, "columns", None)
    if columns is not None and hasattr(X, "dtypes"):
        refuse_repeated(list(columns))
        for name, kind in zip(columns, list(X.dtypes), strict=True):
            _refuse_kind(f"column {_check.shown(name)} of `X`", _kind_of_column(X, name, kind))
        return
    try:
        given = np.asarray(X) if isinstance(X, (list, tuple)) else X
    except ValueError:
        raise _check.InputError(
            "`X` must be a table: give as many values in each row as in the others"
        ) from None
    if isinstance(given, np.ndarray):
        _refuse_kind("`X`", _kind_of_array(given))


def refuse_repeated(columns: list[Any]) -> None:
    """Refuse columns of which two have the same name."""
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise _check.InputError(
            f"`X` has {columns.count(twice)} columns named {_check.shown(twice)}: rename or leave "
            "out all but one"
        )


def _refuse_kind(where: str, kind: str | None) -> None:
    if kind is not None:
        raise _check.InputError(f"{where} holds {kind}: {COUNT if kind == TIMES else ENCODE}")


def _kind_of_column(X: Any, name: Any, kind: Any) -> str | None:
    """Return what a column of pandas or polars holds, or None if that may be numbers."""
    if str(kind).startswith("Sparse"):
        raise _check.InputError(
            f"column {_check.shown(name)} of `X` is sparse: replace it by its .sparse.to_dense()"
        )
    if str(kind) == "object":
        return _kind_of_array(np.asarray(X[name]))
    polars = hasattr(kind, "is_numeric") and not hasattr(kind, "kind")
    if (
        kind.is_numeric() or str(kind) == "Boolean"
        if polars
        else getattr(kind, "kind", "O") in "biufc"
    ):
        return None
    words = str(kind).lower()
    if any(part in words for part in ("date", "time", "duration", "period")):
        return TIMES
    return "categories" if any(part in words for part in ("cat", "enum")) else TEXT


def _kind_of_array(values: npt.NDArray[Any]) -> str | None:
    """Return what an array holds, or None if that may be numbers."""
    if values.dtype.kind == "O":
        return next(
            (
                TEXT if isinstance(value, str) else TIMES
                for value in values.flat
                if isinstance(value, (str, *DATES))
            ),
            None,
        )
    return {"U": TEXT, "S": TEXT, "M": TIMES, "m": TIMES}.get(values.dtype.kind)


def _refuse_infinite(name: str, values: Array, columns: Any) -> None:
    """Refuse missing and infinite values, with the place of the first one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # fast, and true unless finite numbers are huge
            return
    for what, wrong, remedy in (
        ("missing values (NaN)", np.isnan(values), FILL if name == "X" else LEAVE_OUT),
        ("infinite values (inf)", np.isinf(values), f"replace them or {LEAVE_OUT}"),
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


# ---- hashes of rows ------------------------------------------------------------------------------

Hashes: TypeAlias = npt.NDArray[np.int64]
MOST_HASHES = 10**6
"""The most hashes that a model keeps: 8 MB. They tell which rows a fit has seen. A hash has 64 bits
and is not secret: whoever guesses a row can see whether the fit had it."""
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
STEP = np.uint64(0x9E3779B97F4A7C15)
"""The constants of SplitMix64 (Steele, Lea, Flood, 2014), a generator whose output function mixes
all bits of its state."""


def row_hashes(rows: Array, labels: Array) -> Hashes:
    """Return the hash of each row: its inputs as float64, in order, and its label."""
    state = np.zeros(len(rows), np.uint64)
    for column in (*rows.T, labels):
        state = (state + STEP) ^ zeroed(column).view(np.uint64)
        for shift, factor in zip(SHIFTS[:2], FACTORS, strict=True):
            state = (state ^ (state >> shift)) * factor
        state ^= state >> SHIFTS[2]
    return state.view(np.int64)


def kept_hashes(rows: Array, labels: Array) -> Hashes:
    """Return the hashes of the rows that occur once, in order; of too many, the smallest.

    The smallest hashes are a random sample of the rows. A row that occurs twice in a table may well
    occur a third time among fresh rows, so it is no sign that these were seen.
    """
    values, times = np.unique(row_hashes(rows, labels), return_counts=True)
    return values[times == 1][:MOST_HASHES]


def freshness(model: Any, rows: Array, labels: Array) -> Assumption:
    """Return whether rows were compared with those of the fit; refuse rows that it has seen."""
    kept = model.row_hashes_
    if kept is None or not len(kept):  # every row occurs twice
        text = "The model keeps no hashes of its rows, so nobody checked that these are others."
        return stated("other rows", text)
    seen = int(np.isin(row_hashes(rows, labels), kept).sum())
    if seen:
        raise _check.InputError(
            f"`X` and `y` have {seen:,} of their {len(rows):,} rows in common with the rows that "
            "the model was fitted to, which it explains too well: leave them out, and give rows "
            "which the fit has not seen; or, if columns have so few values that rows are equal by "
            "chance, save the model without row hashes"
        )
    text = (
        "None of these rows, in all digits and with its label, is one of the "
        f"{len(kept):,} whose hashes the model keeps, of {model.n_rows_:,} rows of its fit."
    )
    return Assumption("other rows", text, "compared by hashes", "none in common", True)
