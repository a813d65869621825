"""Splits of a table, attacks on the labels, and the damage to a regression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from sklearn.linear_model import LinearRegression

from neurotron._types import Array, Index
from neurotron.studies.public_tables import Table, table_of

__all__ = ["CASES", "SPLITS", "Case", "Regression", "Split", "attacked", "damages_of", "split_of"]

SPLITS, TRAINING = 20, 0.75
SHIFT = 2.0
"""Standard deviations of the labels by which an attack shifts them."""


class Case(NamedTuple):
    """An attack, and the share of the labels that it changes."""

    attack: str
    probability: float


ATTACKS = ("one side", "other model", "random sign", "large leverage")
CASES = (
    Case("none", 0.0),
    *(Case(attack, probability) for attack in ATTACKS for probability in (0.1, 0.3)),
)


class Regression(Protocol):
    """What is compared: an estimator of scikit-learn, or what has the same methods."""

    def fit(self, X: Array, y: Array) -> Self:
        """Fit the labels `y` of the rows of `X`."""

    def predict(self, X: Array) -> Array:
        """Return the labels of the rows of `X`."""


class Split(NamedTuple):
    """Rows to fit and rows to test."""

    fit: Table
    test: Table


def split_of(name: str, number: int) -> Split:
    """Return a random split of a table."""
    table = table_of(name)
    order = np.random.default_rng([number, len(table.y)]).permutation(len(table.y))
    fit, test = np.split(order, [round(TRAINING * len(order))])
    return Split(Table(table.X[fit], table.y[fit]), Table(table.X[test], table.y[test]))


def attacked(rows: Table, case: Case, number: int) -> Array:
    """Return the labels after an attack."""
    draw = np.random.default_rng([number, 1])
    y, count = rows.y.copy(), round(case.probability * len(rows.y))
    bad: Index = draw.permutation(len(y))[:count]
    shift = SHIFT * rows.y.std()
    if case.attack == "one side":
        y[bad] += shift
    elif case.attack == "random sign":
        y[bad] += shift * draw.choice([-1.0, 1.0], count)
    elif case.attack == "other model":
        y[bad] = _opposite(rows)[bad]
    elif case.attack == "large leverage":
        opposite = _opposite(rows)
        bad = np.argsort(-np.abs(opposite - rows.y.mean()), kind="stable")[:count]
        y[bad] = opposite[bad]
    return y


def _opposite(rows: Table) -> Array:
    """Return the labels of the least-squares model with the opposite coefficients."""
    model = LinearRegression().fit(rows.X, rows.y)
    return np.asarray(2.0 * rows.y.mean() - model.predict(rows.X))


def _error(model: Regression, rows: Table) -> float:
    """Return the root of the mean squared error on rows."""
    return float(np.sqrt(np.mean((rows.y - model.predict(rows.X)) ** 2)))


def damages_of(
    name: str,
    number: int,
    methods: Callable[[float], Mapping[str, Regression]],
    cases: tuple[Case, ...] = CASES,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Return the damage of attacks to methods on one split of a table, in per cent.

    `methods` returns regressions that are not fitted yet, for the share of attacked labels.
    """
    fit, test = split_of(name, number)
    clean = _error(LinearRegression().fit(fit.X, fit.y), test)
    rows = []
    for step, case in enumerate(cases):
        y = attacked(fit, case, number)
        for method, model in methods(case.probability).items():
            with warnings.catch_warnings(action="ignore"):
                error = _error(model.fit(fit.X, y), test)
            rows.append(
                case._asdict() | {"method": method, "damage": 100.0 * (error / clean - 1.0)}
            )
        if progress is not None:
            progress(step + 1, len(cases))
    return rows
