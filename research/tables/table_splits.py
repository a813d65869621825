"""Splits of a table into rows to fit and rows to test, and attacks on the labels to fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Index
from neurotron.lab.studies.public_tables import Table, table_of

__all__ = ["ATTACKS", "Attack", "Split", "attacked", "split_of"]

TRAINING = 0.75
"""The share of the rows that are fitted."""
ATTACKS = {
    "none": "no label is changed",
    "one-side": "labels of random rows are raised",
    "other-model": "labels of random rows are those of the model with the opposite coefficients",
    "random-sign": "labels of random rows are raised or lowered",
    "large-leverage": "labels of the opposite model, in the rows whose predictions are farthest "
    "from their mean",
}
"""The attacks on tables, and what they do."""


class Attack(NamedTuple):
    """An attack, by how many standard deviations it shifts, and how many labels it changes."""

    name: str
    shift: float
    probability: float


class Split(NamedTuple):
    """Rows to fit and rows to test."""

    fit: Table
    test: Table


def split_of(name: str, number: int, seed: int = 0) -> Split:
    """Return a random split of a table."""
    table = table_of(name)
    order = np.random.default_rng([number, len(table.y), seed]).permutation(len(table.y))
    fit, test = np.split(order, [round(TRAINING * len(order))])
    return Split(Table(table.X[fit], table.y[fit]), Table(table.X[test], table.y[test]))


def attacked(rows: Table, attack: Attack, number: int, seed: int = 0) -> Array:
    """Return the labels after an attack; all attacks on random rows choose the same rows."""
    draw = np.random.default_rng([number, 1, seed])
    y, count = rows.y.copy(), round(attack.probability * len(rows.y))
    bad: Index = draw.permutation(len(y))[:count]
    shift = attack.shift * rows.y.std()
    if attack.name == "one-side":
        y[bad] += shift
    elif attack.name == "random-sign":
        y[bad] += shift * draw.choice([-1.0, 1.0], count)
    elif attack.name == "other-model":
        y[bad] = _opposite(rows)[bad]
    elif attack.name == "large-leverage":
        opposite = _opposite(rows)
        bad = np.argsort(-np.abs(opposite - rows.y.mean()), kind="stable")[:count]
        y[bad] = opposite[bad]
    return y


def _opposite(rows: Table) -> Array:
    """Return the labels of the least-squares model with the opposite coefficients."""
    from sklearn.linear_model import LinearRegression  # which takes long to load

    model = LinearRegression().fit(rows.X, rows.y)
    return np.asarray(2.0 * rows.y.mean() - model.predict(rows.X))
