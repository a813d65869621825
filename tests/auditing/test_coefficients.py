"""How few labels flip the sign of a coefficient: executed with so many, and never with one less."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import neurotron as nt
from neurotron.auditing.coefficients import flips
from neurotron.auditing.splits import AuditedTable
from neurotron.theory.label_changes import fewest_changes, room_of, worst_change

SCALED = make_pipeline(StandardScaler(), Ridge(3.0))


def found_on(estimator, X, y, bound, **range_of):
    return flips(estimator, AuditedTable.of(X, y), room_of(y, bound, **range_of), 0)


def coefficients(estimator, X, labels):
    model = estimator.fit(X, labels)
    return np.ravel(getattr(model, "coef_", None) if hasattr(model, "coef_") else model[-1].coef_)


@pytest.mark.parametrize("estimator", [LinearRegression(), SCALED], ids=["plain", "pipeline"])
def test_signs_flip_with_so_many_labels_and_not_with_one_less(estimator):
    flipped = 0
    for seed in range(50):
        draw = np.random.default_rng(seed)
        X = draw.standard_normal((30, 3))
        y = X @ draw.standard_normal(3) + draw.standard_normal(30)
        units = np.array([coefficients(estimator, X, unit) for unit in np.eye(30)])
        room = room_of(y, 2.0, low=y.min(), high=y.max())
        for j, one in enumerate(found_on(estimator, X, y, 2.0, low=y.min(), high=y.max())):
            effect = -np.sign(one.value) * units[:, j]
            for count in (len(one.rows), len(one.rows) - 1) if one.rows else (30,):
                changed = y + worst_change(effect, room, count)
                after = coefficients(estimator, X, changed)[j]
                assert (after * one.value < 0.0) == (count == len(one.rows))
            flipped += bool(one.rows)
    assert flipped > 50


def test_no_choice_of_one_label_less_flips_a_sign_on_small_tables():
    draw = np.random.default_rng(3)
    X, y = draw.standard_normal((8, 2)), draw.standard_normal(8)
    for j, one in enumerate(found_on(LinearRegression(), X, y, 1.0)):
        most = len(one.rows) - 1 if one.rows else 4
        for rows in itertools.combinations(range(8), most):
            for signs in itertools.product([-1.0, 1.0], repeat=most):
                changed = y.copy()
                changed[list(rows)] += signs
                assert coefficients(LinearRegression(), X, changed)[j] * one.value > 0.0


def test_the_table_of_the_documentation():
    table = load_diabetes(as_frame=True)
    found = found_on(LinearRegression(), table.data, table.target.to_numpy(), 100.0)
    labels = {one.name: len(one.rows) for one in found}
    assert (labels["s1"], labels["bmi"]) == (5, 41)


def test_only_coefficients_that_are_linear_in_the_labels_are_said():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = X @ [1.0, -1.0]
    for estimator in (Lasso(0.1), KNeighborsRegressor(), nt.NeuroTronRegressor(), "tree"):
        assert found_on(estimator, X, y, 1.0) == ()
    names = [one.name for one in found_on("ridge", pd.DataFrame(X, columns=["a", "b"]), y, 1.0)]
    assert names == ["a", "b"]
    assert found_on("ridge", X, y, 0.0)[0].rows == ()


def test_an_audit_says_so_where_predictions_are_linear_in_the_labels():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = X @ [1.0, 0.01] + 0.1 * np.random.default_rng(1).standard_normal(60)
    settings = {
        "budget": nt.Budget(9.0, rows=2),
        "attacks": "constant",
        "remedies": [],
        "splits": 2,
    }
    linear, huber = (nt.audit(name, X, y, **settings) for name in ("least-squares", "huber"))
    assert [one.name for one in linear.flips] == ["0", "1"]
    assert len(linear.flips[0].rows) > len(linear.flips[1].rows) == 1
    assert "flip the sign" in " ".join(str(linear).split())
    assert linear.to_dict()["flips"][1]["rows"] == list(linear.flips[1].rows)
    assert huber.flips == ()
    assert "flip the sign" not in " ".join(str(huber).split())


def test_a_function_that_cannot_move_so_far_needs_labels_that_are_not_there():
    room = room_of([0.0, 0.0], 1.0)
    assert fewest_changes([0.5, -2.0], room, 2.5).size == 0
    assert fewest_changes([0.5, -2.0], room, 2.4).tolist() == [1, 0]
    assert fewest_changes([0.5, 0.0], room_of([0.0, 0.0], math.inf), 9.0).tolist() == [0]
