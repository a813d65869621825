"""How few labels flip the sign of a coefficient, exactly, if it is linear in the labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._threads import no_warnings, one_blas_thread
from neurotron._types import Array
from neurotron.auditing.estimators import FittedEstimator
from neurotron.auditing.splits import AuditedTable
from neurotron.estimators import catalog
from neurotron.estimators.copies import prepared
from neurotron.estimators.linearity import TOLERANCE
from neurotron.estimators.table import rows_of
from neurotron.theory.label_changes import Room, fewest_changes

MOST_LABELS = 3_000
"""With more labels nobody looks: a matrix with one row and one column for each would take 72 MB."""


@dataclass(frozen=True)
class Flip:
    """The fewest labels whose change flips the sign of a coefficient."""

    name: str
    """The column of the coefficient, or its number from 0 if it belongs to no column."""
    value: float
    """The coefficient of the fit to all rows as they are."""
    rows: tuple[int, ...]
    """The rows of these labels, counted from 0; none if no change flips the sign."""


@one_blas_thread()  # the last bits would depend on the number of threads
def flips(estimator: Any, table: AuditedTable, room: Room, seed: int) -> tuple[Flip, ...]:
    """Return the fewest labels for each coefficient of an estimator that is linear in the labels.

    There are none if it has no coefficients, or none that are linear in the labels. The fit is to
    all rows of the table.
    """
    count = len(table)
    built = catalog.BY_NAME.build(estimator) if isinstance(estimator, str) else estimator
    every = rows_of(table.X, np.arange(count))  # in the order of memory that splits have
    values, effects = (
        _coefficients(prepared(built, seed), every, labels)
        for labels in (table.y.copy(), np.eye(count) if count <= MOST_LABELS else np.empty(0))
    )
    if values.size == 0 or effects.size != count * values.size:
        return ()
    effects = effects.reshape(count, -1)
    if np.abs(table.y @ effects - values).max() > TOLERANCE * np.abs(values).max():
        return ()
    found = [
        Flip(
            str(k), value,
            tuple(fewest_changes(-np.sign(value) * effect, room, abs(value)).tolist()),
        )
        for k, (value, effect) in enumerate(zip(values.tolist(), effects.T, strict=True))
    ]  # fmt: skip
    return named(found, getattr(table.X, "columns", ()))


def named(found: Sequence[Flip], columns: Sequence[object]) -> tuple[Flip, ...]:
    """Return the same with the names of the columns, if there is a coefficient for each."""
    if len(columns) != len(found):
        return tuple(found)
    names = [_check.printable(str(name)) for name in columns]
    return tuple(replace(one, name=name) for one, name in zip(found, names, strict=True))


def _coefficients(estimator: Any, X: Any, labels: Array) -> Array:
    """Return the coefficients of a fit, or nothing if there are none."""
    try:
        with no_warnings():  # regressors may warn about labels that are columns of 0 and 1
            found = FittedEstimator(estimator.fit(deepcopy(X), labels), labels).parameters
    except Exception:  # it takes one column of labels, or no labels at all
        return np.empty(0)
    return np.empty(0) if found is None else found
