"""A table that is audited, its splits into rows to fit and rows to test, and its inputs as numbers.

The audited estimator gets the rows as they were given. Attackers see numbers: columns of text
become indicators of their most frequent values, and all columns are standardised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._tiny import without_tiny
from neurotron._types import Array, Index
from neurotron.estimators.table import refuse_repeated, rows_of
from neurotron.networks import linear
from neurotron.problem import Problem

TRAINING = 0.75
"""The share of the rows that is fitted; the others are for testing."""
FEWEST_ROWS = 8
MOST_VALUES = 20
"""How many of the values of a column of text become indicators."""
MOST_PAIRS, ENOUGH_TESTED = 20_000_000, 100
"""Large tables are tested on fewer rows, so that there are not too many pairs of a label and a
prediction; but on so many rows at least."""
MOST_ENTRIES = 10**8
"""Largest number of entries of the inputs as numbers, 800 MB."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to fit, with labels that may be attacked, and rows to test, which nobody touches."""

    X: Any
    y: Array
    test_X: Any
    test_y: Array
    inputs: Array
    """The rows to fit as attackers see them: standardised numbers, and a last column of ones."""
    test_inputs: Array
    """The rows to test, in the same columns."""
    training: Index
    """The numbers of the rows to fit in the table."""

    @cached_property
    def problem(self) -> Problem:
        """The rows with the filter that least squares finds, as attacks of the library see them."""
        weights = np.linalg.lstsq(self.inputs, self.y, rcond=None)[0]
        network = linear(self.inputs.shape[1])
        return Problem.from_rows(network, self.inputs, self.y, true_weights=weights)

    @property
    def opposite(self) -> Array:
        """The filter with the opposite coefficients and the same intercept."""
        weights = self.problem.true_weights
        assert weights is not None
        return np.append(-weights[:-1], weights[-1])


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """Rows in any form that scikit-learn accepts, and their labels.

    Parameters
    ----------
    X
        The rows: an array, a sparse matrix, a table of pandas or polars, or a list.
    y
        The labels, shape (N,).
    """

    X: Any
    y: Array

    @classmethod
    def of(cls, X: Any, y: npt.ArrayLike) -> AuditedTable:
        """Return the table of some rows, after checking that rows and labels belong together."""
        _check.refuse_masked("X", X)
        labels = without_tiny("y", _check.array("y", y, ("N",), _check.LARGEST))
        rows = _number_of_rows(X)
        refuse_repeated([*getattr(X, "columns", ())])
        if rows != len(labels):
            raise _check.InputError(
                f"`X` and `y` must have as many rows, got {rows:,} and {len(labels):,}"
            )
        if rows < FEWEST_ROWS:
            raise _check.InputError(f"an audit needs at least {FEWEST_ROWS} rows, got {rows}")
        if (labels == labels[0]).all():
            raise _check.InputError(f"all labels are {labels[0]:g}: there is nothing to learn")
        return cls(X, labels)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """The number of columns, 1 for a list of texts."""
        shape = getattr(self.X, "shape", None)
        if shape is not None:
            return int(shape[1]) if len(shape) > 1 else 1
        first = self.X[0]
        return len(first) if isinstance(first, (list, tuple)) else 1

    @property
    def n_training(self) -> int:
        """How many rows of a split are fitted."""
        return min(round(TRAINING * len(self)), len(self) - 2)

    @property
    def n_tested(self) -> int:
        """How many of the other rows are for testing: all, unless the table is large."""
        enough = max(MOST_PAIRS // self.n_training, ENOUGH_TESTED)
        return min(len(self) - self.n_training, enough)

    def split(self, seed: int, number: int) -> Split:
        """Return a random split of the rows, which depends on `seed` and `number` alone."""
        order = _seeds.generator(seed, "audit", "split", number).permutation(len(self))
        training, others = np.split(order, [self.n_training])
        training, test = np.sort(training), np.sort(others[: self.n_tested])
        return Split(
            rows_of(self.X, training), self.y[training], rows_of(self.X, test), self.y[test],
            *standardised(self.numbers[training], self.numbers[test]), training,
        )  # fmt: skip

    @cached_property
    def numbers(self) -> Array:
        """The inputs as numbers, (N, p)."""
        return as_numbers(self.X, len(self))

    @property
    def digest(self) -> str:
        """The SHA-256 of inputs as numbers and labels, row by row."""
        return sha256(np.column_stack([self.numbers, self.y]).tobytes()).hexdigest()

    def without(self, rows: Sequence[int]) -> AuditedTable:
        """Return the table without some rows."""
        kept = np.delete(np.arange(len(self)), rows)
        return AuditedTable.of(rows_of(self.X, kept), self.y[kept])


def standardised(fitted: Array, tested: Array) -> tuple[Array, Array]:
    """Return columns that have mean 0 and variance 1 on the rows to fit, and a column of ones.

    Columns that are constant there are left out.
    """
    center, spread = fitted.mean(axis=0), fitted.std(axis=0)
    varying = spread > 1e-12 * np.abs(fitted).max(axis=0, initial=0.0)
    first, second = (
        np.column_stack(
            [(part[:, varying] - center[varying]) / spread[varying], np.ones(len(part))]
        )
        for part in (fitted, tested)
    )
    return first, second


def as_numbers(X: Any, rows: int) -> Array:
    """Return any inputs as numbers; missing ones are the median of their column."""
    if hasattr(X, "toarray"):
        _check.entries("the inputs", *X.shape)
        X = X.toarray()
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):  # it has text
        table = np.asarray(X if hasattr(X, "__array__") else [*X], dtype=object)
        if table.ndim == 1 and any(isinstance(row, (list, tuple, np.ndarray)) for row in table):
            raise _check.InputError(
                "all rows of `X` must have the same number of columns"
            ) from None
    columns = table.reshape(rows, -1).T
    parts = [part for column in columns for part in _numeric(column)]
    if len(parts) * rows > MOST_ENTRIES:
        raise _check.InputError(
            f"the inputs have {len(parts) * rows:,} entries, an audit takes at most "
            f"{MOST_ENTRIES:,}: audit a random sample of the rows"
        )
    return np.column_stack(parts) if parts else np.empty((rows, 0))


def _numeric(column: npt.NDArray[Any]) -> list[Array]:
    """Return a column as numbers, or indicators of the most frequent values of a text."""
    try:
        values = column.astype(np.float64)
    except (TypeError, ValueError):
        texts = np.array([str(value) for value in column])
        names, counts = np.unique(texts, return_counts=True)
        kept = names[np.argsort(-counts, kind="stable")[:MOST_VALUES]]
        return [np.asarray(texts == name, np.float64) for name in kept]
    known = np.isfinite(values)
    if not known.all():
        values = np.where(known, values, np.median(values[known]) if known.any() else 0.0)
    return [values]


def _number_of_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    try:
        return int(shape[0]) if shape else len(X)
    except (TypeError, IndexError):
        raise _check.InputError(
            f"`X` must be a table of rows, such as an array (N, n), got {_check.shown(X)}"
        ) from None
